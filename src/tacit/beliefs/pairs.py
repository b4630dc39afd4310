"""Joint beliefs about the labels of two instances at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, TypeAlias

import torch
from torch import Tensor

from tacit.beliefs._groups import Bucket, Grouped, flat_members
from tacit.beliefs._logspace import LOG_ZERO, normalised, rescaled
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.beliefs._base import Belief, Independent

__all__ = ["Pairs"]

_PairList: TypeAlias = "Sequence[Sequence[int]] | Sequence[Tensor] | Tensor"

_CELLS: Final = 1 << 24
"""Cells of joint tables that are spread out at a time: 64 MiB in float32."""


class Pairs(Grouped):
    r"""A joint table over the two labels of each pair of instances (`eq:pair_posterior`).

    .. math:: r(l_1, l_2) \propto p(l_1, l_2) \exp(a_1(l_1) + a_2(l_2))

    where p is the pair's table and a_1, a_2 are the rows of evidence of its first and its second
    instance; the posterior holds the marginals of r. Beliefs are made by `from_table`, `greater`,
    `greater_equal`, `equal` and `different`, and `ranked * matched` holds the pairs of both. A
    table that many pairs share is kept once. Inference takes the square of the number of classes;
    for ranks of many classes an `Orderings` of two instances is cheaper.

    Args:
        pairs: The two instances of each pair, `(pairs, 2)`.
        log_tables: Log of the distinct tables, each up to a constant,
            `(tables, first label, second label)`.
        table_of: Which of the tables each pair follows, `(pairs,)`.
        n_instances: Number of instances that the belief covers; of those in no pair nothing is
            known.

    Example:
        >>> ranked = Pairs.greater([[0, 1]], n_classes=3, n_instances=4)
        >>> matched = Pairs.equal([[3, 2]], n_classes=3, n_instances=4)
        >>> (ranked * matched).marginals()
        tensor([[0.0000, 0.3333, 0.6667],
                [0.6667, 0.3333, 0.0000],
                [0.3333, 0.3333, 0.3333],
                [0.3333, 0.3333, 0.3333]])
    """

    _per_group = ("_table_of",)

    def __init__(
        self, pairs: _PairList, log_tables: Tensor, table_of: Tensor, *, n_instances: int
    ) -> None:
        members, lengths = flat_members(pairs, "pairs")
        _check_lengths(lengths)
        n_classes = log_tables.shape[-1]
        super().__init__(
            members, lengths, n_instances=n_instances, n_classes=n_classes, argument="pairs"
        )
        self._table_of = table_of.to(self.device)
        self._log_tables = log_tables.to(self.device).clamp(min=LOG_ZERO)
        self._log_totals = torch.cat(
            [part.double().logsumexp((1, 2)) for part in self._log_tables.split(self._step)]
        )

    @classmethod
    def from_table(
        cls,
        pairs: _PairList,
        table: Tensor | Sequence[Sequence[float]],
        *,
        n_instances: int,
        validate: bool = True,
    ) -> Self:
        """Pairs whose two labels follow a joint table.

        Args:
            pairs: The two instances of each pair, `(pairs, 2)`; two index tensors are joined by
                `torch.stack([first, second], 1)`.
            table: Joint probabilities of the two labels, up to a factor (counts will do):
                `(first label, second label)` for all pairs, or one table for each,
                `(pairs, first label, second label)`.
            n_instances: Number of instances that the belief covers.
            validate: Whether to look at the values of the table, one pass over the data.

        Raises:
            InvalidInputError: If a table is not square, or holds NaN, a negative or an infinite
                number or nothing but zeros; if a pair is not two different instances, or shares
                one with another pair.

        Example:
            >>> Pairs.from_table([[0, 1]], [[8, 2], [0, 0]], n_instances=2).marginals()
            tensor([[1.0000, 0.0000],
                    [0.8000, 0.2000]])
        """
        tables = torch.as_tensor(table)
        tables = tables.to(torch.promote_types(tables.dtype, torch.float32))
        n_pairs = len(pairs)
        _check_shape(tables, n_pairs)
        if validate:
            _check_values(tables)
        if tables.ndim == 2:
            return cls(pairs, tables.log()[None], _all_first(n_pairs), n_instances=n_instances)
        return cls(pairs, tables.log(), torch.arange(n_pairs), n_instances=n_instances)

    @classmethod
    def greater(cls, pairs: _PairList, *, n_classes: int, n_instances: int) -> Self:
        """Pairs whose first label is above the second; nothing else is known.

        Args:
            pairs: The two instances of each pair, `(pairs, 2)`.
            n_classes: Number of classes, which are ranks: class 0 is the lowest.
            n_instances: Number of instances that the belief covers.

        Example:
            >>> Pairs.greater([[0, 1]], n_classes=3, n_instances=2).marginals()
            tensor([[0.0000, 0.3333, 0.6667],
                    [0.6667, 0.3333, 0.0000]])
        """
        return cls._allowing(torch.gt, pairs, n_classes, n_instances)

    @classmethod
    def greater_equal(cls, pairs: _PairList, *, n_classes: int, n_instances: int) -> Self:
        """Pairs whose first label is level with the second or above it; nothing else is known.

        Args:
            pairs: The two instances of each pair, `(pairs, 2)`.
            n_classes: Number of classes, which are ranks: class 0 is the lowest.
            n_instances: Number of instances that the belief covers.

        Example:
            >>> Pairs.greater_equal([[0, 1]], n_classes=3, n_instances=2).marginals()
            tensor([[0.1667, 0.3333, 0.5000],
                    [0.5000, 0.3333, 0.1667]])
        """
        return cls._allowing(torch.ge, pairs, n_classes, n_instances)

    @classmethod
    def equal(cls, pairs: _PairList, *, n_classes: int, n_instances: int) -> Self:
        """Pairs that have the same label; nothing else is known.

        Args:
            pairs: The two instances of each pair, `(pairs, 2)`.
            n_classes: Number of classes.
            n_instances: Number of instances that the belief covers.

        Example:
            >>> import torch
            >>> belief = Pairs.equal([[0, 1]], n_classes=2, n_instances=2)
            >>> belief.posterior(torch.tensor([[2.0, 0.0], [1.0, 0.0]])).log_marginals.exp()
            tensor([[0.9526, 0.0474],
                    [0.9526, 0.0474]])
        """
        return cls._allowing(torch.eq, pairs, n_classes, n_instances)

    @classmethod
    def different(cls, pairs: _PairList, *, n_classes: int, n_instances: int) -> Self:
        """Pairs that have different labels; nothing else is known.

        Args:
            pairs: The two instances of each pair, `(pairs, 2)`.
            n_classes: Number of classes.
            n_instances: Number of instances that the belief covers.

        Example:
            >>> import torch
            >>> belief = Pairs.different([[0, 1]], n_classes=2, n_instances=2)
            >>> belief.posterior(torch.tensor([[2.0, 0.0], [1.0, 0.0]])).log_marginals.exp()
            tensor([[0.7311, 0.2689],
                    [0.2689, 0.7311]])
        """
        return cls._allowing(torch.ne, pairs, n_classes, n_instances)

    def __mul__(self, other: Independent | Pairs) -> Belief:
        """Both at once; pairs join with other pairs of the same collection."""
        return self._joined(other) if isinstance(other, Pairs) else super().__mul__(other)

    @property
    def _step(self) -> int:
        return max(1, _CELLS // self.n_classes**2)

    def _infer(self, log_evidence: Tensor, bucket: Bucket) -> tuple[Tensor, Tensor]:
        evidence, log_scale = rescaled(log_evidence)
        table_of = self._table_of[bucket.groups]
        parts = zip(evidence.split(self._step), table_of.split(self._step), strict=True)
        log_joint = torch.cat([self._weigh(part, tables) for part, tables in parts])
        log_marginals, log_total = normalised(log_joint)
        log_prior = self._log_totals[table_of].to(evidence.dtype)
        return log_marginals, log_total[:, 0] + log_scale.sum(1) - log_prior

    def _weigh(self, evidence: Tensor, table_of: Tensor) -> Tensor:
        """Log-weight of each label of each member, the other one summed out."""
        log_tables = self._log_tables[table_of].to(evidence.dtype)
        first, second = evidence.unbind(1)
        from_second = (log_tables + second.unsqueeze(1)).logsumexp(2)
        from_first = (log_tables + first.unsqueeze(2)).logsumexp(1)
        return evidence + torch.stack([from_second, from_first], 1)

    @classmethod
    def _allowing(
        cls,
        relation: Callable[[Tensor, Tensor], Tensor],
        pairs: _PairList,
        n_classes: int,
        n_instances: int,
    ) -> Self:
        labels = torch.arange(n_classes)
        log_table = relation(labels.unsqueeze(1), labels).to(torch.get_default_dtype()).log()
        return cls(pairs, log_table[None], _all_first(len(pairs)), n_instances=n_instances)

    def _joined(self, other: Pairs) -> Pairs:
        if (len(self), self.n_classes) != (len(other), other.n_classes):
            raise refuse(
                "other",
                f"cover {len(self)} instances and {self.n_classes} classes",
                f"it covers {len(other)} and {other.n_classes}",
                "give both pairs the same n_instances and n_classes",
            )
        return Pairs(
            torch.cat([self._members, other._members]).reshape(-1, 2),
            torch.cat([self._log_tables, other._log_tables]),
            torch.cat([self._table_of, other._table_of + len(self._log_tables)]),
            n_instances=len(self),
        )


def _all_first(n_pairs: int) -> Tensor:
    return torch.zeros(n_pairs, dtype=torch.long)


def _check_lengths(lengths: Tensor) -> None:
    if len(lengths) == 0:
        raise refuse(
            "pairs",
            "hold at least one pair",
            "it is empty",
            "where nothing is known of any instance pass a Categorical of equal numbers",
        )
    wrong = lengths != 2
    if bool(wrong.any()):
        row = int(wrong.nonzero()[0])
        raise refuse(
            "pairs",
            "name two instances in each row",
            f"row {row} has {int(lengths[row])}",
            "join two index tensors by torch.stack([first, second], 1)",
        )


def _check_shape(tables: Tensor, n_pairs: int) -> None:
    square = tables.ndim in (2, 3) and tables.shape[-1] == tables.shape[-2]
    if not square or (tables.ndim == 3 and len(tables) != n_pairs):
        raise refuse(
            "table",
            f"have shape (class, class) or (pairs, class, class) with pairs = {n_pairs}",
            f"its shape is {tuple(tables.shape)}",
            "pass one square table for all pairs, or one for each",
        )


def _check_values(tables: Tensor) -> None:
    wrong = ~((tables >= 0) & (tables < torch.inf))
    if bool(wrong.any()):
        *pair, first, second = (int(place) for place in wrong.nonzero()[0])
        number = tables[(*pair, first, second)].item()
        raise refuse(
            "table",
            "be finite and at least 0",
            f"{_whose(pair)} holds {number} at labels ({first}, {second})",
            "pass probabilities or counts, not their logs, and 0 for what cannot be",
        )
    hopeless = (tables == 0).all(-1).all(-1)
    if bool(hopeless.any()):
        pair = hopeless.nonzero()[0].tolist()
        raise refuse(
            "table",
            "allow at least one pair of labels",
            f"{_whose(pair)} is all zero",
            "where nothing is known pass equal numbers, or leave the pair out",
        )


def _whose(pair: list[int]) -> str:
    return f"the table of pair {pair[0]}" if pair else "the table of all pairs"
