"""Softmax over the class axis, quick for narrow rows too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["CLASS", "log_softmax", "softmax"]

CLASS = 1
"""The class axis."""

_NARROW = 16
"""Below this width torch's CPU kernel takes rows number by number, several times slower."""


def log_softmax(scores: Tensor) -> Tensor:
    """Log of the softmax over the class axis."""
    if not _narrow(scores):
        return scores.log_softmax(CLASS)
    shifted = scores - scores.detach().amax(CLASS, keepdim=True)
    return shifted - shifted.exp().sum(CLASS, keepdim=True).log()


def softmax(scores: Tensor) -> Tensor:
    """The softmax over the class axis."""
    if not _narrow(scores):
        return scores.softmax(CLASS)
    raised = (scores - scores.detach().amax(CLASS, keepdim=True)).exp()
    return raised / raised.sum(CLASS, keepdim=True)


def _narrow(scores: Tensor) -> bool:
    return scores.ndim == 2 and scores.device.type == "cpu" and scores.shape[CLASS] <= _NARROW
