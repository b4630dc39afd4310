"""Vital signs: a few numbers that tell a prediction which learns from one which degenerates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tacit.diagnostics._entropy import entropy

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Vitals", "vitals"]

VANISHED = 0.02
"""A class has vanished when the prediction gives it less than this part of what the beliefs do. In
digits with a class thinned to 15 % and five candidates each, its share is a quarter of theirs."""


class Vitals(NamedTuple):
    """How a prediction is doing.

    Attributes:
        entropy_of_mean: Entropy of the mean prediction, in nats: how evenly classes are used.
        mean_entropy: Mean entropy of the prediction: how unsure it is of each instance.
        information: Their difference: what the prediction tells of the label, 0 for a constant one.
        contradiction: Mean prediction on labels that the belief excludes.
        drift: Half the sum of what the class mass moved since the last look, 0 to 1.
        vanished: Classes that the beliefs mention and the prediction hardly uses.
    """

    entropy_of_mean: float
    mean_entropy: float
    information: float
    contradiction: float
    drift: float
    vanished: tuple[int, ...]


def vitals(
    log_prediction: Tensor,
    marginals: Tensor,
    *,
    weight: Tensor | None = None,
    before: Tensor | None = None,
) -> tuple[Vitals, Tensor]:
    """Take the vital signs of a prediction.

    Args:
        log_prediction: Log of q, `(instances, class)`.
        marginals: The beliefs' own marginals of the same instances.
        weight: Weight of each instance, `(instances,)`; 0 is "not there".
        before: Class mass at the last look, `(class,)`.

    Returns:
        The signs, and the class mass, for the next look.

    Example:
        >>> import math, torch
        >>> sharp = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).log()
        >>> signs, mass = vitals(sharp, torch.full((2, 2), 0.5))
        >>> round(signs.information / math.log(2), 6), signs.vanished
        (1.0, ())
        >>> constant = torch.tensor([[1.0, 0.0], [1.0, 0.0]]).log()
        >>> vitals(constant, torch.full((2, 2), 0.5), before=mass)[0].vanished
        (1,)
    """
    q, p = log_prediction.detach().exp().double(), marginals.double()
    if weight is None:
        w = q.new_full((len(q),), 1 / len(q))
    else:
        there = weight > 0
        q, p, w = q[there], p[there], weight[there].double()
        w /= w.sum()
    mass = w @ q
    mean_entropy = float(w @ entropy(q))
    entropy_of_mean = float(entropy(mass))
    share = w @ p
    vanished = ((mass < VANISHED * share) & (share > 0)).nonzero().squeeze(1).tolist()
    moved = 0.0 if before is None else 0.5 * float((mass - before).abs().sum())
    return (
        Vitals(
            entropy_of_mean=entropy_of_mean,
            mean_entropy=mean_entropy,
            information=max(0.0, entropy_of_mean - mean_entropy),
            contradiction=float(w @ q.masked_fill(p > 0, 0.0).sum(-1)),
            drift=moved,
            vanished=tuple(vanished),
        ),
        mass,
    )
