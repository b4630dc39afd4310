"""Majority: each vote counts the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.beliefs import Categorical
from tacit.errors import refuse

if TYPE_CHECKING:
    from tacit.sources._votes import Votes

__all__ = ["majority"]


def majority(votes: Votes, *, doubt: float = 1.0) -> Categorical:
    """The belief in which all sources count the same.

        p_i(l) = (n_il + d / C) / (n_i + d)

    where n_il votes of n_i say l, and d is the doubt, as if so many further votes were spread over
    all C classes. Of an instance without votes only the balance of all votes is known, as
    `dawid_skene` has it too: the mean of n_il / n_i over those that have votes, and one further
    instance for each class.

    A predictor had better not learn from those (`Votes.heard`), but resolve them: that sources have
    nothing to say of them may tell of their labels, and the more of them there are, the more a
    class mass is theirs.

    Args:
        votes: What was said.
        doubt: d; 0 excludes the classes that nobody votes for.

    Example:
        >>> from tacit.sources import Votes
        >>> majority(Votes.from_matrix([[0, 0, 1], [-1, -1, -1]], n_classes=2)).marginals()
        tensor([[0.6250, 0.3750],
                [0.5556, 0.4444]])
    """
    if not 0 <= doubt < float("inf"):
        raise refuse("doubt", "be finite and at least 0", f"it is {doubt}", "try 1")
    counts, heard = votes.counts(), votes.heard()
    table = counts + doubt / votes.n_classes
    # Each class is given an instance, so that none is excluded where nobody says anything.
    shares = counts[heard] / counts[heard].sum(1, keepdim=True)
    table[~heard] = shares.sum(0) + 1.0
    return Categorical(table.float())
