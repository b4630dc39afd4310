"""Who spoke for a label: the sources behind what is believed of an instance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.errors import refuse
from tacit.sources._fusion import Fused
from tacit.sources._numbers import check_range
from tacit.sources._voted import Voted
from tacit.sources._votes import Votes

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Advocate", "advocates"]


class Advocate(NamedTuple):
    """A source that speaks for a label.

    Attributes:
        source: Its number.
        strength: How strongly, in nats; of plain votes their weight.
        spoke: Whether it voted; False where its silence speaks for the label.
    """

    source: int
    strength: float
    spoke: bool


def advocates(belief: Voted | Fused | Votes, labels: Tensor) -> list[list[Advocate]]:
    """The sources that speak for a label of each instance, the strongest first.

        strength of source s for label l = w_s (log p_is(l) + log C)

    with p_is what the source alone makes one believe where all classes are equally common, so that
    a source which knows nothing has strength 0 for each of the C labels; w_s is its weight in a
    product, else 1. Those below 0 speak against the label, and are left out. Up to the shares of
    the classes and a constant the strengths of all sources add up to log p_i(l).

    Args:
        belief: About as many instances as are to be looked at: votes with the reliability of their
            sources, several beliefs in one, or votes that count the same.
        labels: The label of each instance that is asked about, `(instances,)`.

    Example:
        >>> from tacit.sources import with_accuracies
        >>> votes = Votes.from_matrix([[0, 1, 1]], n_classes=2, all_asked=False)
        >>> belief = with_accuracies(votes, [0.9, 0.6, 0.4])
        >>> for label in (0, 1):
        ...     (found,) = advocates(belief, torch.tensor([label]))
        ...     print([(source, round(strength, 2)) for source, strength, _ in found])
        [(0, 0.59), (2, 0.18)]
        [(1, 0.18)]
    """
    n_items = belief.n_items if isinstance(belief, Votes) else len(belief)
    if len(labels) != n_items:
        raise refuse(
            "labels",
            f"have one entry for each of the {n_items} instances",
            f"it has {len(labels)}",
            "pass the belief about the same instances: belief[rows]",
        )
    fix = "number the classes from 0"
    check_range(labels, "labels", "instance", 0, belief.n_classes, fix)
    if isinstance(belief, Fused):
        return _listed(*_of_parts(belief, labels))
    if isinstance(belief, Voted):
        return _listed(*_of_voted(belief, labels))
    strength = torch.where(belief.answer == labels[belief.item], belief.weight, 0.0)
    return _listed(n_items, belief.item, belief.source, strength, torch.ones_like(belief.item))


def _of_parts(belief: Fused, labels: Tensor) -> tuple[int, Tensor, Tensor, Tensor, Tensor]:
    """How strongly each part of a fused belief speaks for the labels."""
    if belief.how == "product":
        tables = belief.contributions(torch.float64).cpu()
    else:
        parts = [part.log_probabilities(torch.float64) for part in belief.parts.values()]
        tables = torch.stack(parts).cpu() + math.log(belief.n_classes)
    rows = torch.arange(len(labels))
    strength = tables[:, rows, labels].T
    source = torch.arange(len(tables)).repeat(len(labels))
    item = rows.repeat_interleave(len(tables))
    return len(labels), item, source, strength.flatten(), torch.ones_like(item)


def _of_voted(belief: Voted, labels: Tensor) -> tuple[int, Tensor, Tensor, Tensor, Tensor]:
    """How strongly each source speaks for the labels, by its votes or by its silence."""
    votes, said = belief.votes, belief.reliability.log().transpose(1, 2)
    silence = torch.zeros_like(said[:, 0])
    if said.shape[1] > belief.n_classes:
        silence = said[:, -1]
    pairs, place = (votes.item * votes.n_sources + votes.source).unique(return_inverse=True)
    item, source = pairs // votes.n_sources, pairs % votes.n_sources
    own = said[votes.source, votes.answer] - silence[votes.source]
    told = silence[source].index_add(0, place, own * votes.weight.unsqueeze(1))
    strength = _normalised(told).gather(1, labels[item].unsqueeze(1)).squeeze(1)
    spoke = torch.ones_like(item)
    if said.shape[1] > belief.n_classes:
        quiet = torch.ones(votes.n_items * votes.n_sources, dtype=torch.bool)
        quiet[pairs] = False
        more = quiet.nonzero().squeeze(1)
        item = torch.cat([item, more // votes.n_sources])
        source = torch.cat([source, more % votes.n_sources])
        by_silence = _normalised(silence)[source[len(pairs) :], labels[item[len(pairs) :]]]
        strength = torch.cat([strength, by_silence])
        spoke = torch.cat([spoke, torch.zeros_like(more)])
    return votes.n_items, item, source, strength, spoke


def _normalised(log_likelihood: Tensor) -> Tensor:
    """Log of what is believed by it alone, times C."""
    return log_likelihood.log_softmax(-1) + math.log(log_likelihood.shape[-1])


def _listed(
    n_items: int, item: Tensor, source: Tensor, strength: Tensor, spoke: Tensor
) -> list[list[Advocate]]:
    """Those that speak for a label, of each instance."""
    found: list[list[Advocate]] = [[] for _ in range(n_items)]
    order = strength.argsort(descending=True, stable=True)
    order = order[strength[order] > _NONE]
    columns = (each[order].tolist() for each in (item, source, strength, spoke))
    for row, who, much, loud in zip(*columns, strict=True):
        found[row].append(Advocate(who, much, bool(loud)))
    return found


_NONE = 1e-6
"""Strength that is rounding alone."""
