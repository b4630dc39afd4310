"""What sources do, before anything is learned from them: how much they say, and against whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.sources._votes import Votes

__all__ = ["SourceSummary", "summarised"]


class SourceSummary(NamedTuple):
    """What one source does.

    Attributes:
        coverage: Share of the instances that it votes on.
        overlap: Share of its votes on instances that another source votes on too.
        conflict: Share of its votes that another source contradicts.
        agreement: Share of the other sources' votes on its instances that say the same, NaN where
            there are none.
        chance: What that share would be if it answered regardless of the instance.
        answers: The classes that it ever says.
    """

    coverage: float
    overlap: float
    conflict: float
    agreement: float
    chance: float
    answers: tuple[int, ...]

    @property
    def finding(self) -> str | None:
        """What is odd about the source, and what to do, or None."""
        if not self.answers:
            return "never votes: leave it out"
        if self.overlap == 0:
            return "votes where nobody else does, so that nothing tells how reliable it is"
        if len(self.answers) == 1 and self.coverage == 1:
            return "always says the same, and tells nothing: leave it out, or let it abstain"
        if self.agreement < self.chance - _WORSE:
            return (
                "contradicts the others more than chance would: look for swapped names of classes"
            )
        return None


_WORSE = 0.05
"""How far below chance agreement may be before it is said."""


def summarised(votes: Votes) -> list[SourceSummary]:
    """Say what each source does; no label is needed.

    Args:
        votes: What was said. Of a soft vote its likeliest answer counts.

    Example:
        >>> from tacit.sources import Votes
        >>> votes = Votes.from_matrix([[0, 0, -1], [1, 1, -1], [1, 0, -1], [0, 0, -1]])
        >>> first, _, last = summarised(votes)
        >>> first.coverage, first.conflict, first.agreement, last.finding
        (1.0, 0.25, 0.75, 'never votes: leave it out')
    """
    item, source, answer = _decided(votes)
    counts = torch.zeros(votes.n_items, votes.n_classes, dtype=torch.float64)
    counts.index_put_((item, answer), torch.ones(len(item), dtype=torch.float64), accumulate=True)
    others = counts.sum(1)[item] - 1
    same = counts[item, answer] - 1
    balance = counts.sum(0) / counts.sum().clamp(min=1)

    def total(values: Tensor) -> Tensor:
        return torch.bincount(source, values.double(), minlength=votes.n_sources)

    n_votes, n_others = total(torch.ones_like(others)), total(others)
    answered = torch.zeros(votes.n_sources, votes.n_classes, dtype=torch.bool)
    answered[source, answer] = True
    columns = {
        "coverage": n_votes / max(votes.n_items, 1),
        "overlap": total(others > 0) / n_votes,
        "conflict": total(same < others) / n_votes,
        "agreement": total(same) / n_others,
        "chance": total(others * balance[answer]) / n_others,
    }
    return [
        SourceSummary(
            answers=tuple(answered[number].nonzero().squeeze(1).tolist()),
            **{name: float(column[number]) for name, column in columns.items()},
        )
        for number in range(votes.n_sources)
    ]


def _decided(votes: Votes) -> tuple[Tensor, Tensor, Tensor]:
    """Each source's likeliest answer on each instance that it votes on."""
    # Sorted by weight first, the last entry of each pair of item and source is its likeliest.
    order = votes.weight.argsort(stable=True)
    place = votes.item[order] * votes.n_sources + votes.source[order]
    pairs, inverse = place.unique(return_inverse=True)
    last = torch.zeros(len(pairs), dtype=torch.long)
    last.scatter_reduce_(0, inverse, torch.arange(len(place)), "amax")
    chosen = order[last]
    return votes.item[chosen], votes.source[chosen], votes.answer[chosen]
