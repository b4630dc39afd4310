"""Labels from the votes of crowds alone, without features: tacit.sources beside crowd-kit.

    python -m experiments.crowd --data DIR --out experiments/results/crowd.json

DIR holds a folder `crowd` of `.npz` files with `item`, `worker` and `label` of each vote and the
`truth` of each item, which is for counting only. The others are measured where crowd-kit is
installed, with its defaults. Beside the record a table is written, as Markdown. The last line
printed is one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.record import circumstances, write
from tacit.sources import Votes, dawid_skene, majority

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]
    Aggregate = Callable[[Arrays], NDArray[Any]]

RIVALS = ("MajorityVote", "DawidSkene", "GLAD", "MACE")
OURS = ("majority", "Dawid and Skene")


def ours() -> dict[str, Aggregate]:
    """The beliefs of tacit, of which the likeliest class counts."""
    return {
        "majority": lambda data: _likeliest(majority(_votes(data))),
        "Dawid and Skene": lambda data: _likeliest(dawid_skene(_votes(data))),
    }


def theirs() -> dict[str, Aggregate]:
    """crowd-kit's aggregations, where it is installed."""
    try:
        from crowdkit import aggregation
    except ImportError:
        return {}
    return {f"crowd-kit {name}": _rival(getattr(aggregation, name)) for name in RIVALS}


def _rival(kind: Any) -> Aggregate:
    import pandas as pd

    def aggregate(data: Arrays) -> NDArray[Any]:
        frame = pd.DataFrame(
            {"task": data["item"], "worker": data["worker"], "label": data["label"]}
        )
        found = kind().fit_predict(frame)
        return found.reindex(range(len(data["truth"]))).to_numpy()

    return aggregate


def _votes(data: Arrays) -> Votes:
    return Votes.from_lists(
        data["item"].astype(np.int64),
        data["worker"].astype(np.int64),
        data["label"].astype(np.int64),
        n_items=len(data["truth"]),
        n_classes=len(data["classes"]),
    )


def _likeliest(belief: Any) -> NDArray[Any]:
    return belief.marginals().argmax(1).numpy()


def measured(data: Arrays, aggregate: Aggregate) -> dict[str, float]:
    """Share of right labels, its standard error, and the time it took."""
    started = time.process_time()
    right = float((aggregate(data) == data["truth"]).mean())
    return {
        "accuracy": round(right, 4),
        "standard error": round(math.sqrt(right * (1 - right) / len(data["truth"])), 4),
        "processor seconds": round(time.process_time() - started, 2),
    }


def table(record: dict[str, Any]) -> str:
    """The record as Markdown; the best of each set is in bold."""
    sets = record["sets"]
    methods = list(next(iter(sets.values()))["methods"])
    best = {n: max(m["accuracy"] for m in each["methods"].values()) for n, each in sets.items()}
    lines = ["| | " + " | ".join(sets) + " |", "|---|" + "---:|" * len(sets)]
    for method in methods:
        cells = []
        for name, each in sets.items():
            found = each["methods"][method]
            shown = f"{100 * found['accuracy']:.1f} ± {100 * found['standard error']:.1f}"
            cells.append(f"**{shown}**" if found["accuracy"] == best[name] else shown)
        who = f"tacit, {method}" if method in OURS else method
        lines.append(f"| {who} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds `crowd`")
    parser.add_argument("--out", type=Path, help="file to keep the result in")
    options = parser.parse_args()
    torch.set_num_threads(1)
    paths = sorted((options.data / "crowd").glob("*.npz"))
    if not paths:
        sys.exit(
            f"'{options.data / 'crowd'}' holds no .npz files; name the folder above with --data."
        )
    sets = {}
    for path in paths:
        with np.load(path, allow_pickle=False) as file:
            data = {key: file[key] for key in file.files}
        methods = {
            name: measured(data, aggregate) for name, aggregate in (ours() | theirs()).items()
        }
        sets[path.stem] = {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest()[:16],
            "items": len(data["truth"]),
            "votes": len(data["item"]),
            "methods": methods,
        }
        print(path.stem, methods, file=sys.stderr)
    record = {**circumstances("cpu"), "crowd-kit": _version("crowd-kit"), "sets": sets}
    write(record, options.out)
    if options.out is not None:
        options.out.with_suffix(".md").write_text(table(record), "utf-8")
    print(json.dumps(record))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
