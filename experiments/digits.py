"""The digits of the demo under several objectives: what the README's picture and table show.

    tacit reproduce digits

Five draws of what is known, two ways of not quite knowing a label, and two collections: all digits,
and one in which five of the ten classes, drawn too, are thinned to 15 %. Every fit is that of
`tacit.BeliefClassifier` with its defaults, the objective, its mass and a warm-up of ten epochs
apart; "RQ" is what `tacit demo` runs. True labels are for counting. Fits take turns on as many
processors as there are, each on one of its own.
"""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from itertools import product
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

import tacit
from experiments._experiment import Experiment
from experiments.digits_page import COLLECTIONS, page
from tacit import demo
from tacit.beliefs import Candidates
from tacit.errors import CollapseWarning
from tacit.sources import balance_of, with_balance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments._experiment import Means
    from experiments._store import Cell, Figures
    from tacit.beliefs import Belief

__all__ = ["EXPERIMENT", "OBJECTIVES"]

_TRACKED: Final = {"mass": "tracked"}
_WARMED: Final = {**_TRACKED, "warm_up": 10}
OBJECTIVES: Final[dict[str, dict[str, Any]]] = {
    "RQ": {},
    "EM": {"objective": "em"},
    "union NLL": {"objective": "union_nll"},
    "soft cross-entropy": {"objective": "soft_cross_entropy"},
    "EM, tracked mass": {"objective": "em", **_TRACKED},
    "EM, tracked mass, warmed up": {"objective": "em", **_WARMED},
    "RQ, tracked mass, warmed up": _WARMED,
    "RQ, balance by beliefs": {},
}
BALANCED: Final = ("RQ, balance by beliefs",)
"""Where the belief knows how often each class occurs, as far as all beliefs tell."""
KEPT: Final = 0.15
"""Of each class that is thinned."""
DRAWN: Final = 4
"""Digits that the picture shows of each task."""


def cells(seeds: Sequence[int]) -> list[Cell]:
    """Every objective on every task and collection."""
    tasks = [task.name for task in demo.TASKS]
    return [
        {"collection": collection, "task": task, "objective": objective, "seed": seed}
        for collection, task, objective, seed in product(COLLECTIONS, tasks, OBJECTIVES, seeds)
    ]


def measure(wanted: Sequence[Cell], means: Means) -> Iterator[tuple[Cell, Figures]]:
    """Fit in processes of their own, and give each cell as soon as it is done."""
    del means
    n_workers = min(os.cpu_count() or 1, len(wanted))
    with ProcessPoolExecutor(n_workers, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        waiting = {pool.submit(figures, cell): cell for cell in wanted}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def figures(cell: Cell) -> Figures:
    """What one fit comes to; for the picture, also the first digits as it resolved them."""
    task = next(each for each in demo.TASKS if each.name == cell["task"])
    seed = int(cell["seed"])
    digits = collection(str(cell["collection"]), seed)
    listed = demo.draw(digits.truth, task, seed)
    belief: Belief = belief_of(task, listed)
    if cell["objective"] in BALANCED:
        belief = with_balance(belief, balance_of(belief))
    model = tacit.BeliefClassifier(
        random_state=seed, device="cpu", **OBJECTIVES[str(cell["objective"])]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # counted below
        model.fit(digits.images, belief)
    found = _counted(model, digits)
    if (cell["collection"], cell["objective"], seed) == ("all", "RQ", 0):
        found["digits"] = [digit(digits, listed, model.posterior_, row) for row in range(DRAWN)]
    return found


def _counted(model: tacit.BeliefClassifier, digits: demo.Digits) -> Figures:
    right = model.posterior_.argmax(1) == digits.truth
    by_class = [float(right[digits.truth == label].mean()) for label in range(demo.N_CLASSES)]
    found = {
        "r": float(right.mean()),
        "q": float((model.prediction_.argmax(1) == digits.truth).mean()),
        "worst class": min(by_class),
        "held-out evidence": model.held_out_evidence_,
    }
    shown: Figures = {
        name: None if value is None else round(value, 6) for name, value in found.items()
    }
    return shown | {"alarms": len(model.alarms_), "instances": len(digits.truth)}


def collection(name: str, seed: int) -> demo.Digits:
    """The digits, or fewer of them."""
    digits = demo.digits()
    if name == "all":
        return digits
    kept = thinned(digits.truth, seed)
    return demo.Digits(digits.images[kept], digits.truth[kept])


def thinned(truth: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """Which digits are left when five classes lose most of theirs."""
    rng = np.random.default_rng([seed, 15])
    rare = rng.permutation(demo.N_CLASSES)[: demo.N_CLASSES // 2]
    kept: NDArray[np.bool_] = ~np.isin(truth, rare) | (rng.random(len(truth)) < KEPT)
    return kept


def belief_of(task: demo.Task, listed: NDArray[np.int64]) -> Candidates:
    """What the listed labels say."""
    if task.column == "candidates":
        return Candidates(listed.tolist(), n_classes=demo.N_CLASSES)
    return Candidates.excluding(torch.from_numpy(listed[:, 0]), n_classes=demo.N_CLASSES)


def digit(
    digits: demo.Digits, listed: NDArray[np.int64], r: NDArray[np.floating], row: int
) -> dict[str, Any]:
    """All that the picture shows of a digit."""
    return {
        "ink": (16 * digits.images[row, 0]).astype(int).tolist(),
        "listed": listed[row].tolist(),
        "resolved": int(r[row].argmax()),
        "probability": round(float(r[row].max()), 4),
        "truth": int(digits.truth[row]),
    }


def files(wanted: Sequence[Cell], data: Path) -> list[Path]:
    """None: scikit-learn brings the digits."""
    del wanted, data
    return []


EXPERIMENT: Final = Experiment(
    name="digits",
    about="the digits of the demo under several objectives and class masses",
    needs="",
    seeds=5,
    cells=cells,
    files=files,
    measure=measure,
    page=partial(page, objectives=tuple(OBJECTIVES)),
    cpu=True,
    threads=1,
)
