"""What the objectives are compared with: beliefs as targets to match, not to sharpen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tacit.objectives._formula import CLASS, Formula, Gradient, Terms, quiet
from tacit.objectives._objective import Objective, values

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = [
    "HardCrossEntropy",
    "SoftCrossEntropy",
    "SquaredError",
    "UnionNLL",
    "hard_cross_entropy",
    "soft_cross_entropy",
    "squared_error",
    "union_nll",
]


def _soft_cross_entropy(t: Terms) -> Tensor:
    p = t.log_p.exp()
    return -(p * quiet(t.log_q, p)).sum(CLASS)


def _soft_cross_entropy_gradient(t: Terms) -> Gradient:
    """dL/dlog q = -p."""
    p = t.log_p.exp()
    return Gradient(-(p * quiet(t.log_q, p)).sum(CLASS), -p, None)


def _hard_cross_entropy(t: Terms) -> Tensor:
    label = t.log_p.argmax(CLASS, keepdim=True)
    return -t.log_q.gather(CLASS, label).squeeze(CLASS)


def _hard_cross_entropy_gradient(t: Terms) -> Gradient:
    """dL/dlog q is -1 at the likeliest class."""
    label = t.log_p.argmax(CLASS, keepdim=True)
    direct = torch.zeros_like(t.log_q).scatter_(CLASS, label, -1.0)
    return Gradient(_hard_cross_entropy(t), direct, None)


def _squared_error(t: Terms) -> Tensor:
    return (t.q - t.log_p.exp()).square().sum(CLASS)


def _squared_error_gradient(t: Terms) -> Gradient:
    """dL/dlog q = 2 q (q - p)."""
    gap = t.q - t.log_p.exp()
    return Gradient(gap.square().sum(CLASS), 2 * t.q * gap, None)


def _union_nll(t: Terms) -> Tensor:
    top = t.log_p.amax(CLASS, keepdim=True)
    return -torch.logsumexp(t.log_q + t.log_p - top, CLASS)


def _union_nll_gradient(t: Terms) -> Gradient:
    """dL/dlog q = -p q / sum p q, the posterior under a uniform class mass."""
    joint = t.log_q + t.log_p - t.log_p.amax(CLASS, keepdim=True)
    L = -torch.logsumexp(joint, CLASS)
    return Gradient(L, -(joint + L.unsqueeze(CLASS)).exp(), None)


def _baseline(
    name: str, value: Callable[[Terms], Tensor], gradient: Callable[[Terms], Gradient]
) -> Formula:
    return Formula(name, value, gradient, uses_posterior=False, uses_mass=False, collapses=False)


SOFT_CROSS_ENTROPY = _baseline(
    "SoftCrossEntropy", _soft_cross_entropy, _soft_cross_entropy_gradient
)
HARD_CROSS_ENTROPY = _baseline(
    "HardCrossEntropy", _hard_cross_entropy, _hard_cross_entropy_gradient
)._replace(overlooks=True)
SQUARED_ERROR = _baseline("SquaredError", _squared_error, _squared_error_gradient)
UNION_NLL = _baseline("UnionNLL", _union_nll, _union_nll_gradient)


def soft_cross_entropy(
    logits: Tensor | None = None,
    belief: Tensor | Belief | None = None,
    *,
    log_prediction: Tensor | None = None,
    mask: Tensor | None = None,
    smoothing: float = 0.0,
    validate: bool = True,
) -> Tensor:
    """Cross-entropy of the prediction against the belief.

    -sum_l p_i(l) log q_i(l), with p the belief (for groups its marginals) and q the softmax.
    A predictor that minimises it is as uncertain as the belief; the posterior that it implies is
    often much better than the prediction.

    Args:
        logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
        belief: p, probabilities or a mask of candidates shaped like it, or a belief.
        log_prediction: log q, normalised, instead of logits.
        mask: True where an instance counts, `(N,)` or `(N, *)`; others are as if deleted.
        smoothing: Added to q and p, (x + e) / (1 + C e).
        validate: Whether to explain a value that is not finite.

    Returns:
        A value per instance, `(N,)` or `(N, *)`, 0 where masked.

    Example:
        >>> import torch
        >>> logits = torch.tensor([[0.8, 0.2], [0.5, 0.5]]).log()
        >>> belief = torch.tensor([[0.5, 0.5], [0.1, 0.9]])
        >>> soft_cross_entropy(logits, belief)
        tensor([0.9163, 0.6931])
    """
    return values(
        SOFT_CROSS_ENTROPY,
        logits,
        belief,
        log_prediction=log_prediction,
        log_mass=None,
        mask=mask,
        weight=None,
        strata=None,
        smoothing=smoothing,
        group=None,
        validate=validate,
    )


def hard_cross_entropy(
    logits: Tensor | None = None,
    belief: Tensor | Belief | None = None,
    *,
    log_prediction: Tensor | None = None,
    mask: Tensor | None = None,
    smoothing: float = 0.0,
    validate: bool = True,
) -> Tensor:
    """Cross-entropy of the prediction against the belief's likeliest class.

    -log q_i(argmax_l p_i(l)), with p the belief (for groups its marginals) and q the softmax.
    The first of several equally likely classes counts.

    Args:
        logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
        belief: p, probabilities or a mask of candidates shaped like it, or a belief.
        log_prediction: log q, normalised, instead of logits.
        mask: True where an instance counts, `(N,)` or `(N, *)`; others are as if deleted.
        smoothing: Added to q and p, (x + e) / (1 + C e).
        validate: Whether to explain a value that is not finite.

    Returns:
        A value per instance, `(N,)` or `(N, *)`, 0 where masked.

    Example:
        >>> import torch
        >>> logits = torch.tensor([[0.8, 0.2], [0.5, 0.5]]).log()
        >>> belief = torch.tensor([[0.5, 0.5], [0.1, 0.9]])
        >>> hard_cross_entropy(logits, belief)
        tensor([0.2231, 0.6931])
    """
    return values(
        HARD_CROSS_ENTROPY,
        logits,
        belief,
        log_prediction=log_prediction,
        log_mass=None,
        mask=mask,
        weight=None,
        strata=None,
        smoothing=smoothing,
        group=None,
        validate=validate,
    )


def squared_error(
    logits: Tensor | None = None,
    belief: Tensor | Belief | None = None,
    *,
    log_prediction: Tensor | None = None,
    mask: Tensor | None = None,
    smoothing: float = 0.0,
    validate: bool = True,
) -> Tensor:
    """Squared distance between prediction and belief.

    sum_l (q_i(l) - p_i(l))^2, with p the belief (for groups its marginals) and q the softmax.

    Args:
        logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
        belief: p, probabilities or a mask of candidates shaped like it, or a belief.
        log_prediction: log q, normalised, instead of logits.
        mask: True where an instance counts, `(N,)` or `(N, *)`; others are as if deleted.
        smoothing: Added to q and p, (x + e) / (1 + C e).
        validate: Whether to explain a value that is not finite.

    Returns:
        A value per instance, `(N,)` or `(N, *)`, 0 where masked.

    Example:
        >>> import torch
        >>> logits = torch.tensor([[0.8, 0.2], [0.5, 0.5]]).log()
        >>> belief = torch.tensor([[0.5, 0.5], [0.1, 0.9]])
        >>> squared_error(logits, belief)
        tensor([0.1800, 0.3200])
    """
    return values(
        SQUARED_ERROR,
        logits,
        belief,
        log_prediction=log_prediction,
        log_mass=None,
        mask=mask,
        weight=None,
        strata=None,
        smoothing=smoothing,
        group=None,
        validate=validate,
    )


def union_nll(
    logits: Tensor | None = None,
    belief: Tensor | Belief | None = None,
    *,
    log_prediction: Tensor | None = None,
    mask: Tensor | None = None,
    smoothing: float = 0.0,
    validate: bool = True,
) -> Tensor:
    """Negative log of the probability that the prediction gives to what is believed possible.

    -log sum_l p_i(l) q_i(l), with p the belief (for groups its marginals) scaled to a row
    maximum of 1, so that a candidate set counts its labels fully, and q the softmax.

    Args:
        logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
        belief: p, probabilities or a mask of candidates shaped like it, or a belief.
        log_prediction: log q, normalised, instead of logits.
        mask: True where an instance counts, `(N,)` or `(N, *)`; others are as if deleted.
        smoothing: Added to q and p, (x + e) / (1 + C e).
        validate: Whether to explain a value that is not finite.

    Returns:
        A value per instance, `(N,)` or `(N, *)`, 0 where masked.

    Example:
        >>> import torch
        >>> logits = torch.tensor([[0.8, 0.2], [0.5, 0.5]]).log()
        >>> belief = torch.tensor([[True, False], [False, True]])
        >>> union_nll(logits, belief)
        tensor([0.2231, 0.6931])
    """
    return values(
        UNION_NLL,
        logits,
        belief,
        log_prediction=log_prediction,
        log_mass=None,
        mask=mask,
        weight=None,
        strata=None,
        smoothing=smoothing,
        group=None,
        validate=validate,
    )


class SoftCrossEntropy(Objective):
    """`soft_cross_entropy` with its settings; the class mass plays no part in it."""

    formula = SOFT_CROSS_ENTROPY


class HardCrossEntropy(Objective):
    """`hard_cross_entropy` with its settings; the class mass plays no part in it."""

    formula = HARD_CROSS_ENTROPY


class SquaredError(Objective):
    """`squared_error` with its settings; the class mass plays no part in it."""

    formula = SQUARED_ERROR


class UnionNLL(Objective):
    """`union_nll` with its settings; the class mass plays no part in it."""

    formula = UNION_NLL
