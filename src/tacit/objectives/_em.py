"""EM: the posterior is held fixed while the prediction learns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.objectives._formula import CLASS, Formula, Gradient, Terms, quiet, quiet_
from tacit.objectives._objective import Objective, values

if TYPE_CHECKING:
    from torch import Tensor

    from tacit._processes import Group
    from tacit.beliefs import Belief

__all__ = ["EM", "FORMULA", "em"]


def _value(t: Terms) -> Tensor:
    r = t.r.detach()
    return -(r * quiet(t.log_q, r)).sum(CLASS)


def _gradient(t: Terms) -> Gradient:
    """With r held fixed: dL/dlog q = -r, and S has no part in it."""
    L = -quiet_(t.r * t.log_q, t.r).sum(CLASS)
    return Gradient(L, -t.r, None)


FORMULA = Formula("EM", _value, _gradient, collapses=False)


def em(
    logits: Tensor | None = None,
    belief: Tensor | Belief | None = None,
    *,
    log_prediction: Tensor | None = None,
    log_mass: Tensor | None = None,
    mask: Tensor | None = None,
    weight: Tensor | None = None,
    strata: Tensor | None = None,
    smoothing: float = 0.0,
    group: Group = "world",
    validate: bool = True,
) -> Tensor:
    """Cross-entropy of the prediction against the posterior, which is held fixed.

    -sum_l r_i(l) log q_i(l), with r_i ∝ p_i q_i / S and no gradient through r or S.

    q is the predictor's softmax, p the belief, S the class mass. The gradient is that of
    -log sum_l p_i(l) q_i(l) / S_l with S held still. With a `TrackedMass` it is stable at any
    batch size.

    Args:
        logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
        belief: p, probabilities or a mask of candidates shaped like it, or a belief.
        log_prediction: log q, normalised, instead of logits.
        log_mass: Log of S, `(class,)` or `(strata, class)`, held still; the batch's own by default.
        mask: True where an instance counts, `(N,)` or `(N, *)`; others are as if deleted.
        weight: Weight of each instance in S, `(N,)` or `(N, *)`; the values are not multiplied.
        strata: Stratum of each instance, each stratum with an S of its own.
        smoothing: Added to q and p, (x + e) / (1 + C e).
        group: The processes that share the batch.
        validate: Whether to explain a value that is not finite.

    Returns:
        A value per instance, `(N,)` or `(N, *)`, 0 where masked.

    Example:
        >>> import torch
        >>> logits = torch.tensor([[0.8, 0.2], [0.5, 0.5]]).log()
        >>> belief = torch.tensor([[0.5, 0.5], [0.1, 0.9]])
        >>> em(logits, belief)
        tensor([0.6627, 0.6931])
    """
    return values(
        FORMULA,
        logits,
        belief,
        log_prediction=log_prediction,
        log_mass=log_mass,
        mask=mask,
        weight=weight,
        strata=strata,
        smoothing=smoothing,
        group=group,
        validate=validate,
    )


class EM(Objective):
    """`em` with its settings."""

    formula = FORMULA
