"""Clustering: certain about each instance, diverse over all of them; no belief needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.objectives._formula import CLASS, Formula, Gradient, Terms, quiet, quiet_
from tacit.objectives._objective import Objective, values

if TYPE_CHECKING:
    from torch import Tensor

    from tacit._processes import Group

__all__ = ["FORMULA", "Clustering", "clustering"]


def _value(t: Terms) -> Tensor:
    return (t.q * quiet(t.log_S - t.log_q, t.q)).sum(CLASS)


def _gradient(t: Terms) -> Gradient:
    """With L = sum q (log S - log q): dL/dlog q = q (log S - log q) - q and dL/dlog S = q."""
    own = quiet_(t.log_S - t.log_q, t.q).mul_(t.q)
    return Gradient(own.sum(CLASS), own - t.q, t.q)


FORMULA = Formula("Clustering", _value, _gradient, uses_belief=False)


def clustering(
    logits: Tensor | None = None,
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
    """Entropy of each prediction less its share in the entropy of their mean.

    -sum_l q_i(l) log q_i(l) + sum_l q_i(l) log S_l (`eq:diverse_clustering`).

    q is the predictor's softmax, S the class mass. The mean over instances is minus the
    information that the labels carry about the features.

    Args:
        logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
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
        >>> clustering(torch.tensor([[8.0, 0.0], [0.0, 8.0]])).mean()
        tensor(-0.6901)
    """
    return values(
        FORMULA,
        logits,
        None,
        log_prediction=log_prediction,
        log_mass=log_mass,
        mask=mask,
        weight=weight,
        strata=strata,
        smoothing=smoothing,
        group=group,
        validate=validate,
    )


class Clustering(Objective):
    """`clustering` with its settings; called without a belief."""

    formula = FORMULA
