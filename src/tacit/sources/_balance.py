"""How often each class occurs, as far as it is known or as beliefs tell."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Final

import torch

from tacit.beliefs import Belief, Categorical
from tacit.errors import refuse
from tacit.sources._numbers import real_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.beliefs import Independent

__all__ = ["balance_of", "with_balance"]

_STILL: Final = 1e-8
"""Largest change of a share at which the iteration has come to rest."""
_MOST_STEPS: Final = 2000
_LEAST: Final = 0.02
"""Part of the balance that is equal whatever beliefs tell: no class is ruled out by its rarity."""
_ROWS: Final = 1 << 16


def balance_of(belief: Independent, *, confidence: float = 0.95) -> Tensor:
    """How often each class occurs, if what is told of an instance depends on its label alone.

    The balance π that makes what is told likeliest, by expectation maximisation of
    Σ_i log Σ_l π_l p_i(l), drawn towards equal shares u by what chance would do as well:

        u + max(0, 1 - c / X) (π - u),    X = (π - u)ᵀ I (π - u),

    where I is the information that beliefs have about the balance (Fisher's, at u) and c the value
    that X exceeds by chance with a probability of 1 - `confidence` where classes are equal.

    It holds where p_i(l) is as likely a thing to be told as l would make it: labels that were
    excluded at random, candidates that were added at random. It misleads where wrong candidates are
    no accident, such as the names that many captions have.

    Args:
        belief: About each instance.
        confidence: How sure to be before departing from equal shares, at least 0 and below 1.

    Returns:
        Shares `(class,)` in float64, which sum to one.

    Example:
        >>> from tacit.beliefs import Candidates
        >>> told = Candidates([[0, 1]] * 450 + [[0, 2]] * 450 + [[1, 2]] * 100, n_classes=3)
        >>> [round(float(share), 2) for share in balance_of(told)]
        [0.77, 0.11, 0.11]
    """
    _check_belief(belief)
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0 <= confidence < 1:
        raise refuse("confidence", "be at least 0 and below 1", f"it is {confidence!r}", "try 0.95")
    n_classes = belief.n_classes
    equal = torch.full((n_classes,), 1 / n_classes, dtype=torch.float64)
    if n_classes == 1 or not len(belief):
        return equal
    apart = _likeliest(belief, equal) - equal
    strength = float(apart @ _information(belief, equal) @ apart)
    by_chance = _exceeded(n_classes - 1, confidence)
    kept = max(0.0, 1 - by_chance / strength) if strength > 0 else 0.0
    return (1 - _LEAST) * (equal + kept * apart) + _LEAST * equal


def with_balance(belief: Belief, balance: Tensor | NDArray[Any] | Sequence[float]) -> Belief:
    """The belief of somebody who also knows how often each class occurs: p_i(l) π_l, normalised.

    Args:
        belief: What is known of each instance, as if all classes were equally frequent.
        balance: π, up to a factor, `(class,)`.

    Example:
        >>> from tacit.beliefs import Candidates
        >>> with_balance(Candidates([[0, 1], [1, 2]], n_classes=3), [3, 1, 1]).marginals()
        tensor([[0.7500, 0.2500, 0.0000],
                [0.0000, 0.5000, 0.5000]])
    """
    _check_belief(belief)
    shares = real_numbers(balance, "balance", "(class,)")
    if tuple(shares.shape) != (belief.n_classes,) or not bool(
        (shares > 0).all() & shares.isfinite().all()
    ):
        raise refuse(
            "balance",
            f"be {belief.n_classes} finite numbers above 0, one for each class",
            f"it is {shares.tolist()}",
            "give a class that never occurs a small share",
        )
    known = (shares / shares.sum()).float().to(belief.device)
    return belief * Categorical(known.expand(len(belief), -1))


def _check_belief(belief: object) -> None:
    if not isinstance(belief, Belief):
        raise refuse(
            "belief",
            "be one of tacit.beliefs",
            f"it is a {type(belief).__name__}",
            "wrap a matrix of probabilities, as in Categorical(probabilities)",
        )


def _likeliest(belief: Independent, start: Tensor) -> Tensor:
    """The balance under which what is told is likeliest."""
    balance = start
    for _ in range(_MOST_STEPS):
        total = torch.zeros_like(balance)
        for p in _parts(belief):
            joint = p * balance
            total += (joint / joint.sum(1, keepdim=True)).sum(0)
        before, balance = balance, total / len(belief)
        if float((balance - before).abs().max()) < _STILL:
            break
    return balance


def _information(belief: Independent, balance: Tensor) -> Tensor:
    """Fisher's information about the balance, within the shares that sum to one."""
    n = len(balance)
    total = torch.zeros(n, n, dtype=torch.float64)
    for p in _parts(belief):
        score = p / (p @ balance).unsqueeze(1)
        total += score.T @ score
    within = torch.eye(n, dtype=torch.float64) - 1 / n
    return within @ total @ within


def _parts(belief: Independent) -> list[Tensor]:
    whole = torch.arange(len(belief))
    return [belief[rows].marginals(torch.float64).cpu() for rows in whole.split(_ROWS)]


def _exceeded(degrees: int, confidence: float) -> float:
    """What a chi-squared variable exceeds with a probability of 1 - confidence."""
    from scipy.stats import chi2

    return float(chi2.ppf(confidence, degrees))
