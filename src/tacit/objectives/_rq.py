"""RQ: the posterior teaches the prediction, and learns from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.objectives._formula import CLASS, Formula, Gradient, Terms, quiet, quiet_
from tacit.objectives._objective import Objective, values

if TYPE_CHECKING:
    from torch import Tensor

    from tacit._processes import Group
    from tacit.beliefs import Belief

__all__ = ["FORMULA", "RQ", "rq"]


def _value(t: Terms) -> Tensor:
    return (t.r * quiet(t.log_r - t.log_q, t.r)).sum(CLASS)


def _gradient(t: Terms) -> Gradient:
    """With D = log r - log q, L = sum r D: dL/dlog q = r (D - L) - r and dL/dlog S = -r (D - L)."""
    rD = quiet_(t.log_r - t.log_q, t.r).mul_(t.r)
    L = rD.sum(CLASS)
    centred = rD.addcmul_(t.r, L.unsqueeze(CLASS), value=-1)
    return Gradient(L, centred - t.r, centred.neg_())


FORMULA = Formula("RQ", _value, _gradient)


def rq(
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
    """Divergence of the posterior from the prediction.

    KL(r_i || q_i) = sum_l r_i(l) log r_i(l) / q_i(l), with r_i ∝ p_i q_i / S (`eq:true_post`).

    q is the predictor's softmax, p the belief, S the class mass; gradients flow through r and S.
    With one-hot beliefs it is cross-entropy, with candidate sets and a uniform S the union NLL.

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
        >>> rq(logits, belief)
        tensor([0.0381, 0.4761])
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


class RQ(Objective):
    """`rq` with its settings."""

    formula = FORMULA
