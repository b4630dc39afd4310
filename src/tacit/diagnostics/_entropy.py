"""How unsure a row of probabilities is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["entropy"]


def entropy(p: Tensor) -> Tensor:
    """Entropy of the last axis, in nats, with 0 log 0 = 0."""
    return -torch.xlogy(p, p).sum(-1)
