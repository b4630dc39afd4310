"""Write docs/benchmarks.md from the recorded results.

    python tools/benchmark_page.py

A record that is not there is left out of the page, and said so. A test compares the page with what
this script makes of the records, so that neither can change without the other.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
DEVICES = {"cuda": "On a GPU", "cpu": "On a CPU"}

# What a cell of a table is made from.
Row: TypeAlias = dict[str, Any]

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

FITTING = """\
## Fitting

`make bench` also trains the same network on the same rows with the same objective, RQ, in
batches of {batch}: by the loop that one would first write (a DataLoader over tensors, each batch
moved to the device, the loss read after each step), by a lean loop (tensors on the device, rows
drawn there, nothing read, a fused optimizer), and by tacit's engine, as it comes and with options.
Several networks are trained at once by the engine, evaluated as one where that is its choice, or
"in turn" within each step; by the loops one after another, where one is measured and counted so
many times. The engine looks at up to 2,000 rows after each epoch, for its vital signs; the loops
do not.

An epoch marked * has more steps than are measured; its time is that of those steps, scaled.
"Start" is what passes until the first step is made. Memory is what a fit takes at the most beyond
features and packed beliefs in the host's memory: on a GPU all of the device's, on a CPU the growth
of a process of its own. On a CPU the processor's own time is taken, of one thread. Cases where the
engine as it comes is slower than the straightforward loop are in bold.
"""
REFERENCE, PLAIN = "straightforward loop", "engine"

RESOLVE = """\
## Memory of `tacit resolve`

