"""Which sources meet: groups of them that no instance connects cannot be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.sources._votes import Votes

__all__ = ["SourceGroup", "grouped"]


class SourceGroup(NamedTuple):
    """Sources that are connected by the instances that they vote on.

    Attributes:
        sources: Their numbers, in ascending order.
        n_items: Number of instances that they vote on.
    """

    sources: tuple[int, ...]
    n_items: int


def grouped(votes: Votes) -> list[SourceGroup]:
    """Sources by which of them can be compared: groups that no instance connects, largest first.

    Two sources meet where both vote on an instance, and whoever meets a third is connected by it.
    What votes tell of reliabilities holds within a group: no source of one corrects one of another,
    and if all of a group swap two classes, nothing shows it. Sources that never vote are in none.

    Args:
        votes: What was said.

    Example:
        >>> from tacit.sources import Votes
        >>> votes = Votes.from_lists([0, 0, 1, 1, 2], [0, 1, 1, 2, 3], [0, 0, 1, 1, 0])
        >>> grouped(votes)
        [SourceGroup(sources=(0, 1, 2), n_items=2), SourceGroup(sources=(3,), n_items=1)]
    """
    of_source, of_item = _components(votes)
    heard = votes.source.unique()
    size = torch.bincount(of_item[votes.item.unique()]).tolist()
    members: dict[int, list[int]] = {}
    for source, group in zip(heard.tolist(), of_source[heard].tolist(), strict=True):
        members.setdefault(group, []).append(source)
    found = [SourceGroup(tuple(own), size[group]) for group, own in members.items()]
    return sorted(found, key=lambda group: -group.n_items)


def _components(votes: Votes) -> tuple[Tensor, Tensor]:
    """The number of the component that each source and each instance is in."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_nodes = votes.n_sources + votes.n_items
    ends = (votes.source.numpy(), votes.n_sources + votes.item.numpy())
    graph = coo_array((torch.ones(len(votes)).numpy(), ends), (n_nodes, n_nodes))
    number = torch.from_numpy(connected_components(graph, directed=False)[1]).long()
    return number[: votes.n_sources], number[votes.n_sources :]
