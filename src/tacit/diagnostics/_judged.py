"""What true labels say of a table, where there are some."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.diagnostics._calibration import Reliability, reliability
from tacit.diagnostics._scores import accuracy_of
from tacit.errors import refuse

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Judged", "judged"]


class Judged(NamedTuple):
    """A table beside true labels.

    Attributes:
        confusion: Number of instances by true label and likeliest class, `(class, class)`.
        reliability: How sure the table is, and how often it is right.
    """

    confusion: Tensor
    reliability: Reliability

    @property
    def n(self) -> int:
        """Number of instances whose true label is known."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """Share of them whose likeliest class is the true label; NaN where there are none."""
        return accuracy_of(self.confusion)

    @property
    def standard_error(self) -> float:
        """Of the accuracy, as of a mean over instances that are independent of each other."""
        return math.sqrt(self.accuracy * (1 - self.accuracy) / self.n) if self.n else math.nan


def judged(probabilities: Tensor, truth: Tensor, *, n_bins: int = 10) -> Judged:
    """Judge a table by true labels; where none is known, or a row is all zero, it does not count.

    Args:
        probabilities: q or r, `(instances, class)`.
        truth: True labels, `(instances,)`, below 0 where unknown.
        n_bins: Bins of the reliability diagram.

    Example:
        >>> q = torch.tensor([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.5, 0.5]])
        >>> found = judged(q, torch.tensor([0, 1, 1, -1]))
        >>> found.n, round(found.accuracy, 3), round(found.standard_error, 3)
        (3, 0.667, 0.272)
        >>> found.confusion
        tensor([[1, 0],
                [1, 1]])
    """
    n, n_classes = probabilities.shape
    if tuple(truth.shape) != (n,):
        raise refuse(
            "truth",
            f"have one label for each of the {n} instances",
            f"its shape is {tuple(truth.shape)}",
            "pass both for the same instances, in the same order",
        )
    if n and int(truth.max()) >= n_classes:
        raise refuse(
            "truth",
            f"hold labels below {n_classes}, the number of classes",
            f"the largest is {int(truth.max())}",
            "number the classes from 0",
        )
    known = (truth >= 0) & (probabilities.amax(-1) > 0)
    own, true = probabilities[known], truth[known]
    place = true * n_classes + own.argmax(-1)
    confusion = torch.bincount(place, minlength=n_classes**2).view(n_classes, n_classes)
    return Judged(confusion, reliability(own, true, n_bins=n_bins))
