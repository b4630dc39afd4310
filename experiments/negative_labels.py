"""Images of which one knows what they do not show: the paper's first experiment.

    tacit reproduce negative-labels --data DIR

To each training image k labels are told that it does not have, drawn by the seed. The paper's small
network learns by Adam at 1e-4 on batches of 256 for 300 epochs; nothing is held out. True labels
are for counting.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

import torch

from experiments._curves import in_parts, learned, small_cnn
from experiments._data import images, images_file
from experiments._experiment import Experiment
from experiments.negative_labels_page import page, pictures
from tacit.beliefs import Candidates
from tacit.evidence import TrackedMass
from tacit.fitting import Collection, Plan, Settings
from tacit.objectives import EM, QR, RQ, SoftCrossEntropy, UnionNLL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from experiments._data import Images
    from experiments._experiment import Means
    from experiments._store import Cell, Figures
    from tacit.objectives import Objective

__all__ = ["EXPERIMENT", "excluded"]

SETS: Final = ("mnist", "cifar10")
N_CLASSES: Final = 10
OBJECTIVES: Final[dict[str, Callable[[], Objective]]] = {
    "cross-entropy": SoftCrossEntropy,
    "union NLL": UnionNLL,
    "QR": QR,
    "RQ": RQ,
    "EM, tracked mass": lambda: EM(TrackedMass()),
}
SETTINGS: Final = {
    "epochs": 300,
    "batch_size": 256,
    "learning_rate": 1e-4,
    "schedule": "constant",
    "held_out": 0.0,
}
_AT_ONCE: Final = 10
"""Networks that learn side by side: a GPU is full, and not much is lost when it is taken away."""


def cells(seeds: Sequence[int]) -> list[Cell]:
    """Seeds first, so that each figure soon has a mean; few negative labels first."""
    return [
        {"set": name, "negatives": k, "objective": objective, "seed": seed}
        for seed in seeds
        for name in SETS
        for k in range(1, N_CLASSES)
        for objective in OBJECTIVES
    ]


def measure(wanted: Sequence[Cell], means: Means) -> Iterator[tuple[Cell, Figures]]:
    """Fit some networks at a time, each told what its cell says."""
    for name, group in groupby(wanted, key=lambda cell: str(cell["set"])):
        own = images(name, means.data)
        # What runs are told differs, so the collection itself says nothing.
        nothing = Candidates.from_mask(torch.ones(len(own.y_train), N_CLASSES, dtype=torch.bool))
        collection = Collection(own.x_train, nothing)
        for some in in_parts(list(group), _AT_ONCE):
            plans = [_plan(cell, own) for cell in some]
            _, curves = learned(plans, collection, own, means.device)
            for number, cell in enumerate(some):
                yield cell, curves.figures(number)


def _plan(cell: Cell, own: Images) -> Plan:
    seed = int(cell["seed"])
    told = excluded(own.y_train, int(cell["negatives"]), seed)
    return Plan(
        predictor=small_cnn(own.x_train.shape[1:]),
        objective=OBJECTIVES[str(cell["objective"])](),
        settings=Settings(seed=seed, **SETTINGS),
        belief=Candidates.excluding(told, n_classes=N_CLASSES),
    )


def excluded(truth: Tensor, k: int, seed: int) -> Tensor:
    """K labels of each image that it does not have, `(N, k)`, each set as likely as any other."""
    generator = torch.Generator().manual_seed(seed)
    chance = torch.rand(len(truth), N_CLASSES, generator=generator)
    chance.scatter_(1, truth.unsqueeze(1), 2.0)  # the true one comes last
    return chance.argsort(1)[:, :k]


def files(wanted: Sequence[Cell], data: Path) -> list[Path]:
    """The images that the cells are about."""
    return [images_file(name, data) for name in dict.fromkeys(str(c["set"]) for c in wanted)]


EXPERIMENT: Final = Experiment(
    name="negative-labels",
    about="MNIST and CIFAR-10 from one to nine labels that an image does not have",
    needs="mnist and cifar10",
    seeds=3,
    cells=cells,
    files=files,
    measure=measure,
    page=page,
    pictures=pictures,
)