`make bench-memory` writes {features} features and {candidates} candidates of {classes} classes for
each row into files, resolves them by the command in a process of its own, with one network and one
pass over the data, otherwise as it comes, and asks the kernel for its memory. "Peak" is all that
the process has in memory at the most, pages of mapped files included, which the kernel may take
back at any time; "anonymous" is what it may not. Figures above the aim of {target_gib:g} GiB are
in bold.
"""
KINDS = {
    "npy": "`.npy` features, `.npy` mask of candidates",
    "parquet": "Parquet features, Parquet lists of candidates, joined by id",
}


def main() -> None:
    """Write the page, and say which records are not there."""
    for path in (*map(record_of, DEVICES), *map(fitting_of, DEVICES), resolve_record()):
        if not path.exists():
            print(f"{path.relative_to(ROOT)} is not there: left out", file=sys.stderr)
    PAGE.write_text(page(), "utf-8")


def record_of(device: str) -> Path:
    """Where the benchmark of a device is kept."""
    return RECORDS / f"objectives-{device}.json"


def fitting_of(device: str) -> Path:
    """Where the benchmark of fitting on a device is kept."""
    return RECORDS / f"fitting-{device}.json"


def resolve_record() -> Path:
    """Where the memory of `tacit resolve` is kept."""
    return RECORDS / "resolve-memory.json"


def page() -> str:
    """The whole page, with a section for each record that is there."""
    objectives = _present({device: record_of(device) for device in DEVICES})
    fits = _present({device: fitting_of(device) for device in DEVICES})
    resolved = _present({"cpu": resolve_record()})
    parts = [HEAD, *(section(device, record) for device, record in objectives.items())]
    parts += [FITTING.format(**record) for record in list(fits.values())[:1]]
    parts += [fitting_section(device, record) for device, record in fits.items()]
    parts += [resolve_section(record) for record in resolved.values()]
    return "\n".join(parts)


def _present(paths: dict[str, Path]) -> dict[str, Row]:
    return {
        key: json.loads(path.read_text("utf-8")) for key, path in paths.items() if path.exists()
    }


def fitting_section(device: str, record: Row) -> str:
    """Fitting on one device: its circumstances, and a table each of speed, memory and start."""
    cases: list[Row] = record["cases"]
    names = list(dict.fromkeys(name for case in cases for name in case["contenders"]))
    return "\n".join(
        [
            f"### Fitting {DEVICES[device][0].lower()}{DEVICES[device][1:]}\n",
            f"{_machine(record)}; medians of {record['rounds']} rounds.\n",
            f"Milliseconds of an epoch by the {REFERENCE}; how many times as fast others are:\n",
            _of_cases(cases, names, partial(_speeds, names)),
            "Memory, in MiB:\n",
            _of_cases(cases, names, partial(_each, "memory_mib", names)),
            "Start, in milliseconds:\n",
            _of_cases(cases, names, partial(_each, "start_ms", names)),
        ]
    )


def _of_cases(cases: list[Row], heads: list[str], cells: Callable[[Row], list[str]]) -> str:
    rows = [
        [case["network"], f"{case['rows']:,}", str(case["runs"]), *cells(case)] for case in cases
    ]
    return _table(["network", "rows", "at once", *heads], rows)


def _speeds(names: list[str], case: Row) -> list[str]:
    """Milliseconds of the reference, and how many times as fast the others are."""
    scaled = "*" if case["steps_measured"] < case["steps_per_epoch"] else ""
    reference = case["contenders"][REFERENCE]["epoch_ms"]
    cells = [f"{reference:,.1f}{scaled}"]
    for name in names[1:]:
        row = case["contenders"].get(name)
        speed = None if row is None else reference / row["epoch_ms"]
        slower = name == PLAIN and speed is not None and speed < 1
        cells.append(_bold("–" if speed is None else f"{speed:.2f}", slower))
    return cells


def _each(key: str, names: list[str], case: Row) -> list[str]:
    """One figure of each contender."""
    rows = [case["contenders"].get(name) for name in names]
    return ["–" if row is None else f"{row[key]:,.1f}" for row in rows]


def resolve_section(record: Row) -> str:
    """Memory of `tacit resolve`: its circumstances and a table."""
    rows = [
        [
            KINDS[each["kind"]],
            f"{each['rows']:,}",
            f"{each['files_gib']:.2f}",
            _bold(f"{each['peak_gib']:.2f}", each["peak_gib"] > record["target_gib"]),
            f"{each['anonymous_gib']:.2f}",
            _number(each.get("processor_s"), 0),
        ]
        for each in record["measured"]
    ]
    heads = ["files", "rows", "their GiB", "peak GiB", "anonymous GiB", "processor, s"]
    return "\n".join([RESOLVE.format(**record), f"{_machine(record)}.\n", _table(heads, rows)])


def section(device: str, record: Row) -> str:
    """One device: its circumstances and a table for each shape."""
    return "\n".join(
        [
            f"## {DEVICES[device]}\n",
            _circumstances(record),
            *(_shape(shape, rows, record) for shape, rows in record["shapes"].items()),
        ]
    )


def _circumstances(record: Row) -> str:
    looked = "on" if record["validate"] else "off"
    aim = f"{record['time_target']:g}x the time, {record['memory_target']:g}x the memory"
    missed = "; ".join(record["missed"]) or "none"
    return (
        f"{_machine(record)}; medians of {record['rounds']} rounds; validation {looked}.\n\n"
        f"Aim: {aim}. Missed: {missed}.\n"
    )


def _machine(record: Row) -> str:
    n = record["threads"]
    threads = "" if "+cu" in record["torch"] else f" {n} thread{'s' * (n > 1)},"
    return (
        f"{record['device']},{threads} torch {record['torch']}, Python {record['python']}, commit "
        f"{record['commit']}"
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    ruled = [f"| {' | '.join(line)} |" for line in lines]
    ruled[1] = ruled[1].replace(" ", "")
    return "\n".join(ruled) + "\n"


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def _shape(shape: str, rows: dict[str, Row], record: Row) -> str:
    eager = any("eager_ms" in row for row in rows.values())
    columns = ["", "ms", "ratio", *(["ms, call by call", "ratio"] if eager else []), "memory"]
    lines = [[name, *_cells(name, row, record, eager)] for name, row in rows.items()]
    return f"### {shape}\n\n{_table(columns, lines)}"


def _cells(name: str, row: Row, record: Row, eager: bool) -> list[str]:
    aimed_at = name in AIMED_AT
    cells = [_number(row["ms"], 3), _aim(row["ratio"], aimed_at, record["time_target"])]
    if eager:
        ratio = _aim(row.get("eager_ratio"), aimed_at, record["time_target"])
        cells += [_number(row.get("eager_ms"), 3), ratio]
    return [*cells, _aim(row["memory"], aimed_at, record["memory_target"])]


def _aim(value: float | None, aimed_at: bool, target: float) -> str:
    shown = _number(value, 2)
    return _bold(shown, aimed_at and value is not None and value > target)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    main()
