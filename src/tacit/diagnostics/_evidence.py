"""Held-out evidence: how well a predictor does, without a true label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tacit.evidence import own_evidence

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["held_out_evidence"]


def held_out_evidence(
    log_prediction: Tensor,
    belief: Belief,
    *,
    weight: Tensor | None = None,
    strata: Tensor | None = None,
    n_strata: int | None = None,
) -> float:
    """Mean log-likelihood of the implicit generative model on instances it did not learn from.

    mean_i log sum_l p_i(l) q_i(l) / S_l,

    with q the prediction, p the belief and S the mean of q over these very instances, so that a
    predictor which says the same of all scores 0. A group counts its log-normaliser, shared among
    its members. Higher is better. It judges the prediction q, not the posterior r.

    Args:
        log_prediction: Log of q on the held-out instances, `(instances, class)`.
        belief: p, about the same instances.
        weight: Weight of each instance, `(instances,)`; a group has the mean weight of its members,
            and one without weight is as if deleted.
        strata: Stratum of each instance, where each has a class mass of its own.
        n_strata: Number of strata; by default those that occur.

    Returns:
        Nats per instance.

    Example:
        >>> import torch
        >>> from tacit.beliefs import Candidates
        >>> belief = Candidates([[0, 1], [1], [2]], n_classes=3)
        >>> alike = torch.tensor([[0.2, 0.3, 0.5]] * 3).log()
        >>> round(abs(held_out_evidence(alike, belief)), 6)
        0.0
        >>> sharp = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]).log()
        >>> round(held_out_evidence(sharp, belief), 3)
        0.684
    """
    q = log_prediction.detach()
    if weight is not None and bool((weight == 0).any()):
        rows = (_by_group(weight, belief) > 0)[belief.group_of].nonzero().squeeze(1)
        q, belief, weight = q[rows], belief[rows], weight[rows]
        strata = None if strata is None else strata[rows]
    a = own_evidence(q, weight=weight, strata=strata, n_strata=n_strata)
    log_normaliser = belief.posterior(a).log_normaliser.double()
    if weight is None:
        return float(log_normaliser.sum() / len(q))
    size = _by_group(torch.ones_like(weight), belief)
    return float((log_normaliser * _by_group(weight, belief) / size).sum() / weight.double().sum())


def _by_group(values: Tensor, belief: Belief) -> Tensor:
    """Sum of the values of each group's members, `(groups,)`."""
    total = values.new_zeros(belief.n_groups, dtype=torch.float64)
    return total.index_add(0, belief.group_of, values.double())
