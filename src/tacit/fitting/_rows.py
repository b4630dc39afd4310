"""Which instances meet in a batch: whole groups, in an order that seed and epoch decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import torch
from torch import Tensor

from tacit.errors import refuse

if TYPE_CHECKING:
    from tacit.beliefs import Belief

__all__ = [
    "MOST_HELD_OUT",
    "Split",
    "batches",
    "groups_of",
    "mixed",
    "rows_that_count",
    "share_of",
    "split",
]

MOST_HELD_OUT: Final = 20_000
"""Instances held out at the most: the error of a mean over these is small enough."""

_GOLDEN: Final = 0x9E3779B97F4A7C15


class Split(NamedTuple):
    """The instances that are learned from and those that are held out.

    Attributes:
        fit: Row numbers to learn from, `(n,)`, in order.
        held_out: Row numbers to judge by, `(m,)`, in order.
    """

    fit: Tensor
    held_out: Tensor


def mixed(*numbers: int) -> int:
    """One seed from several numbers, so that neighbouring ones share nothing (splitmix64)."""
    state = 0
    for number in numbers:
        state = (state + number + _GOLDEN) & 0xFFFFFFFFFFFFFFFF
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 31
    return state >> 1


def groups_of(belief: Belief) -> Tensor | None:
    """The group of each instance, or `None` where each stands alone."""
    return None if belief.n_groups == len(belief) else belief.group_of.cpu()


def rows_that_count(n_instances: int, group_of: Tensor | None, weight: Tensor | None) -> Tensor:
    """All row numbers but those without weight, whose groups have none: these are as if deleted.

    Args:
        n_instances: Number of instances.
        group_of: The group of each, or `None` where each stands alone.
        weight: Weight of each, or `None`.
    """
    if weight is None:
        return torch.arange(n_instances)
    counts = weight.cpu() > 0
    if group_of is not None:
        # A member without weight still tells of the others of its group.
        counts = torch.isin(group_of, group_of[counts])
    return counts.nonzero().squeeze(1)


def split(rows: Tensor, group_of: Tensor | None, share: float, seed: int) -> Split:
    """Hold out a share of some instances, in whole groups.

    Args:
        rows: Row numbers, in order and in whole groups.
        group_of: The group of each instance of the collection, or `None`.
        share: Share to hold out.
        seed: Seed of the draw.
    """
    wanted = min(round(share * len(rows)), MOST_HELD_OUT)
    generator = torch.Generator().manual_seed(mixed(seed, 1))
    if group_of is None:
        chosen = torch.zeros(len(rows), dtype=torch.bool)
        chosen[torch.randperm(len(rows), generator=generator)[:wanted]] = True
    else:
        _, place, sizes = group_of[rows].unique(return_inverse=True, return_counts=True)
        order = torch.randperm(len(sizes), generator=generator)
        # One group that is too large does not keep the smaller ones from being held out.
        order = order[sizes[order] <= wanted]
        taken = order[sizes[order].cumsum(0) <= wanted]
        chosen = torch.isin(place, taken)
    return Split(rows[~chosen], rows[chosen])


def batches(
    rows: Tensor, group_of: Tensor | None, batch_size: int, seed: int, epoch: int
) -> list[Tensor]:
    """The batches of one epoch: all rows in a new order, cut where a group ends.

    A remainder of less than half a batch joins the batch before it, since an objective that couples
    instances makes little of a few.

    Args:
        rows: Row numbers to cover, in whole groups.
        group_of: The group of each instance of the collection, or `None`.
        batch_size: Instances in a batch, at the most (the last may have half as many again).
        seed: Seed of the run.
        epoch: Number of the epoch.

    Example:
        >>> pairs = torch.tensor([0, 0, 1, 1, 2, 2])
        >>> [len(batch) for batch in batches(torch.arange(6), pairs, 3, seed=0, epoch=0)]
        [2, 2, 2]
    """
    generator = torch.Generator().manual_seed(mixed(seed, 2, epoch))
    if group_of is None:
        order = rows[torch.randperm(len(rows), generator=generator)]
        cuts = list(range(batch_size, len(rows), batch_size))
    else:
        order, sizes = _by_group(rows, group_of[rows], generator)
        cuts = _cuts(sizes, batch_size)
    if cuts and len(rows) - cuts[-1] < batch_size / 2 and group_of is None:
        cuts.pop()
    return list(order.tensor_split(cuts))


def check_groups(group_of: Tensor | None, batch_size: int) -> None:
    """Refuse groups that no batch can hold."""
    if group_of is None:
        return
    sizes = torch.bincount(group_of)
    if int(sizes.max()) > batch_size:
        group = int(sizes.argmax())
        raise refuse(
            "batch_size",
            "hold the largest group of instances whole",
            f"group {group} has {int(sizes[group])} instances, more than {batch_size}",
            f"pass batch_size={int(sizes[group])} or more, or state the belief in smaller groups",
        )


def share_of(rows: Tensor, group_of: Tensor | None, part: int, n_parts: int) -> Tensor:
    """The part of a batch that one of several processes takes, in whole groups; may be empty."""
    if n_parts == 1:
        return rows
    if group_of is None:
        return rows.tensor_split(n_parts)[part]
    group = group_of[rows]
    first = torch.cat([torch.ones(1, dtype=torch.bool), group[1:] != group[:-1]])
    # A group goes to the process in whose share its first member lies.
    owner = (torch.arange(len(rows)) * n_parts).div(len(rows), rounding_mode="floor")
    return rows[owner[first][first.cumsum(0) - 1] == part]


def _by_group(rows: Tensor, group: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows with the groups in a new order, and the size of each."""
    groups, place = group.unique(return_inverse=True)
    rank = torch.randperm(len(groups), generator=generator)
    ordered = rank[place]
    return rows[ordered.argsort(stable=True)], torch.bincount(ordered, minlength=len(groups))


def _cuts(sizes: Tensor, batch_size: int) -> list[int]:
    """Where to cut so that each batch holds as many whole groups as fit."""
    ends = sizes.cumsum(0)
    cuts, start = [], 0
    while start < int(ends[-1]):
        fits = int(torch.searchsorted(ends, start + batch_size, right=True)) - 1
        start = int(ends[max(fits, 0)])
        cuts.append(start)
    return cuts[:-1]
