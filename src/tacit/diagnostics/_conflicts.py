"""Instances whose features contradict what was believed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.diagnostics._checks import check_beside
from tacit.errors import refuse
from tacit.objectives import union_nll

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["Conflicts", "conflicts", "contradiction", "surprise"]


class Conflicts(NamedTuple):
    """Instances in descending order of how much prediction and belief contradict each other.

    Attributes:
        rows: Their numbers, `(n,)`.
        contradiction: Of each, in nats, `(n,)`.
        surprise: KL(r || p) of each, in nats, `(n,)`.
        believed: The class that was likeliest before, `(n,)`.
        found: The class that is likeliest after, `(n,)`.
    """

    rows: Tensor
    contradiction: Tensor
    surprise: Tensor
    believed: Tensor
    found: Tensor


def conflicts(
    belief: Belief, *, prediction: Tensor, posterior: Tensor, most: int = 100
) -> Conflicts:
    """Rank instances by how much their features contradict what was believed.

    By the contradiction, not by the surprise: of candidate sets the surprise only tells how certain
    the posterior is.

    Args:
        belief: p.
        prediction: q, `(instances, class)`.
        posterior: r, `(instances, class)`.
        most: How many to tell of.

    Example:
        >>> from tacit.beliefs import Categorical
        >>> belief = Categorical(torch.tensor([[0.5, 0.5], [0.9, 0.1]]))
        >>> q, r = torch.tensor([[0.4, 0.6], [0.1, 0.9]]), torch.tensor([[0.4, 0.6], [0.5, 0.5]])
        >>> found = conflicts(belief, prediction=q, posterior=r)
        >>> found.rows.tolist(), found.believed.tolist()
        ([1, 0], [0, 0])
    """
    check_beside(prediction, "prediction", belief)
    check_beside(posterior, "posterior", belief)
    if most < 0:
        raise refuse("most", "be at least 0", f"it is {most}", "try 100")
    r, q = posterior.double(), prediction.double()
    p = belief.marginals(torch.float64).to(r.device)
    told = contradiction(prediction=q, marginals=p)
    value, rows = told.topk(min(most, len(told)))
    return Conflicts(
        rows, value, surprise(r[rows], p[rows]), p[rows].argmax(-1), r[rows].argmax(-1)
    )


def contradiction(*, prediction: Tensor, marginals: Tensor) -> Tensor:
    """-log Σ_l q(l) p(l) / max p of each instance, in nats: the union NLL.

    0 where the prediction is sure of what was believed most, infinite where it is sure of what was
    excluded.

    Args:
        prediction: q, `(instances, class)`.
        marginals: p, `(instances, class)`.

    Example:
        >>> q, p = torch.tensor([[0.5, 0.5], [0.0, 1.0]]), torch.tensor([[0.5, 0.0], [0.2, 0.8]])
        >>> contradiction(prediction=q, marginals=p)
        tensor([0.6931, 0.0000])
    """
    value = union_nll(log_prediction=prediction.log(), belief=marginals, validate=False)
    return value.clamp(min=0) + 0.0  # not -0


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
