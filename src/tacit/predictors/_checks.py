"""What predictors ask of their settings and of the features that they are given."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tacit.errors import refuse

if TYPE_CHECKING:
    from typing import SupportsIndex

__all__ = ["check_counts", "check_pixels", "check_raster", "check_rows", "check_size", "check_type"]


def check_counts(**counts: SupportsIndex) -> list[int]:
    """The settings, given by their names, as plain integers; refuse the first that is below 1.

    Whole numbers of numpy are taken as well: a count of classes often is one.
    """
    for name, count in counts.items():
        if isinstance(count, bool) or not hasattr(count, "__index__") or index(count) < 1:
            raise refuse(
                name, "be a whole number of at least 1", f"it is {count!r}", "pass how many"
            )
    return [index(count) for count in counts.values()]


def check_size(size: tuple[int, int]) -> tuple[int, int]:
    """Height and width as plain integers; refuse what is not two numbers of at least 1."""
    if not isinstance(size, list | tuple) or len(size) != 2:
        raise refuse(
            "size",
            "be the height and the width of an image",
            f"it is {size!r}",
            "pass two numbers, for example (28, 28)",
        )
    height, width = check_counts(**{"size[0]": size[0], "size[1]": size[1]})
    return height, width


def check_rows(features: Tensor, n_features: int) -> None:
    """Refuse features that are not `(N, n_features)`."""
    if features.ndim != 2 or features.shape[1] != n_features:
        raise refuse(
            "features",
            f"be shaped (N, {n_features})",
            f"it has shape {tuple(features.shape)}",
            "give one row to each instance, or build a predictor for these features",
        )


def check_raster(
    features: Tensor,
    n_channels: int,
    size: tuple[int, int] | None = None,
    *,
    fix: str = "put the channels before the rows and columns, or build a predictor for this shape",
) -> None:
    """Refuse features that are not `(N, n_channels, H, W)`, or not of the given size."""
    height, width = ("H", "W") if size is None else size
    fits = features.ndim == 4 and features.shape[1] == n_channels and min(features.shape[2:]) > 0
    if not fits or (size is not None and tuple(features.shape[2:]) != size):
        raise refuse(
            "features",
            f"be shaped (N, {n_channels}, {height}, {width})",
            f"it has shape {tuple(features.shape)}",
            fix,
        )


def check_type(features: Tensor, weight: Tensor) -> None:
    """Refuse features that are no tensor, or whose type neither is the weights' nor gets cast."""
    if not isinstance(features, Tensor):
        raise refuse(
            "features",
            "be a tensor",
            f"it is a {type(features).__name__}",
            "convert it, for example by torch.as_tensor",
        )
    if not features.is_floating_point():
        raise refuse(
            "features",
            "be floating-point numbers",
            f"its type is {features.dtype}",
            "convert it, and scale it to about -1 to 1 (divide 8-bit pixels by 255)",
        )
    if features.dtype != weight.dtype and not _is_cast(features, weight):
        raise refuse(
            "features",
            f"have the type of the predictor's weights, {weight.dtype}",
            f"its type is {features.dtype}",
            "convert one of them, for example by features.to(weight.dtype) or predictor.double()",
        )


def _is_cast(features: Tensor, weight: Tensor) -> bool:
    """Whether autocast brings both to one type, which it does not do to float64 or sparse ones."""
    return (
        torch.is_autocast_enabled(features.device.type)
        and features.layout == torch.strided
        and torch.float64 not in (features.dtype, weight.dtype)
    )


def check_pixels(features: Tensor, *, training: bool) -> None:
    """Refuse to train batch normalisation on one pixel, whose variance says nothing."""
    if training and features.shape[0] * features.shape[2] * features.shape[3] == 1:
        raise refuse(
            "features",
            "hold at least two pixels in training, which batch normalisation needs",
            f"it has shape {tuple(features.shape)}",
            "pass larger patches or more of them, or call .eval() to predict only",
        )
