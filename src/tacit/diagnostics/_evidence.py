"""Held-out evidence: how well a predictor does, without a true label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.evidence import evidence, sum_by_class

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
    n_strata: int = 1,
) -> float:
    """Mean log-likelihood of the implicit generative model on instances it did not learn from.

    mean_i log sum_l p_i(l) q_i(l) / S_l,

    with q the prediction, p the belief and S the mean of q over these very instances, so that a
    predictor which says the same of all scores 0. A group counts its log-normaliser, shared among
    its members. Higher is better. It judges the prediction q, not the posterior r.

    Args:
        log_prediction: Log of q on the held-out instances, `(instances, class)`.
        belief: p, about the same instances.
        weight: Weight of each instance, `(instances,)`; a group has the mean weight of its members.
        strata: Stratum of each instance, where each has a class mass of its own.
        n_strata: Number of strata.

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
    sums = sum_by_class(q, weight=weight, strata=strata, n_strata=n_strata, group=None)
    log_mass = sums.log_mass if n_strata > 1 else sums.log_mass[0]
    normaliser = belief.posterior(
        evidence(q, log_mass=log_mass, strata=strata if n_strata > 1 else None)
    ).log_normaliser
    if weight is None:
        return float(normaliser.double().sum() / len(q))
    # Weighted, a group stands for the sum of its members' weights divided by their number, each.
    w = weight.double()
    by_group = w.new_zeros(len(normaliser)).index_add(0, belief.group_of, w)
    size = w.new_zeros(len(normaliser)).index_add(0, belief.group_of, w.new_ones(len(w)))
    value = normaliser.double().masked_fill(by_group == 0, 0.0)
    return float((value * by_group / size).sum() / w.sum())
