"""Mean and deviation of features, a part of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from tacit.errors import refuse
from tacit.fitting._collection import features_at

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Scale", "scale_of"]

_NUMBERS = 1 << 22
"""Numbers that are looked at at a time."""


class Scale(NamedTuple):
    """Mean and standard deviation of each feature, or of each channel of images."""

    mean: Tensor
    deviation: Tensor


def scale_of(features: Any, weight: Tensor | None = None) -> Scale:
    """Mean and deviation of the features of a collection.

    In two passes of sums in double precision, so that a large mean costs no digits of a small
    deviation. Features that vary by less than their precision count as constant: deviation 0.

    Args:
        features: `(instances, features)` or `(instances, channel, *)`, dense.
        weight: Weight of each instance, `(instances,)`.

    Returns:
        `(features,)` or `(channel, 1, ...)`, in the precision of the features.
    """
    n, *shape = features.shape
    axes = (0, *range(2, features.ndim))
    step = max(1, _NUMBERS // max(torch.Size(shape).numel(), 1))
    parts = [slice(start, start + step) for start in range(0, n, step)]
    whole = float(n if weight is None else weight.double().sum())

    def summed(offset: Tensor | float, power: int) -> Tensor:
        total = torch.zeros((), dtype=torch.float64)
        for part in parts:
            values = (_rows(features, part).double() - offset).pow(power)
            if weight is not None:
                values *= weight[part].double().view(-1, *[1] * len(shape)).to(values.device)
            total = total + values.sum(axes, keepdim=True)
        mean: Tensor = total / (whole * torch.Size(shape[1:]).numel())
        return mean

    mean = summed(0.0, 1)
    deviation = summed(mean, 2).sqrt()
    if not bool(deviation.isfinite().all()):
        raise refuse(
            "X",
            "hold numbers whose squares are finite",
            f"the largest is {max(float(_rows(features, part).abs().max()) for part in parts):g}",
            "bring the features to another unit, or take their logarithm",
        )
    first = _rows(features, slice(1))
    deviation = torch.where(deviation > _noise(first.dtype) * mean.abs(), deviation, 0.0)
    return Scale(mean[0].to(first), deviation[0].to(first))


def _noise(dtype: torch.dtype) -> float:
    """What rounding may make of a constant 1, in such numbers and in the sums above."""
    return 1e-12 if dtype == torch.float64 else 1e-6


def _rows(features: Any, part: slice) -> Tensor:
    return features_at(features, torch.arange(*part.indices(len(features))))
