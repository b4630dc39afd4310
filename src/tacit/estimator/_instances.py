"""What is said of the same instances: features, beliefs, weights and strata, checked together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.utils.validation import _check_sample_weight

from tacit.errors import refuse
from tacit.fitting import Collection

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["check_length", "collected", "weights_of"]


def collected(features: Any, belief: Belief, sample_weight: Any, strata: Any) -> Collection:
    """One collection of what an estimator was given.

    Args:
        features: As read.
        belief: As read.
        sample_weight: Weight of each instance, or None.
        strata: Stratum of each instance, or None.
    """
    n_instances = int(features.shape[0])
    check_length("y", len(belief), n_instances)
    return Collection(
        features,
        belief,
        weight=None if sample_weight is None else weights_of(sample_weight, features),
        strata=None if strata is None else _strata(strata, n_instances),
    )


def check_length(argument: str, length: int, n_instances: int) -> None:
    """Refuse what speaks of another number of instances than the features do."""
    if length != n_instances:
        raise refuse(
            argument,
            f"speak of each of the {n_instances} instances of X",
            f"it speaks of {length}",
            "pass one entry for each row of X, in the same order",
        )


def weights_of(sample_weight: Any, features: Any) -> Tensor:
    """Weights as a tensor: finite, none negative, one at least above 0."""
    with np.errstate(over="ignore"):  # what becomes infinite is refused below
        weight = torch.from_numpy(
            _check_sample_weight(
                sample_weight, features, dtype=np.float32, ensure_non_negative=True
            )
        )
    if not bool(weight.any()) or not bool(weight.sum().isfinite()):
        raise refuse(
            "sample_weight",
            "add up to a number above 0 that single precision can hold",
            f"the sum is {float(weight.sum())}",
            "leave it out for equal weights, or scale it",
        )
    return weight


def _strata(strata: Any, n_instances: int) -> Tensor:
    numbers = np.asarray(strata.cpu() if isinstance(strata, torch.Tensor) else strata)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        raise refuse(
            "strata",
            "be whole numbers, one for each instance",
            f"it is {numbers.dtype} with shape {numbers.shape}",
            "number the strata from 0",
        )
    check_length("strata", len(numbers), n_instances)
    if numbers.min() < 0:
        row = int(numbers.argmin())
        raise refuse(
            "strata",
            "be numbered from 0",
            f"row {row} holds {numbers[row]}",
            "number the strata from 0",
        )
    return torch.from_numpy(numbers.astype(np.int64))
