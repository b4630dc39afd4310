"""Beliefs that learn along: what a collection's prediction makes of the one that was stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit._processes import share_first

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief
    from tacit.fitting._collection import Collection

__all__ = ["relearned"]


def relearned(
    collection: Collection, log_prediction: Tensor, *, rows: Tensor, n_strata: int = 1
) -> Belief:
    """The belief of a collection with what the prediction teaches it, on all processes the same.

    It is the belief as it was stated that is updated, once: what comes out is a function of q, and
    not of the updates before it.

    Args:
        collection: What is learned from, with its belief as it was stated.
        log_prediction: Log of q of the rows.
        rows: The instances that count, in whole groups, see `rows_that_count`; what is without
            weight teaches nothing.
        n_strata: Number of strata of the class mass.
    """
    belief, weight, strata = collection.belief, collection.weight, collection.strata
    counted = belief if len(rows) == len(belief) else belief[rows]
    updated = counted.updated(
        log_prediction,
        weight=None if weight is None else weight.cpu()[rows],
        strata=None if strata is None or n_strata == 1 else strata.cpu()[rows],
    )
    learned = {name: value.contiguous() for name, value in updated.learned().items()}
    share_first(learned.values())
    return belief.with_learned(learned)
