"""What all beliefs about groups share: who is in which group, batching, renumbering."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from tacit.beliefs._base import Belief, Posterior, Rows, row_index
from tacit.beliefs._lists import flattened, from_array
from tacit.beliefs._logspace import normalised
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Bucket", "Grouped", "flat_members"]


class Bucket(NamedTuple):
    """Groups of similar size, padded to the longest of them.

    Attributes:
        groups: Numbers of the groups, `(groups,)`.
        members: Instances of each group, `(groups, position)`; 0 where absent.
        present: Which positions hold an instance, `(groups, position)`.
    """

    groups: Tensor
    members: Tensor
    present: Tensor


class Grouped(Belief):
    """Base of the beliefs about groups: a subclass infers one padded bucket of groups at a time.

    An instance in no group is a group of its own, of which nothing is known; such groups are
    numbered after the others.

    Args:
        members: The instances of all groups, one group after the other.
        lengths: Number of instances in each group.
        n_instances: Number of instances that the belief covers.
        n_classes: Number of classes.
        argument: What the caller calls the groups, for messages.
    """

    _per_group: ClassVar[tuple[str, ...]] = ()
    """Names of the tensors with one entry per group; indexing the belief indexes them."""

    def __init__(
        self, members: Tensor, lengths: Tensor, *, n_instances: int, n_classes: int, argument: str
    ) -> None:
        if n_classes < 2:
            raise refuse(
                "n_classes",
                "be at least 2",
                f"it is {n_classes}",
                "with one class there is nothing to resolve",
            )
        _check_members(members, lengths, n_instances, argument)
        self.n_classes = n_classes
        self._set_groups(members, lengths, n_instances)

    @abstractmethod
    def _infer(self, log_evidence: Tensor, bucket: Bucket) -> tuple[Tensor, Tensor]:
        """Exact or approximate inference in groups of similar size.

        Args:
            log_evidence: Evidence of the members, `(groups, position, class)`; zero where absent.
            bucket: Which groups these are, and which positions are present.

        Returns:
            Log marginals `(groups, position, class)`, whatever where absent, and the
            log-normaliser of the *normalised* belief, `(groups,)`.
        """

    def __len__(self) -> int:
        return len(self._group_of)

    @property
    def n_groups(self) -> int:
        return len(self._lengths) + len(self) - len(self._members)

    @property
    def group_of(self) -> Tensor:
        return self._group_of

    @property
    def device(self) -> torch.device:
        return self._members.device

    def posterior(self, log_evidence: Tensor) -> Posterior:
        self._check_evidence(log_evidence)
        # Its precision is the evidence's: autocast would run the matrix products in half of it.
        with torch.autocast(self.device.type, enabled=False):
            return self._posterior(log_evidence)

    def _posterior(self, log_evidence: Tensor) -> Posterior:
        free = self._group_of >= len(self._lengths)
        log_free, log_total = normalised(log_evidence[free])
        log_marginals = torch.zeros_like(log_evidence).index_put((free,), log_free)
        log_normaliser = log_evidence.new_zeros(len(self._lengths))
        for bucket in self._buckets():
            evidence = log_evidence[bucket.members].masked_fill(~bucket.present.unsqueeze(-1), 0.0)
            marginals, normaliser = self._infer(evidence, bucket)
            where = (bucket.members[bucket.present],)
            log_marginals = log_marginals.index_put(where, marginals[bucket.present])
            log_normaliser = log_normaliser.index_put((bucket.groups,), normaliser)
        log_alone = log_total - math.log(self.n_classes)
        return Posterior(log_marginals, torch.cat([log_normaliser, log_alone]))

    def __getitem__(self, rows: Rows) -> Self:
        index = row_index(rows, len(self), self.device)
        ordered, order = index.sort()
        if bool((ordered[1:] == ordered[:-1]).any()):
            raise refuse(
                "rows",
                "name each instance once",
                f"row {int(ordered[1:][ordered[1:] == ordered[:-1]][0])} comes twice",
                "a group has one copy of each member",
            )
        groups = self._group_of[index].unique()
        groups = groups[groups < len(self._lengths)]
        lengths = self._lengths[groups]
        members = self._members[_ranges(self._offsets[groups], lengths)]
        place = torch.searchsorted(ordered, members).clamp(max=max(len(ordered) - 1, 0))
        torn = ordered[place] != members if len(members) else members.bool()
        if bool(torn.any()):
            missing = int(members[torn][0])
            raise refuse(
                "rows",
                "take whole groups",
                f"instance {missing} of group {int(self._group_of[missing])} is left out",
                "a group cannot straddle batches or folds: take all of its members or none",
            )
        taken = copy.copy(self)
        for name in self._per_group:
            setattr(taken, name, getattr(self, name)[groups])
        taken._set_groups(order[place], lengths, len(index))
        return taken

    def _set_groups(self, members: Tensor, lengths: Tensor, n_instances: int) -> None:
        self._members = members
        self._lengths = lengths
        self._offsets = lengths.cumsum(0) - lengths
        group_of = members.new_full((n_instances,), -1)
        group_of[members] = torch.repeat_interleave(
            torch.arange(len(lengths), device=members.device), lengths
        )
        free = group_of < 0
        group_of[free] = len(lengths) + torch.arange(int(free.sum()), device=members.device)
        self._group_of = group_of

    def _buckets(self) -> Iterator[Bucket]:
        """Groups whose sizes share a power of two, so that padding at most doubles the work."""
        # Whole numbers throughout, for devices without float64.
        sizes = torch.bucketize(self._lengths, 1 << torch.arange(63, device=self.device))
        for size in sizes.unique().tolist():
            groups = (sizes == size).nonzero().squeeze(1)
            lengths = self._lengths[groups]
            position = torch.arange(int(lengths.max()), device=self.device)
            present = position < lengths.unsqueeze(1)
            flat = (self._offsets[groups].unsqueeze(1) + position).masked_fill(~present, 0)
            yield Bucket(groups, self._members[flat].masked_fill(~present, 0), present)


def flat_members(
    groups: Sequence[Sequence[int]] | Sequence[Tensor] | Tensor, argument: str
) -> tuple[Tensor, Tensor]:
    """Flatten lists of instances into the members of all groups and the length of each.

    Args:
        groups: Lists of instances, or an integer tensor or numpy array `(groups, position)`.
        argument: What the caller calls them, for messages.
    """
    table = from_array(groups, argument)
    if not isinstance(table, Tensor):
        return flattened(table, argument, row="group")
    if table.ndim != 2 or table.is_floating_point() or table.dtype == torch.bool:
        raise refuse(
            argument,
            "be lists of instance numbers or an integer tensor (groups, position)",
            f"it is {table.dtype} with shape {tuple(table.shape)}",
            "pass whole numbers, one row per group",
        )
    lengths = torch.full((table.shape[0],), table.shape[1], device=table.device)
    return table.reshape(-1).long(), lengths


def _ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """The numbers start, ..., start + length - 1 of every range, one range after the other."""
    ends = lengths.cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    shift = torch.repeat_interleave(starts - (ends - lengths), lengths)
    return torch.arange(total, device=starts.device) + shift


def _check_members(members: Tensor, lengths: Tensor, n_instances: int, argument: str) -> None:
    group_of_member = torch.repeat_interleave(
        torch.arange(len(lengths), device=lengths.device), lengths
    )
    if bool((lengths == 0).any()):
        raise refuse(
            argument,
            "be groups of at least one instance",
            f"group {int((lengths == 0).nonzero()[0])} is empty",
            "leave it out",
        )
    outside = (members < 0) | (members >= n_instances)
    if bool(outside.any()):
        first = int(outside.nonzero()[0])
        raise refuse(
            argument,
            f"hold instance numbers between 0 and {n_instances - 1}",
            f"group {int(group_of_member[first])} names instance {int(members[first])}",
            "number instances from 0, or raise n_instances",
        )
    ordered, order = members.sort(stable=True)
    repeated = ordered[1:] == ordered[:-1]
    if bool(repeated.any()):
        at = int(repeated.nonzero()[0])
        first_group, second_group = (int(group_of_member[order[at + k]]) for k in (0, 1))
        where = (
            f"group {first_group} names instance {int(ordered[at])} twice"
            if first_group == second_group
            else f"instance {int(ordered[at])} is in groups {first_group} and {second_group}"
        )
        raise refuse(
            argument,
            "name each instance at most once",
            where,
            "exact inference needs disjoint groups: drop one, or merge the groups into one belief",
        )
