"""Dawid and Skene: how reliable sources are, learned from where they agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from tacit.errors import refuse
from tacit.sources._majority import majority
from tacit.sources._numbers import real_numbers
from tacit.sources._voted import Voted, confusions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.sources._votes import Votes

__all__ = ["dawid_skene", "with_accuracies"]

_STILL = 1e-6
"""Largest change of a belief at which the iteration has come to rest."""


def dawid_skene(votes: Votes, *, strength: float = 1.0, most_steps: int = 500) -> Voted:
    """The belief in which each source counts as much as it is worth, learned without true labels.

    Expectation maximisation: labels from the reliabilities C and the balance π (see `Voted`), those
    from the labels, in turn, from the majority on. Each row of C has a prior worth `strength`
    votes, in the manner of all sources together, so that a source with a few votes does no harm.
    Where all sources were asked (`Votes.all_asked`), how often they abstain is learned too.

    Args:
        votes: What was said.
        strength: Votes that the prior is worth.
        most_steps: Steps at the most; it usually rests after a few dozen.

    Returns:
        The belief; its `reliability` tells of the sources.

    Example:
        >>> from tacit.sources import Votes
        >>> honest, tosser = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
        >>> votes = Votes.from_matrix(torch.tensor([honest, honest, tosser]).T)
        >>> belief = dawid_skene(votes)
        >>> belief.marginals().argmax(1).tolist()
        [0, 0, 0, 1, 1, 1]
        >>> [round(float(each), 2) for each in belief.accuracy()]
        [0.97, 0.97, 0.71]
    """
    if not 0 < strength < math.inf:
        raise refuse("strength", "be finite and above 0", f"it is {strength}", "try 1")
    labels, change, steps = majority(votes).marginals(torch.float64), math.inf, 0
    while True:
        belief = Voted(votes, *confusions(votes, labels, strength), strength=strength)
        if change < _STILL or steps >= most_steps:
            return belief
        before, labels = labels, belief.marginals(torch.float64)
        change, steps = float((labels - before).abs().max()), steps + 1


def with_accuracies(
    votes: Votes,
    accuracies: Tensor | NDArray[Any] | Sequence[float],
    *,
    balance: Tensor | NDArray[Any] | Sequence[float] | None = None,
) -> Voted:
    """The belief given how often each source is right; when wrong it says any other class.

    Args:
        votes: What was said.
        accuracies: Share of right votes of each source, `(sources,)`.
        balance: Share of each class; equal by default.

    Example:
        >>> from tacit.sources import Votes
        >>> votes = Votes.from_matrix([[0, 1]], n_classes=2)
        >>> with_accuracies(votes, [0.9, 0.6]).marginals()
        tensor([[0.8571, 0.1429]])
    """
    right = real_numbers(accuracies, "accuracies", "(sources,)")
    if tuple(right.shape) != (votes.n_sources,) or not bool(((right >= 0) & (right <= 1)).all()):
        raise refuse(
            "accuracies",
            f"be {votes.n_sources} numbers from 0 to 1, one for each source",
            f"it is {right.tolist()}",
            "pass shares, as in 0.8 for four votes in five",
        )
    n_classes = votes.n_classes
    same = torch.eye(n_classes, dtype=torch.float64)
    wrong = ((1 - right) / (n_classes - 1)).view(-1, 1, 1)
    table = right.view(-1, 1, 1) * same + wrong * (1 - same)
    shares = torch.ones(n_classes) if balance is None else torch.as_tensor(balance)
    return Voted(votes, table, shares, learns=False)
