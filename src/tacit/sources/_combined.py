"""Votes as a belief, by what they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import torch

from tacit.sources._dawid_skene import dawid_skene
from tacit.sources._majority import majority

if TYPE_CHECKING:
    from tacit.beliefs import Independent
    from tacit.sources._votes import Votes

__all__ = ["Way", "combined", "way_for"]

Way: TypeAlias = Literal["dawid_skene", "majority"]

_ENOUGH: Final = 3
"""Sources from which on their agreement tells who is right: of two that differ either may be."""
_OFTEN: Final = 0.5
"""Share of the voted instances on which sources must meet, or reliabilities are learned from few
instances and applied to many."""


def combined(votes: Votes) -> Independent:
    """The belief that votes amount to, unless one knows better.

    `dawid_skene` where reliabilities can be learned from votes alone: at least three sources vote,
    two or more of them on at least half of the instances that have votes, and none is silent where
    it was asked. `majority` elsewhere. Labelling functions are silent on most instances: they look
    for something, several of them often for the same, and err together, which Dawid and Skene take
    for reliability. A predictor learns more from a belief that claims less.

    Args:
        votes: What was said.

    Example:
        >>> from tacit.sources import Votes
        >>> way_for(Votes.from_matrix([[0, 1, 0], [1, 1, 1]]))
        'dawid_skene'
        >>> way_for(Votes.from_matrix([[0, 1, -1], [-1, 1, 1]]))
        'majority'
    """
    return majority(votes) if way_for(votes) == "majority" else dawid_skene(votes)


def way_for(votes: Votes) -> Way:
    """The name of the way that `combined` takes."""
    n_heard = len(votes.source.unique())
    # A soft vote is several entries of one source about one instance.
    item = torch.stack([votes.item, votes.source]).unique(dim=1)[0]
    n_votes = torch.bincount(item, minlength=votes.n_items)
    is_silent = votes.all_asked and len(item) < votes.n_items * n_heard
    n_voted, n_met = int((n_votes > 0).sum()), int((n_votes > 1).sum())
    meet = n_met >= _OFTEN * n_voted
    return "majority" if n_heard < _ENOUGH or is_silent or not meet else "dawid_skene"
