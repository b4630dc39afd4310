"""The slow, obvious posterior of a group: a sum over every labeling it could have."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def enumerate_posterior(
    log_prior: Callable[[tuple[int, ...]], float], log_evidence: Tensor
) -> tuple[Tensor, float]:
    """Update a joint belief about one group by evidence, one labeling at a time.

    Args:
        log_prior: Log of any multiple of the prior probability of a labeling; minus infinity for
            an impossible one.
        log_evidence: Evidence of the group's members, `(position, class)`.

    Returns:
        Log marginals `(position, class)` in float64, and the log-normaliser of the normalised
        prior: log of its expectation of exp(evidence). Both are minus infinity throughout where
        prior and evidence exclude each other.
    """
    size, n_classes = log_evidence.shape
    evidence = log_evidence.detach().double().tolist()
    labelings = list(itertools.product(range(n_classes), repeat=size))
    log_priors = [log_prior(labeling) for labeling in labelings]
    log_joints = [
        log_weight + math.fsum(evidence[position][label] for position, label in enumerate(labeling))
        if log_weight > -math.inf
        else -math.inf
        for labeling, log_weight in zip(labelings, log_priors, strict=True)
    ]
    log_total = _log_sum_exp(log_joints)
    log_marginals = torch.full((size, n_classes), -math.inf, dtype=torch.float64)
    for position, label in itertools.product(range(size), range(n_classes)):
        agreeing = [
            log_joint
            for labeling, log_joint in zip(labelings, log_joints, strict=True)
            if labeling[position] == label
        ]
        if log_total > -math.inf:
            log_marginals[position, label] = _log_sum_exp(agreeing) - log_total
    return log_marginals, log_total - _log_sum_exp(log_priors)


def _log_sum_exp(logs: list[float]) -> float:
    largest = max(logs)
    if largest == -math.inf:
        return largest
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs))
