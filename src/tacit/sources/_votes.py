"""Votes: which sources said what of which instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from tacit.errors import refuse
from tacit.sources._numbers import check_range, real_numbers, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Votes"]


@dataclass(frozen=True, eq=False)
class Votes:
    """What labelling functions, workers or models said, one entry for each vote.

    A source that abstains has no vote. A soft vote, which spreads over several answers, is one vote
    for each of them, weighted by its share.

    Attributes:
        item: The instance of each vote, `(votes,)`, in ascending order.
        source: Who said it, `(votes,)`.
        answer: What was said, `(votes,)`.
        weight: How much of a vote it is, `(votes,)`, in float64.
        n_items: Number of instances; of those without votes nothing is known.
        n_sources: Number of sources.
        n_classes: Number of classes, which are also the answers.
        all_asked: Whether each source was asked about each instance, so that abstaining is an
            answer too: labelling functions look at everything, workers at what they are given.

    Example:
        >>> votes = Votes.from_matrix([[0, -1, 1], [1, 1, -1]], n_classes=2)
        >>> votes.counts()
        tensor([[1., 1.],
                [0., 2.]], dtype=torch.float64)
        >>> len(votes), votes.coverage().tolist()
        (4, [1.0, 0.5, 0.5])
    """

    item: Tensor
    source: Tensor
    answer: Tensor
    weight: Tensor
    n_items: int
    n_sources: int
    n_classes: int
    all_asked: bool = False

    @classmethod
    def from_matrix(
        cls,
        matrix: Tensor | NDArray[Any] | Sequence[Sequence[int]],
        *,
        n_classes: int | None = None,
        abstains: int = -1,
        all_asked: bool = True,
    ) -> Self:
        """Votes as a matrix of labels, as labelling functions give them.

        Args:
            matrix: Whole numbers `(instances, sources)`.
            n_classes: Number of classes; by default the largest label tells.
            abstains: The number that stands for no vote.
            all_asked: Whether it was the source that abstained; False where it was not asked.
        """
        try:
            table = torch.as_tensor(matrix)
        except (TypeError, ValueError, RuntimeError) as error:
            raise refuse(
                "matrix",
                "hold a row of whole numbers for each instance, all of the same length",
                f"torch says: {error}".rstrip("."),
                "give every source a number in every row, -1 where it abstains",
            ) from error
        if table.ndim != 2 or table.is_floating_point() or table.dtype == torch.bool:
            raise refuse(
                "matrix",
                "hold whole numbers, (instances, sources)",
                f"it holds {table.dtype} with shape {tuple(table.shape)}",
                "number the classes from 0, and let -1 abstain",
            )
        item, source = (table != abstains).nonzero(as_tuple=True)
        return cls.from_lists(
            item,
            source,
            table[item, source],
            n_items=len(table),
            n_sources=table.shape[1],
            n_classes=n_classes,
            all_asked=all_asked,
        )

    @classmethod
    def from_soft(cls, shares: Tensor | NDArray[Any], *, all_asked: bool = True) -> Self:
        """Soft votes: how each source spreads over the classes.

        Args:
            shares: `(instances, sources, class)`, at least 0; rows are scaled to one vote, and a
                row of zeros or NaN abstains.
            all_asked: Whether it was the source that abstained; False where it was not asked.

        Example:
            >>> votes = Votes.from_soft(torch.tensor([[[0.5, 1.5], [0.0, 0.0]]]))
            >>> votes.counts()
            tensor([[0.2500, 0.7500]], dtype=torch.float64)
        """
        table = real_numbers(shares, "shares", "(instances, sources, class)")
        if table.ndim != 3:
            raise refuse(
                "shares",
                "have shape (instances, sources, class)",
                f"its shape is {tuple(table.shape)}",
                "stack the sources on axis 1",
            )
        table = table.masked_fill(table.isnan().all(-1, keepdim=True), 0.0)
        wrong = ~((table >= 0) & (table < torch.inf))
        if bool(wrong.any()):
            at = tuple(int(axis) for axis in wrong.nonzero()[0])
            raise refuse(
                "shares",
                "be finite and at least 0",
                f"instance {at[0]}, source {at[1]}, class {at[2]} holds {table[at].item()}",
                "mend it, or let the source abstain by a row of zeros",
            )
        table = table / table.sum(-1, keepdim=True).clamp(min=1e-300)
        item, source, answer = table.nonzero(as_tuple=True)
        return cls.from_lists(
            item,
            source,
            answer,
            weight=table[item, source, answer],
            n_items=table.shape[0],
            n_sources=table.shape[1],
            n_classes=table.shape[2],
            all_asked=all_asked,
        )

    @classmethod
    def from_lists(
        cls,
        item: Tensor | NDArray[Any] | Sequence[int],
        source: Tensor | NDArray[Any] | Sequence[int],
        answer: Tensor | NDArray[Any] | Sequence[int],
        *,
        weight: Tensor | None = None,
        n_items: int | None = None,
        n_sources: int | None = None,
        n_classes: int | None = None,
        all_asked: bool = False,
    ) -> Self:
        """Votes one by one, as a crowd gives them, in any order.

        Args:
            item: Number of the instance of each vote.
            source: Number of the source.
            answer: The label that was said.
            weight: How much of a vote it is; one by default.
            n_items: Number of instances; by default the largest number tells, as for the others.
            n_sources: Number of sources.
            n_classes: Number of classes.
            all_asked: Whether who has no vote on an instance was asked about it.

        Example:
            >>> votes = Votes.from_lists([1, 0, 1], [0, 0, 1], [2, 1, 2], n_items=3)
            >>> votes.counts()
            tensor([[0., 1., 0.],
                    [0., 0., 2.],
                    [0., 0., 0.]], dtype=torch.float64)
        """
        given = {"item": item, "source": source, "answer": answer}
        columns = {name: whole_numbers(values, name, "vote") for name, values in given.items()}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1:
            raise refuse(
                "item, source and answer",
                "have one entry for each vote",
                " and ".join(f"{len(column)} {name}" for name, column in columns.items()) + " came",
                "pass columns of the same table",
            )
        sizes = {
            "item": _size(columns["item"], n_items, "item"),
            "source": _size(columns["source"], n_sources, "source"),
            "answer": _size(columns["answer"], n_classes, "answer"),
        }
        if sizes["answer"] < 2:
            raise refuse(
                "n_classes",
                "be at least 2",
                f"it is {sizes['answer']}",
                "with one class there is nothing to resolve; name those that nobody votes for too",
            )
        order = columns["item"].argsort(stable=True)
        given_weight = torch.ones(len(order)) if weight is None else weight
        return cls(
            item=columns["item"][order],
            source=columns["source"][order],
            answer=columns["answer"][order],
            weight=_checked_weight(given_weight, len(order))[order],
            n_items=sizes["item"],
            n_sources=sizes["source"],
            n_classes=sizes["answer"],
            all_asked=all_asked,
        )

    @property
    def n_answers(self) -> int:
        """Number of answers: the classes, and, where all were asked, to abstain."""
        return self.n_classes + self.all_asked

    def __len__(self) -> int:
        """Number of votes."""
        return len(self.item)

    def __repr__(self) -> str:
        return (
            f"Votes({len(self)} of {self.n_sources} sources on {self.n_items} instances, "
            f"n_classes={self.n_classes})"
        )

    def counts(self) -> Tensor:
        """Number of votes for each class, `(instances, class)`."""
        counts = torch.zeros(self.n_items, self.n_classes, dtype=torch.float64)
        return counts.index_put_((self.item, self.answer), self.weight, accumulate=True)

    def heard(self) -> Tensor:
        """Whether anybody votes on each instance, `(instances,)`."""
        return torch.bincount(self.item, minlength=self.n_items) > 0

    def coverage(self) -> Tensor:
        """Share of the instances that each source votes on, `(sources,)`."""
        pairs = torch.stack([self.item, self.source]).unique(dim=1)
        return torch.bincount(pairs[1], minlength=self.n_sources).double() / self.n_items

    def on(self, rows: Tensor) -> Votes:
        """The votes on some instances, renumbered in the order of `rows`.

        Args:
            rows: Numbers of the instances.
        """
        lengths = torch.bincount(self.item, minlength=self.n_items)
        starts, taken = lengths.cumsum(0) - lengths, lengths[rows]
        # Votes lie one instance after the other: those of each row are a run of them.
        within = torch.arange(int(taken.sum())) - (taken.cumsum(0) - taken).repeat_interleave(taken)
        places = starts[rows].repeat_interleave(taken) + within
        return type(self)(
            torch.arange(len(rows)).repeat_interleave(taken),
            self.source[places],
            self.answer[places],
            self.weight[places],
            len(rows),
            self.n_sources,
            self.n_classes,
            self.all_asked,
        )

    def of_sources(self, sources: Sequence[int]) -> Votes:
        """The votes of some sources, renumbered in the order in which they are named.

        Args:
            sources: Numbers of the sources, each once.

        Example:
            >>> votes = Votes.from_matrix([[0, 1, -1], [1, -1, 0]])
            >>> votes.of_sources([2, 0]).source
            tensor([1, 1, 0])
        """
        place = torch.full((self.n_sources,), -1)
        place[torch.as_tensor(sources)] = torch.arange(len(sources))
        kept = place[self.source] >= 0
        return replace(
            self,
            item=self.item[kept],
            source=place[self.source[kept]],
            answer=self.answer[kept],
            weight=self.weight[kept],
            n_sources=len(sources),
        )


def _size(column: Tensor, size: int | None, argument: str) -> int:
    """How many there are; refuses numbers that are out of range."""
    if size is None:
        size = int(column.max()) + 1 if len(column) else 0
    fix = "leave out the votes of sources that abstain, and count all instances and classes"
    check_range(column, argument, "vote", 0, size, fix)
    return size


def _checked_weight(weight: Tensor, n_votes: int) -> Tensor:
    table = torch.as_tensor(weight, dtype=torch.float64)
    if table.shape != (n_votes,) or not bool(((table > 0) & (table < torch.inf)).all()):
        raise refuse(
            "weight",
            f"be {n_votes} finite numbers above 0",
            f"its shape is {tuple(table.shape)} and its least entry "
            f"{table.min().item() if table.numel() else 'none'}",
            "leave votes without weight out",
        )
    return table
