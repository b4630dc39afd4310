"""Labels from the votes of crowds alone, without features: tacit.sources beside crowd-kit.

    tacit reproduce crowd --data DIR

DIR holds a folder `crowd` of `.npz` files with `item`, `worker` and `label` of each vote and the
`truth` of each item, which is for counting only. The others are measured where crowd-kit is
installed, with its defaults.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from experiments._experiment import Experiment
from experiments._page import bold, provenance
from tacit.sources import Votes, dawid_skene, majority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments._experiment import Means
    from experiments._store import Cell, Figures, Store

    Arrays = dict[str, NDArray[Any]]
    Aggregate = Callable[[Arrays], NDArray[Any]]

__all__ = ["EXPERIMENT"]

SETS: Final = ("bluebirds", "dogs4", "product_er")
OURS: Final[dict[str, Aggregate]] = {
    "tacit, majority": lambda data: _likeliest(majority(_votes(data))),
    "tacit, Dawid and Skene": lambda data: _likeliest(dawid_skene(_votes(data))),
}
RIVALS: Final = ("MajorityVote", "DawidSkene", "GLAD", "MACE")


METHODS: Final = (*OURS, *(f"crowd-kit {name}" for name in RIVALS))


def cells(seeds: Sequence[int]) -> list[Cell]:
    """Every method on every crowd; nothing of it is drawn by us."""
    return [
        {"set": name, "method": method, "seed": seed}
        for name in SETS
        for method in METHODS
        for seed in seeds
    ]


def measure(wanted: Sequence[Cell], means: Means) -> Iterator[tuple[Cell, Figures]]:
    """Share of right labels, its standard error, and the time it took."""
    theirs = _theirs()
    for cell in wanted:
        aggregate = (OURS | theirs).get(str(cell["method"]))
        if aggregate is None:
            continue  # crowd-kit is not installed
        with np.load(_file(cell, means.data), allow_pickle=False) as file:
            data = {key: file[key] for key in file.files}
        yield cell, _measured(data, aggregate)


def _measured(data: Arrays, aggregate: Aggregate) -> Figures:
    started = time.process_time()
    right = float((aggregate(data) == data["truth"]).mean())
    return {
        "accuracy": round(right, 4),
        "standard error": round(math.sqrt(right * (1 - right) / len(data["truth"])), 4),
        "processor seconds": round(time.process_time() - started, 2),
        "items": len(data["truth"]),
        "votes": len(data["item"]),
    }


def _theirs() -> dict[str, Aggregate]:
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
        aligned: NDArray[Any] = found.reindex(range(len(data["truth"]))).to_numpy()
        return aligned

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
    number: NDArray[Any] = belief.marginals().argmax(1).numpy()
    return number


def _file(cell: Cell, data: Path) -> Path:
    return data / "crowd" / f"{cell['set']}.npz"


def files(wanted: Sequence[Cell], data: Path) -> list[Path]:
    """The crowds that the cells are about."""
    return list(dict.fromkeys(_file(cell, data) for cell in wanted))


def page(store: Store) -> str:
    """A table of accuracies, and where they are from."""
    return f"{_HEAD}\n{table(store)}\n{_FOOT}\n{provenance(store)}"


def table(store: Store) -> str:
    """Accuracies in percent with their standard errors; the best of each set is in bold.

    What is not measured, because crowd-kit is not installed, is a dash.
    """
    sets = [str(name) for name in store.settings("set")]
    lines = ["| | " + " | ".join(sets) + " |", "|---|" + "---:|" * len(sets)]
    found = {(c["set"], c["method"]): figures for c, figures in store.matching()}
    best = {name: max(f["accuracy"] for (s, _), f in found.items() if s == name) for name in sets}
    for method in METHODS:
        shown = []
        for name in sets:
            figures = found.get((name, method))
            if figures is None:
                shown.append("–")
                continue
            text = f"{100 * figures['accuracy']:.1f} ± {100 * figures['standard error']:.1f}"
            shown.append(bold(text) if figures["accuracy"] == best[name] else text)
        lines.append(f"| {method} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


_HEAD: Final = """\
# Votes of crowds, without features

Workers say what items are; who is right? Share of the items whose likeliest label is the true
one, in percent, with its standard error; the best of each set is in bold. `dawid_skene` of
`tacit.sources` with its defaults, beside crowd-kit with its own.
"""
_FOOT: Final = """\
Bluebirds: is this bird an indigo bunting? Dogs4: which of four breeds is it? Product_er: are
these two products the same? Measure it again with `tacit reproduce crowd --data DIR`.
"""

EXPERIMENT: Final = Experiment(
    name="crowd",
    about="labels from the votes of crowds alone, beside crowd-kit",
    needs="the folder crowd",
    seeds=1,
    cells=cells,
    files=files,
    measure=measure,
    page=page,
    versions=("crowd-kit",),
    cpu=True,
)
