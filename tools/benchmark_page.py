"""Write docs/benchmarks.md from the recorded results.

    python tools/benchmark_page.py

A record that is not there is left out of the page, and said so. A test compares the page with what
this script makes of the records, so that neither can change without the other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
DEVICES = {"cuda": "On a GPU", "cpu": "On a CPU"}

HEAD = """\
# Benchmarks

<!-- Written by tools/benchmark_page.py from benchmarks/results/; change those. -->

`make bench` measures the time of a forward and backward pass and the peak extra memory of every
objective, beside torch's soft-target cross-entropy and the paper's formula written down directly,
all in one run. Times are given as ratios to the soft cross-entropy of the same run, since machines
differ more than objectives do. Memory is what a pass takes beyond logits and beliefs, the gradient
included, as a multiple of the logits. Shapes are `(N, C)` and `(N, C, H, W)`, in float32.

On a GPU "ms" is the time of a captured CUDA graph, what the GPU itself takes, and "call by call"
that of calls from Python, which on small batches is the time to launch kernels. The aim is for RQ,
QR, FreeEnergy and EM, and for the former; their figures above it are in bold in every column.
"""
AIMED_AT = ("RQ", "QR", "FreeEnergy", "EM")


def main() -> None:
    """Write the page, and say which records are not there."""
    for device in DEVICES:
        if not record_of(device).exists():
            print(f"{record_of(device).relative_to(ROOT)} is not there: left out", file=sys.stderr)
    PAGE.write_text(page(), "utf-8")


def record_of(device: str) -> Path:
    """Where the benchmark of a device is kept."""
    return RECORDS / f"objectives-{device}.json"


def page() -> str:
    """The whole page, with a section for each record that is there."""
    records = {
        device: json.loads(record_of(device).read_text("utf-8"))
        for device in DEVICES
        if record_of(device).exists()
    }
    return "\n".join([HEAD, *(section(device, record) for device, record in records.items())])


def section(device: str, record: dict[str, Any]) -> str:
    """One device: its circumstances and a table for each shape."""
    return "\n".join(
        [
            f"## {DEVICES[device]}\n",
            _circumstances(record),
            *(_shape(shape, rows, record) for shape, rows in record["shapes"].items()),
        ]
    )


def _circumstances(record: dict[str, Any]) -> str:
    threads = "" if "cuda" in record["torch"] else f" {record['threads']} threads,"
    looked = "on" if record["validate"] else "off"
    aim = f"{record['time_target']:g}x the time, {record['memory_target']:g}x the memory"
    missed = "; ".join(record["missed"]) or "none"
    return (
        f"{record['device']},{threads} torch {record['torch']}, Python {record['python']}, commit "
        f"{record['commit']}; medians of {record['rounds']} rounds; validation {looked}.\n\n"
        f"Aim: {aim}. Missed: {missed}.\n"
    )


def _shape(shape: str, rows: dict[str, dict[str, Any]], record: dict[str, Any]) -> str:
    eager = any("eager_ms" in row for row in rows.values())
    columns = ["", "ms", "ratio", *(["ms, call by call", "ratio"] if eager else []), "memory"]
    lines = [
        f"### {shape}\n",
        f"| {' | '.join(columns)} |",
        "|---" + "|---:" * (len(columns) - 1) + "|",
        *(
            f"| {' | '.join([name, *_cells(name, row, record, eager)])} |"
            for name, row in rows.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def _cells(name: str, row: dict[str, Any], record: dict[str, Any], eager: bool) -> list[str]:
    aimed_at = name in AIMED_AT
    cells = [_number(row["ms"], 3), _aim(row["ratio"], aimed_at, record["time_target"])]
    if eager:
        ratio = _aim(row.get("eager_ratio"), aimed_at, record["time_target"])
        cells += [_number(row.get("eager_ms"), 3), ratio]
    return [*cells, _aim(row["memory"], aimed_at, record["memory_target"])]


def _aim(value: float | None, aimed_at: bool, target: float) -> str:
    shown = _number(value, 2)
    return f"**{shown}**" if aimed_at and value is not None and value > target else shown


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    main()
