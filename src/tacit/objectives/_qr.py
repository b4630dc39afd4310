"""QR: the prediction is drawn to its own posterior; the free energy's own direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.objectives._formula import CLASS, Formula, Gradient, Terms, quiet, quiet_
from tacit.objectives._objective import Objective, values

if TYPE_CHECKING:
    from torch import Tensor

    from tacit._processes import Group
    from tacit.beliefs import Belief

__all__ = ["FORMULA", "QR", "qr"]


def _value(t: Terms) -> Tensor:
    return (t.q * quiet(t.log_q - t.log_r, t.q)).sum(CLASS)


def _gradient(t: Terms) -> Gradient:
    """With D = log q - log r and L = sum q D: dL/dlog q = q D + r and dL/dlog S = q - r."""
    qD = quiet_(t.log_q - t.log_r, t.q).mul_(t.q)
    return Gradient(qD.sum(CLASS), qD.add_(t.r), t.q - t.r)


FORMULA = Formula("QR", _value, _gradient, smoothing=1e-4)


def qr(
    logits: Tensor | None = None,
    belief: Tensor | Belief | None = None,
    *,
    log_prediction: Tensor | None = None,
    log_mass: Tensor | None = None,
    mask: Tensor | None = None,
    weight: Tensor | None = None,
    strata: Tensor | None = None,
    smoothing: float = 1e-4,
    group: Group = "world",
    validate: bool = True,
) -> Tensor:
    """Divergence of the prediction from the posterior.

    KL(q_i || r_i) = sum_l q_i(l) log q_i(l) / r_i(l), with r_i ∝ p_i q_i / S
    (`eq:KL_written_out`).

    q is the predictor's softmax, p the belief, S the class mass; gradients flow through r and S.
    It is infinite where p is zero and q is not, hence the smoothing.

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
        >>> qr(logits, belief)
        tensor([0.0344, 0.7726])
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


class QR(Objective):
    """`qr` with its settings."""

    formula = FORMULA
