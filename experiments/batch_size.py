"""One negative label per digit, in batches from 256 down to 2: the paper's table of batch sizes.

    tacit reproduce batch-size --data DIR

The class mass of a small batch lacks some classes. Three worlds: all digits of MNIST; five of the
ten classes, drawn by the seed, thinned to 15 %; and batches that are sorted by class, where each
holds but one or two. Each row has the step that its held-out evidence likes best. True labels are
for counting.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import torch

from experiments._curves import in_parts, learned, small_cnn
from experiments._data import Images, images, images_file
from experiments._experiment import Experiment
from experiments.batch_size_page import page
from experiments.negative_labels import excluded
from tacit.beliefs import Candidates
from tacit.evidence import TrackedMass
from tacit.fitting import Collection, Plan, Settings
from tacit.objectives import EM, RQ, UnionNLL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from experiments._experiment import Means
    from experiments._store import Cell, Figures
    from tacit.objectives import Objective

__all__ = ["EXPERIMENT", "thinned"]

WORLDS: Final = ("all", "thinned")
KEPT: Final = 0.15
"""Of each class that is thinned."""
SIZES: Final = (256, 128, 64, 32, 16, 8, 4, 2)
STEPS: Final = (3e-5, 1e-4, 3e-4, 1e-3)
EPOCHS: Final = {256: 100, 128: 60, 64: 40, 32: 30, 16: 20, 8: 12, 4: 8, 2: 5}
"""Fewer for small batches, which take many steps in each."""
ROWS: Final[dict[str, tuple[Callable[[], Objective], dict[str, Any]]]] = {
    "union NLL": (UnionNLL, {}),
    "RQ": (RQ, {}),
    "RQ, tracked mass": (lambda: RQ(TrackedMass()), {"warm_up": 1}),
    "EM": (EM, {}),
    "EM, tracked mass": (lambda: EM(TrackedMass()), {}),
    "EM, tracked mass, warmed up": (lambda: EM(TrackedMass()), {"warm_up": 1}),
}
_AT_ONCE: Final = 12


def cells(seeds: Sequence[int]) -> list[Cell]:
    """Large batches first, which are quick."""
    return [
        {"world": world, "batch": size, "row": row, "step": step, "seed": seed}
        for seed in seeds
        for world in WORLDS
        for size in SIZES
        for row in ROWS
        for step in STEPS
    ]


def measure(wanted: Sequence[Cell], means: Means) -> Iterator[tuple[Cell, Figures]]:
    """Runs of one world and batch size learn side by side."""
    shared = ("world", "batch", "seed")

    def key(cell: Cell) -> tuple[str | float, ...]:
        return tuple(cell[name] for name in shared)

    for (world, size, seed), group in groupby(wanted, key=key):
        own = images("mnist", means.data)
        if world == "thinned":
            own = thinned(own, int(seed))
        told = Candidates.excluding(excluded(own.y_train, 1, int(seed)), n_classes=10)
        collection = Collection(own.x_train, told)
        for some in in_parts(list(group), _AT_ONCE):
            plans = [_plan(cell, int(size), own) for cell in some]
            runs, curves = learned(plans, collection, own, means.device)
            for number, (cell, run) in enumerate(zip(some, runs, strict=True)):
                found = curves.figures(number)
                found["held-out evidence"] = round(_last(run.history), 5)
                yield cell, found


def _plan(cell: Cell, size: int, own: Images) -> Plan:
    objective, extra = ROWS[str(cell["row"])]
    settings = Settings(
        epochs=EPOCHS[size],
        batch_size=size,
        learning_rate=float(cell["step"]),
        held_out=0.05,
        patience=0,
        schedule="constant",
        seed=int(cell["seed"]),
        **extra,
    )
    return Plan(
        predictor=small_cnn(own.x_train.shape[1:]), objective=objective(), settings=settings
    )


def _last(history: Sequence[Any]) -> float:
    return float(history[-1].held_out_evidence)


def thinned(own: Images, seed: int) -> Images:
    """The same with five classes thinned, in the training set and in the test set."""
    generator = torch.Generator().manual_seed(seed + 1500)
    rare = torch.randperm(10, generator=generator)[:5]

    def kept(truth: torch.Tensor) -> torch.Tensor:
        chance = torch.rand(len(truth), generator=generator)
        return ~torch.isin(truth, rare) | (chance < KEPT)

    train, test = kept(own.y_train), kept(own.y_test)
    return Images(own.x_train[train], own.y_train[train], own.x_test[test], own.y_test[test])


def files(wanted: Sequence[Cell], data: Path) -> list[Path]:
    """The one file."""
    del wanted
    return [images_file("mnist", data)]


EXPERIMENT: Final = Experiment(
    name="batch-size",
    about="one negative label per digit of MNIST, in batches from 256 down to 2",
    needs="mnist",
    seeds=1,
    cells=cells,
    files=files,
    measure=measure,
    page=page,
)
