"""What a run learns from: features, and what is believed about their labels."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tacit.beliefs import Belief
from tacit.errors import refuse
from tacit.objectives._diagnosis import check_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Collection", "Features", "features_at", "sample_shape"]

Features = Any
"""A tensor, a numpy array (memory-mapped or not), or a scipy sparse matrix; one row each."""


class Collection:
    """Features and a belief about the same instances, in the same order.

    Args:
        features: `(instances, ...)`: a tensor, a numpy array, which may be a memory map, or a scipy
            sparse matrix. Floating-point numbers.
        belief: What is known about their labels.
        weight: Weight of each instance, `(instances,)`; 0 leaves it out.
        strata: Stratum of each instance, where the objective's class mass has several: whole
            numbers from 0.

    Raises:
        InvalidInputError: If they do not speak of the same number of instances, or a weight or a
            stratum is none.
    """

    def __init__(
        self,
        features: Features,
        belief: Belief,
        *,
        weight: Tensor | None = None,
        strata: Tensor | None = None,
    ) -> None:
        n_instances = int(features.shape[0])
        if n_instances == 0:
            raise refuse("features", "hold at least one instance", "it is empty", "pass some")
        _check_belief(belief, n_instances)
        # Of scipy's matrices only those by row give rows.
        self.features = features.tocsr() if is_sparse(features) else features
        self.belief = belief
        self.weight = _per_instance("weight", weight, n_instances)
        self.strata = _per_instance("strata", strata, n_instances)
        _check_weight(self.weight)
        _check_strata(self.strata)

    def __len__(self) -> int:
        return len(self.belief)

    def about(self, belief: Belief) -> Collection:
        """The same instances with another belief about them."""
        _check_belief(belief, len(self))
        other = copy.copy(self)
        other.belief = belief
        return other


def _check_belief(belief: object, n_instances: int) -> None:
    if not isinstance(belief, Belief):
        raise refuse(
            "belief",
            "be one of tacit.beliefs",
            f"it is a {type(belief).__name__}",
            "wrap a matrix of probabilities, as in Categorical(probabilities)",
        )
    if len(belief) != n_instances:
        raise refuse(
            "belief",
            f"cover the {n_instances} instances of the features",
            f"it covers {len(belief)}",
            "state a belief about each row, in the same order",
        )


def _per_instance(name: str, values: Any, n_instances: int) -> Tensor | None:
    if values is None:
        return None
    table = torch.as_tensor(values)
    if tuple(table.shape) != (n_instances,):
        raise refuse(
            name,
            f"have one entry for each of the {n_instances} instances",
            f"its shape is {tuple(table.shape)}",
            "pass a tensor (instances,)",
        )
    return table


def _check_weight(weight: Tensor | None) -> None:
    check_weight(weight)
    if weight is not None and not bool((weight > 0).any()):
        raise refuse("weight", "be above 0 somewhere", "all are 0", "leave it out for equal ones")


def _check_strata(strata: Tensor | None) -> None:
    if strata is None:
        return
    if strata.is_floating_point() or strata.dtype == torch.bool or bool((strata < 0).any()):
        raise refuse(
            "strata",
            "be whole numbers from 0",
            f"it is {strata.dtype}" + ("" if strata.is_floating_point() else " or below 0"),
            "number the strata 0, 1, ...",
        )


def sample_shape(features: Features) -> tuple[int, ...]:
    """Shape of one instance."""
    return tuple(int(side) for side in features.shape[1:])


def is_sparse(features: Features) -> bool:
    """Whether features are a scipy sparse matrix."""
    return hasattr(features, "tocsr") and not isinstance(features, Tensor)


def features_at(features: Features, rows: Tensor) -> Tensor:
    """Some rows of the features, as a tensor where the features are."""
    if isinstance(features, Tensor):
        return features.index_select(0, rows.to(features.device))
    if is_sparse(features):
        return _from_scipy(features, rows)
    taken: NDArray[Any] = features[rows.numpy()]
    return torch.from_numpy(taken)


def _from_scipy(features: Any, rows: Tensor) -> Tensor:
    part = features[rows.numpy()].tocoo()
    index = torch.stack([torch.from_numpy(part.row).long(), torch.from_numpy(part.col).long()])
    values = torch.from_numpy(part.data)
    return torch.sparse_coo_tensor(
        index, values, size=part.shape, is_coalesced=True, check_invariants=False
    )
