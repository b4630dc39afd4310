"""Scores of a map, from how often which class stands where which is true."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

__all__ = ["Scores", "merged", "scored"]


def accuracy_of(confusion: Tensor) -> float:
    """Share of what was counted that lies on the diagonal; NaN where nothing was."""
    n = int(confusion.sum())
    return float(confusion.diagonal().sum()) / n if n else math.nan


class Scores(NamedTuple):
    """How good a segmentation is.

    Attributes:
        confusion: Number of pixels by true class and class that was found, `(class, class)`.
        iou: Intersection over union of each class, `(class,)`: pixels that are of the class and
            found to be, over those that are either; NaN for a class of neither.
        present: The classes that the truth has, `(class,)`.
    """

    confusion: Tensor
    iou: Tensor
    present: Tensor

    @property
    def n(self) -> int:
        """Number of pixels."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """Share of the pixels whose class was found; NaN where there are none."""
        return accuracy_of(self.confusion)

    @property
    def mean_iou(self) -> float:
        """Mean of `iou` over the classes that the truth has; NaN where it has none.

        A class that was found and is nowhere true lowers the others' alone, as it takes their
        pixels.
        """
        return float(self.iou[self.present].mean()) if bool(self.present.any()) else math.nan


def scored(confusion: Tensor) -> Scores:
    """Accuracy and intersection over union.

        IoU_k = n_kk / (Σ_l n_kl + Σ_l n_lk - n_kk)

    Args:
        confusion: n, pixels by true class and class that was found, `(class, class)`.

    Example:
        >>> found = scored(torch.tensor([[6, 2, 0], [0, 2, 0], [0, 0, 0]]))
        >>> found.iou.tolist(), found.mean_iou, found.accuracy
        ([0.75, 0.5, nan], 0.625, 0.8)
    """
    if confusion.ndim != 2 or confusion.shape[0] != confusion.shape[1]:
        raise refuse(
            "confusion",
            "be a square table, (true class, class found)",
            f"its shape is {tuple(confusion.shape)}",
            "count both over the same classes",
        )
    counts = confusion.double()
    both, true = counts.diagonal(), counts.sum(1)
    return Scores(confusion, both / (true + counts.sum(0) - both), true > 0)


def merged(
    confusion: Tensor, classes: Sequence[str], into: Mapping[str, str]
) -> tuple[Tensor, tuple[str, ...]]:
    """A confusion with some classes counted as others, such as barren land as impervious.

    Args:
        confusion: Pixels by true class and class that was found, `(class, class)`.
        classes: Their names.
        into: By the name of a class, that of the class it goes into; a new name makes a new class.

    Returns:
        The confusion of the classes that are left, and their names.

    Example:
        >>> n = torch.tensor([[5, 1, 0], [2, 3, 0], [0, 0, 4]])
        >>> merged(n, ["road", "barren", "tree"], {"barren": "road"})
        (tensor([[11,  0],
                [ 0,  4]]), ('road', 'tree'))
    """
    for name in into:
        if name not in classes:
            got = f"'{name}' is none"
            fix = f"name some of {', '.join(classes)}"
            raise refuse("into", "name classes to merge", got, fix)
    left = dict.fromkeys(into.get(name, name) for name in classes)
    for name in left:
        if name in into and into[name] != name:
            got = f"'{name}' goes into '{into[name]}', and others into it"
            raise refuse("into", "be of one step", got, "name where each class ends")
    place = {name: number for number, name in enumerate(left)}
    rows = torch.tensor([place[into.get(name, name)] for name in classes])
    joined = confusion.new_zeros(len(left), len(classes)).index_add_(0, rows, confusion)
    return joined.new_zeros(len(left), len(left)).index_add_(1, rows, joined), tuple(left)
