"""What beliefs are worth before anything is learned from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.beliefs import Independent
from tacit.diagnostics._entropy import entropy as row_entropy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["Appraisal", "appraised", "mean_entropy"]

_NUMBERS = 1 << 22
"""Numbers that are looked at at a time."""
_EVEN = 1e-6
"""Marginals that differ by less than this part of 1/C say nothing."""


class Appraisal(NamedTuple):
    """What beliefs say, each instance taken by itself.

    Attributes:
        entropy: Mean entropy of the marginals, in nats.
        bits: Mean information of the marginals, log2 C less their entropy in bits: 0 where nothing
            is known, log2 C where the label is.
        n_open: Instances whose classes are all equally likely.
        n_certain: Instances whose label is known.
        balance: Mean marginal of each class.
        unmentioned: Classes that are impossible everywhere.
        blocks: The other classes, in blocks: of every instance it is known which block its label is
            in, and no two blocks can be made of one. One block where instances stand in groups,
            whose labels are compared.
    """

    entropy: float
    bits: float
    n_open: int
    n_certain: int
    balance: tuple[float, ...]
    unmentioned: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]


def appraised(belief: Belief) -> Appraisal:
    """Say what beliefs are worth; joint ones, such as pairs, may know more than their marginals.

    Example:
        >>> from tacit.beliefs import Candidates
        >>> worth = appraised(Candidates([[0, 1], [1], [0, 1, 2, 3]], n_classes=4))
        >>> round(worth.bits, 6), worth.n_open, worth.n_certain, worth.unmentioned
        (1.0, 1, 1, ())
        >>> appraised(Candidates([[0, 3], [1, 2], [3]], n_classes=4)).blocks
        ((0, 3), (1, 2))
    """
    n, n_classes = max(len(belief), 1), belief.n_classes
    entropy, n_open, n_certain = 0.0, 0, 0
    balance, block = torch.zeros(n_classes, dtype=torch.float64), torch.arange(n_classes)
    if not isinstance(belief, Independent):
        block.zero_()
    for p in _marginals(belief):
        entropy += float(row_entropy(p).sum())
        n_open += int((p.amax(-1) - p.amin(-1) <= _EVEN / n_classes).sum())
        n_certain += int((p.amax(-1) >= 1 - _EVEN).sum())
        balance += p.sum(0).cpu()
        block = _joined(block, p)
    return Appraisal(
        entropy=entropy / n,
        bits=(math.log(n_classes) - entropy / n) / math.log(2),
        n_open=n_open,
        n_certain=n_certain,
        balance=tuple((balance / n).tolist()),
        unmentioned=tuple((balance == 0).nonzero().squeeze(1).tolist()),
        blocks=_blocks(block, balance > 0),
    )


def mean_entropy(probabilities: Tensor) -> float:
    """Mean entropy of rows of probabilities, in nats.

    Args:
        probabilities: `(instances, class)`.

    Example:
        >>> round(mean_entropy(torch.tensor([[0.5, 0.5], [1.0, 0.0]])) / math.log(2), 6)
        0.5
    """
    step = max(1, _NUMBERS // max(probabilities.shape[-1], 1))
    total = sum(float(row_entropy(part.double()).sum()) for part in probabilities.split(step))
    return total / max(len(probabilities), 1)


def _marginals(belief: Belief) -> Iterator[Tensor]:
    """In double precision, a part at a time where instances stand alone."""
    step = max(1, _NUMBERS // belief.n_classes)
    if not isinstance(belief, Independent):
        step = max(len(belief), 1)
    for start in range(0, len(belief), step):
        yield belief[start : start + step].marginals(torch.float64)


def _joined(block: Tensor, p: Tensor) -> Tensor:
    """The block of each class, `(class,)`, after those that a row of p allows together are joined.

    Args:
        block: Before.
        p: Marginals, `(instances, class)`.
    """
    if bool((block == block[0]).all()):
        return block
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Whatever a row allows is linked to the first class that it allows, and so to each other.
    allowed = (p > 0).cpu()
    row, label = allowed.nonzero(as_tuple=True)
    first = allowed.byte().argmax(1)[row]
    link = (first * len(block) + label).unique()
    ends = (block[link // len(block)].numpy(), block[link % len(block)].numpy())
    graph = coo_array((torch.ones(len(link)).numpy(), ends), (len(block), len(block)))
    number = torch.from_numpy(connected_components(graph, directed=False)[1]).long()
    return number[block]


def _blocks(block: Tensor, mentioned: Tensor) -> tuple[tuple[int, ...], ...]:
    """The classes of each block, those left out that no row allows."""
    found: dict[int, list[int]] = {}
    for label in mentioned.nonzero().flatten().tolist():
        found.setdefault(int(block[label]), []).append(label)
    return tuple(map(tuple, found.values()))
