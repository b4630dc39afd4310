"""The free energy in its short form, which the paper's land-cover code calls QR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.objectives._formula import CLASS, Formula, Gradient, Terms, quiet, quiet_
from tacit.objectives._objective import Objective, values

if TYPE_CHECKING:
    from torch import Tensor

    from tacit._processes import Group
    from tacit.beliefs import Belief

__all__ = ["FORMULA", "FreeEnergy", "free_energy"]


def _value(t: Terms) -> Tensor:
    return (t.q * quiet(t.log_S - t.log_p, t.q)).sum(CLASS)


def _gradient(t: Terms) -> Gradient:
    """With L = sum q (log S - log p): dL/dlog q = q (log S - log p) and dL/dlog S = q."""
    direct = quiet_(t.log_S - t.log_p, t.q).mul_(t.q)
    return Gradient(direct.sum(CLASS), direct, t.q)


FORMULA = Formula("FreeEnergy", _value, _gradient, uses_posterior=False, smoothing=1e-4)


def free_energy(
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
    """Free energy of the prediction.

    sum_l q_i(l) log S_l - sum_l q_i(l) log p_i(l) (`eq:QR`).

    q is the predictor's softmax, p the belief, S the class mass as a mean: a sum would add log N.
    Equal to QR minus the log-normaliser of r, so the gradients differ: two names.

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
        >>> free_energy(logits, belief)
        tensor([0.1385, 0.4633])
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


class FreeEnergy(Objective):
    """`free_energy` with its settings."""

    formula = FORMULA
