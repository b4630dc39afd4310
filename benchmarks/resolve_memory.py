"""Memory and time of `tacit resolve` on a large table with candidate sets.

Files of random features and of candidates (the true class and four others) are written into a
folder that is removed afterwards, and resolved by the command itself, in a process of its own: one
network, one pass over the data, otherwise as it comes. While it runs the kernel is asked for
its memory. "peak" is all that the process has in memory at the most, pages of a mapped file
included, which the kernel may take back at any time; "anonymous" is what it may not.

    python benchmarks/resolve_memory.py --out benchmarks/results/resolve-memory.json

The last line printed is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from record import circumstances, memory_of, write

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = (1_000_000, 10_000_000)
FEATURES, CLASSES, CANDIDATES = 64, 10, 5
KINDS = ("npy", "parquet")
TARGET_GIB = 8.0
SLAB = 1 << 17
EVERY_SECONDS = 0.02

Slab: TypeAlias = tuple[int, NDArray[np.float32], NDArray[np.bool_]]


def slabs(rows: int, seed: int = 0) -> Iterator[Slab]:
    """First row, features and candidates, a part at a time: this process must stay small too."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(CLASSES, FEATURES)).astype(np.float32)
    for start in range(0, rows, SLAB):
        n = min(SLAB, rows - start)
        label = random.integers(CLASSES, size=n)
        features = centres[label] + random.standard_normal((n, FEATURES), dtype=np.float32)
        order = random.random((n, CLASSES), dtype=np.float32)
        order[np.arange(n), label] = -1.0
        mask = np.zeros((n, CLASSES), dtype=bool)
        mask[np.arange(n)[:, None], order.argpartition(CANDIDATES, 1)[:, :CANDIDATES]] = True
        yield start, features, mask


def write_npy(folder: Path, rows: int) -> tuple[Path, Path]:
    """Features and a mask of candidates as plain arrays."""
    data, beliefs = folder / "features.npy", folder / "candidates.npy"
    kinds = {data: ("float32", FEATURES), beliefs: ("bool", CLASSES)}
    arrays = {
        path: np.lib.format.open_memmap(path, "w+", dtype=kind, shape=(rows, width))
        for path, (kind, width) in kinds.items()
    }
    for start, features, mask in slabs(rows):
        arrays[data][start : start + len(features)] = features
        arrays[beliefs][start : start + len(mask)] = mask
    for array in arrays.values():
        array.flush()
    return data, beliefs


def write_parquet(folder: Path, rows: int) -> tuple[Path, Path]:
    """Features and lists of names as tables with ids, which come in different orders."""
    data, beliefs = folder / "features.parquet", folder / "candidates.parquet"
    names = pa.array([f"class {number}" for number in range(CLASSES)])
    kinds = [pa.field(f"x{number}", pa.float32()) for number in range(FEATURES)]
    of_data = pa.schema([pa.field("id", pa.int64()), *kinds])
    of_beliefs = pa.schema([("id", pa.int64()), ("candidates", pa.list_(pa.string()))])
    with pq.ParquetWriter(data, of_data) as first, pq.ParquetWriter(beliefs, of_beliefs) as second:
        for start, features, mask in slabs(rows):
            ids = np.arange(start, start + len(mask))
            first.write_table(pa.table([pa.array(ids), *map(pa.array, features.T)], of_data))
            ends = np.arange(0, mask.sum() + 1, CANDIDATES, dtype=np.int32)
            lists = pa.ListArray.from_arrays(ends, names.take(pa.array(mask[::-1].nonzero()[1])))
            second.write_table(pa.table([pa.array(ids[::-1]), lists], of_beliefs))
    return data, beliefs


WRITERS = {"npy": write_npy, "parquet": write_parquet}


def watched(command: list[str]) -> dict[str, Any]:
    """Run a command to its end, and say how much memory it took, and when it took the most."""
    begin, before = time.perf_counter(), _seconds_of_children()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        peak = anonymous = at = 0.0
        while child.poll() is None:
            seen = memory_of(child.pid)
            peak = max(peak, seen.get("VmHWM", 0))
            if (held := seen.get("RssAnon", 0)) > anonymous:
                anonymous, at = held, time.perf_counter() - begin
            time.sleep(EVERY_SECONDS)
        told = child.stdout.read() if child.stdout is not None else ""
    seconds = time.perf_counter() - begin
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with exit code {child.returncode}")
    return {
        "peak_gib": round(peak / 2**30, 3),
        "anonymous_gib": round(anonymous / 2**30, 3),
        "anonymous_at_s": round(at, 1),
        "seconds": round(seconds, 1),
        "processor_s": round(_seconds_of_children() - before, 1),
        "summary": json.loads(told),
    }


def _seconds_of_children() -> float:
    """What processors have spent on processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resolve(kind: str, rows: int, members: int, within: Path) -> dict[str, Any]:
    """Write a collection, resolve it, and remove it again."""
    with TemporaryDirectory(dir=within) as folder:
        data, beliefs = WRITERS[kind](Path(folder), rows)
        size = data.stat().st_size + beliefs.stat().st_size
        command = [sys.executable, "-m", "tacit", "resolve", str(data), "--beliefs", str(beliefs)]
        options = {"out": f"{folder}/run", "members": members, "epochs": 1, "device": "cpu"}
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        seen = watched([*command, "--json"])
    summary = seen.pop("summary")
    if summary["n_instances"] != rows or summary["n_informed"] != rows:
        raise SystemExit(f"{summary['n_informed']} of {summary['n_instances']} rows were informed")
    return {
        "kind": kind,
        "rows": rows,
        "members": members,
        "files_gib": round(size / 2**30, 3),
        **seen,
        "held_out_evidence": round(summary["held_out_evidence"], 3),
    }


def report(measured: list[dict[str, Any]]) -> list[str]:
    """Targets that were missed; the table goes to the error stream."""
    missed = []
    for each in measured:
        what = f"{each['kind']}, {each['rows']:,} rows, {each['members']} members"
        print(
            f"{what:40s} peak {each['peak_gib']:6.2f} GiB, anonymous {each['anonymous_gib']:6.2f} "
            f"GiB (at {each['anonymous_at_s']:.0f} s), {each['seconds']:.0f} s",
            file=sys.stderr,
        )
        if each["peak_gib"] > TARGET_GIB:
            missed.append(f"{what}: {each['peak_gib']:.2f} GiB")
    return missed


def main() -> None:
    """Parse, measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--within", type=Path, help="folder for the files; the system's own if not")
    parser.add_argument("--out", type=Path, help="file to keep the result in")
    options = parser.parse_args()
    measured = [
        resolve(kind, rows, options.members, options.within)
        for kind in options.kinds
        for rows in options.rows
    ]
    result = {
        **circumstances("cpu"),
        "features": FEATURES,
        "classes": CLASSES,
        "candidates": CANDIDATES,
        "epochs": 1,
        "target_gib": TARGET_GIB,
        "missed": report(measured),
        "measured": measured,
    }
    write(result, options.out)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
