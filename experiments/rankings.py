"""Digits of which one knows how they compare: the paper's second experiment, and others like it.

    tacit reproduce rankings --data DIR

Each training image of MNIST is in one group, drawn by the seed; of a group one knows the order of
its digits, how often each digit occurs, or whether two are equal. No label is told. The paper's
small network learns by RQ on batches of 256 images. True labels are for counting; where classes are
known up to their names alone, names are matched to the truth first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from scipy.optimize import linear_sum_assignment

from experiments._curves import learned, small_cnn
from experiments._data import images, images_file
from experiments._experiment import Experiment
from experiments.rankings_page import page, pictures
from tacit.beliefs import Bags, Orderings, Pairs
from tacit.evidence import BatchMass
from tacit.fitting import Collection, Plan, Settings
from tacit.objectives import RQ

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from experiments._curves import Curves
    from experiments._experiment import Means
    from experiments._store import Cell, Figures
    from tacit.beliefs import Belief

__all__ = ["EXPERIMENT", "KNOWN", "groups"]

N_CLASSES: Final = 10
SETTINGS: Final = {
    "epochs": 8,
    "batch_size": 256,
    "learning_rate": 1e-3,
    "schedule": "cosine",
    "held_out": 0.0,
}


def groups(n: int, size: int, seed: int) -> Tensor:
    """Numbers of the images in each group, `(groups, size)`; a remainder is in none."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return order[: n // size * size].view(-1, size)


def _ranked(truth: Tensor, seed: int) -> Belief:
    """Pairs of which one knows which digit is greater or equal."""
    first, second = groups(len(truth), 2, seed).unbind(1)
    swap = truth[first] < truth[second]
    pairs = torch.stack([torch.where(swap, second, first), torch.where(swap, first, second)], 1)
    return Pairs.greater_equal(pairs, n_classes=N_CLASSES, n_instances=len(truth))


def _ordered(truth: Tensor, seed: int, size: int) -> Belief:
    lists = groups(len(truth), size, seed)
    order = truth[lists].argsort(dim=1, stable=True)
    return Orderings(
        lists.gather(1, order), n_classes=N_CLASSES, n_instances=len(truth), strict=False
    )


def _counted(truth: Tensor, seed: int, size: int) -> Belief:
    lists = groups(len(truth), size, seed)
    counts = torch.stack([(truth[lists] == label).sum(1) for label in range(N_CLASSES)], 1)
    return Bags.from_counts(lists, counts, n_instances=len(truth))


def _matched(truth: Tensor, seed: int) -> Belief:
    """Pairs of which one knows whether they are equal; as many equal ones as chance has."""
    pairs = groups(len(truth), 2, seed)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    about = {"n_classes": N_CLASSES, "n_instances": len(truth)}
    return Pairs.equal(pairs[same], **about) * Pairs.different(pairs[~same], **about)


KNOWN: Final[dict[str, Callable[[Tensor, int], Belief]]] = {
    "pairs": _ranked,
    "pairs, a mass for each position": _ranked,
    **{
        f"orderings of {size}": lambda truth, seed, size=size: _ordered(truth, seed, size)
        for size in (3, 5, 10)
    },
    **{
        f"bags of {size}": lambda truth, seed, size=size: _counted(truth, seed, size)
        for size in (5, 10, 50)
    },
    "equal or different": _matched,
}
"""What one knows of the digits."""
UP_TO_NAMES: Final = ("equal or different",)


def cells(seeds: Sequence[int]) -> list[Cell]:
    """Each kind of knowledge, for each seed."""
    return [{"known": known, "seed": seed} for seed in seeds for known in KNOWN]


def measure(wanted: Sequence[Cell], means: Means) -> Iterator[tuple[Cell, Figures]]:
    """One fit at a time: groups differ in their inference."""
    own = images("mnist", means.data)
    for cell in wanted:
        known, seed = str(cell["known"]), int(cell["seed"])
        belief = KNOWN[known](own.y_train, seed)
        by_position = known == "pairs, a mass for each position"
        collection = Collection(
            own.x_train, belief, strata=_positions(own.y_train, seed) if by_position else None
        )
        plan = Plan(
            predictor=small_cnn(own.x_train.shape[1:]),
            objective=RQ(BatchMass(n_strata=2) if by_position else BatchMass()),
            settings=Settings(seed=seed, **SETTINGS),
        )
        _, curves = learned([plan], collection, own, means.device, confusions=True)
        yield cell, _figures(curves, up_to_names=known in UP_TO_NAMES)


def _positions(truth: Tensor, seed: int) -> Tensor:
    """0 for the greater of a pair, 1 for the other."""
    first, second = groups(len(truth), 2, seed).unbind(1)
    swap = truth[first] < truth[second]
    positions = torch.zeros(len(truth), dtype=torch.long)
    positions[torch.where(swap, first, second)] = 1
    return positions


def _figures(curves: Curves, *, up_to_names: bool) -> Figures:
    confusions = [table.cpu() for table in curves.confusions[0]]
    if up_to_names:
        named = linear_sum_assignment(-confusions[-1].numpy())[1]
        confusions = [table[:, torch.from_numpy(named)] for table in confusions]
    shares = [round(float(table.trace() / table.sum()), 4) for table in confusions]
    found: Figures = {"test": shares[-1], "curve": shares, "up to names": up_to_names}
    if not up_to_names:
        found["train"] = round(float(curves.train[0][-1]), 4)
    shown = [epoch for epoch in (1, 2, 3, 4, 6) if epoch <= len(confusions)]
    found["confusions"] = {
        str(epoch): confusions[epoch - 1].int().tolist() for epoch in (*shown, len(confusions))
    }
    return found


def files(wanted: Sequence[Cell], data: Path) -> list[Path]:
    """The one file."""
    del wanted
    return [images_file("mnist", data)]


EXPERIMENT: Final = Experiment(
    name="rankings",
    about="digits of MNIST from how they compare: pairs, orderings, bags, equal or different",
    needs="mnist",
    seeds=3,
    cells=cells,
    files=files,
    measure=measure,
    page=page,
    pictures=pictures,
)
