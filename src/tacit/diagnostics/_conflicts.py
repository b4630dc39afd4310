"""Instances whose features contradict what was believed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["Conflicts", "conflicts", "surprise"]


class Conflicts(NamedTuple):
    """Instances in descending order of how much their features contradict their belief.

    Attributes:
        rows: Their numbers, `(n,)`.
        surprise: KL(r || p) of each, in nats, `(n,)`.
        believed: The class that was likeliest before, `(n,)`.
        found: The class that is likeliest after, `(n,)`.
    """

    rows: Tensor
    surprise: Tensor
    believed: Tensor
    found: Tensor


def conflicts(posterior: Tensor, belief: Belief, *, most: int = 100) -> Conflicts:
    """Rank instances by what the features made of their belief.

    Args:
        posterior: r, `(instances, class)`.
        belief: p, about the same instances.
        most: How many to tell of.

    Example:
        >>> from tacit.beliefs import Categorical
        >>> belief = Categorical(torch.tensor([[0.9, 0.1], [0.5, 0.5]]))
        >>> found = conflicts(torch.tensor([[0.1, 0.9], [0.4, 0.6]]), belief)
        >>> found.rows.tolist(), found.believed.tolist(), found.found.tolist()
        ([0, 1], [0, 0], [1, 1])
    """
    r, p = posterior.double(), belief.marginals(torch.float64).to(posterior.device)
    told = surprise(r, p)
    value, rows = told.topk(min(most, len(told)))
    return Conflicts(rows, value, p[rows].argmax(-1), r[rows].argmax(-1))


def surprise(posterior: Tensor, marginals: Tensor) -> Tensor:
    """KL(r || p) of each instance, in nats, with 0 log 0 = 0.

    Args:
        posterior: r, `(instances, class)`.
        marginals: p, `(instances, class)`.

    Example:
        >>> surprise(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5]]))
        tensor([0.6931])
    """
    ratio = posterior.log() - marginals.log()
    return (posterior * ratio.masked_fill(posterior == 0, 0.0)).sum(-1)
