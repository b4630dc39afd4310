"""The digits of the demo under several objectives: what the README's picture and table show.

    python -m experiments.digits --out experiments/results/digits.json

Five draws of what is known, two ways of not quite knowing a label, and two collections: all digits,
and one in which five of the ten classes, drawn too, are thinned to 15 %. Every fit is that of
`tacit.BeliefClassifier` with its defaults, the objective, its mass and a warm-up of ten epochs
apart; "RQ" is what `tacit demo` runs. True labels are for counting. The last line printed is one
JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

import tacit
from benchmarks.record import circumstances, write
from tacit import demo, runs
from tacit.beliefs import Candidates
from tacit.errors import CollapseWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRACKED = {"mass": "tracked"}
_WARMED = {**_TRACKED, "warm_up": 10}
OBJECTIVES: dict[str, dict[str, Any]] = {
    "RQ": {},
    "EM": {"objective": "em"},
    "union NLL": {"objective": "union_nll"},
    "soft cross-entropy": {"objective": "soft_cross_entropy"},
    "EM, tracked mass": {"objective": "em", **_TRACKED},
    "EM, tracked mass, warmed up": {"objective": "em", **_WARMED},
    "RQ, tracked mass, warmed up": _WARMED,
}
COLLECTIONS = ("all", "unbalanced")
DRAWS = range(5)
KEPT = 0.15
"""Of each class that is thinned."""
SHOWN = 4


class Cell(NamedTuple):
    """One fit: which digits, what is known of them, under which objective, which draw."""

    collection: str
    task: str
    objective: str
    draw: int


def cells(objectives: list[str], draws: list[int]) -> list[Cell]:
    """All fits that are asked for."""
    tasks = [task.name for task in demo.TASKS]
    return [Cell(*each) for each in product(COLLECTIONS, tasks, objectives, draws)]


def collection(name: str, draw: int) -> demo.Digits:
    """The digits, or fewer of them."""
    digits = demo.digits()
    if name == "all":
        return digits
    kept = thinned(digits.truth, draw)
    return demo.Digits(digits.images[kept], digits.truth[kept])


def thinned(truth: NDArray[np.int64], draw: int) -> NDArray[np.bool_]:
    """Which digits are left when five classes lose most of theirs."""
    rng = np.random.default_rng([draw, 15])
    rare = rng.permutation(demo.N_CLASSES)[: demo.N_CLASSES // 2]
    kept: NDArray[np.bool_] = ~np.isin(truth, rare) | (rng.random(len(truth)) < KEPT)
    return kept


def belief_of(task: demo.Task, listed: NDArray[np.int64]) -> Candidates:
    """What the listed labels say."""
    if task.column == "candidates":
        return Candidates(listed.tolist(), n_classes=demo.N_CLASSES)
    return Candidates.excluding(torch.from_numpy(listed[:, 0]), n_classes=demo.N_CLASSES)


def figures(cell: Cell) -> tuple[dict[str, float | None], list[dict[str, Any]]]:
    """What one fit comes to, and the first digits as it resolved them."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", CollapseWarning)  # counted below
    task = next(each for each in demo.TASKS if each.name == cell.task)
    digits = collection(cell.collection, cell.draw)
    listed = demo.draw(digits.truth, task, cell.draw)
    model = tacit.BeliefClassifier(random_state=cell.draw, **OBJECTIVES[cell.objective])
    model.fit(digits.images, belief_of(task, listed))
    right = {
        "r": model.posterior_.argmax(1) == digits.truth,
        "q": model.prediction_.argmax(1) == digits.truth,
    }
    by_class = [float(right["r"][digits.truth == label].mean()) for label in range(demo.N_CLASSES)]
    found: dict[str, float | None] = {
        "r": float(right["r"].mean()),
        "q": float(right["q"].mean()),
        "worst class": min(by_class),
        "held-out evidence": model.held_out_evidence_,
        "alarms": float(len(model.alarms_)),
    }
    print(cell, found, file=sys.stderr)
    return found, [digit(digits, listed, model.posterior_, row) for row in range(SHOWN)]


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


def summed_up(values: list[float | None]) -> dict[str, Any]:
    """All draws, their mean, and the standard error of it."""
    known = [value for value in values if value is not None]
    spread = statistics.stdev(known) / math.sqrt(len(known)) if len(known) > 1 else None
    return {
        "draws": [None if value is None else round(value, 4) for value in values],
        "mean": round(statistics.mean(known), 4),
        "standard error": None if spread is None else round(spread, 4),
    }


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="file to keep the result in")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time, on a core each")
    parser.add_argument("--objective", nargs="+", choices=OBJECTIVES, default=list(OBJECTIVES))
    parser.add_argument("--draw", nargs="+", type=int, default=list(DRAWS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    wanted = cells(options.objective, options.draw)
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        done = dict(zip(wanted, pool.map(figures, wanted), strict=True))
    figure = partial(figure_of, done, options.draw)
    tasks = [task.name for task in demo.TASKS]
    result = {
        **circumstances("cpu"),
        **runs.circumstances(),
        "seeds": options.draw,
        "instances": {
            name: [len(collection(name, draw).truth) for draw in options.draw]
            for name in COLLECTIONS
        },
        "chance": {task.name: round(task.chance, 4) for task in demo.TASKS},
        "accuracy": {
            name: {
                task: {each: figure(name, task, each) for each in options.objective}
                for task in tasks
            }
            for name in COLLECTIONS
        },
        "digits": {
            task: done[Cell("all", task, options.objective[0], options.draw[0])][1]
            for task in tasks
        },
    }
    write(result, options.out)
    print(json.dumps(result))


def figure_of(
    done: dict[Cell, tuple[dict[str, float | None], Any]],
    draws: list[int],
    name: str,
    task: str,
    objective: str,
) -> dict[str, Any]:
    """The draws of one objective on one task, summed up."""
    found = [done[Cell(name, task, objective, draw)][0] for draw in draws]
    return {what: summed_up([each[what] for each in found]) for what in found[0]}


if __name__ == "__main__":
    main()
