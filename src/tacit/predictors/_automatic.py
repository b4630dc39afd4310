"""A sensible predictor for data of a given shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.errors import refuse
from tacit.predictors._checks import check_counts
from tacit.predictors._fcn import FCN
from tacit.predictors._linear import Linear
from tacit.predictors._perceptron import Perceptron
from tacit.predictors._pooled_cnn import PooledCNN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Generator, nn

    from tacit.errors import InvalidInputError

__all__ = ["predictor_for"]

WIDE: Final = 10_000
"""Features beyond which a vector is taken for counts of words or the like. There a linear map is
hard to beat, and a hidden layer of 128 units would have more than a million weights."""

LARGE: Final = 96
"""Side beyond which an image is no small one: what it shows then takes more than the five stages of
`PooledCNN` to tell, and a pretrained network does better."""

_MOST_COLOURS: Final = 4


def predictor_for(
    shape: Sequence[int],
    n_classes: int,
    *,
    per_pixel: bool = False,
    sparse: bool = False,
    generator: Generator | None = None,
) -> nn.Module:
    """The predictor that suits features of a given shape.

    | shape of an instance | labels | predictor |
    |---|---|---|
    | `(n_features,)`, dense, up to 10,000 | one | `Perceptron` |
    | `(n_features,)`, sparse or wider | one | `Linear` |
    | `(C, H, W)`, sides up to 96 | one | `PooledCNN` |
    | `(C, H, W)` | one per pixel | `FCN` |

    Args:
        shape: Shape of one instance, or of one raster where each pixel has a label; the axis of
            the batch is left out.
        n_classes: Number of classes.
        per_pixel: Whether each pixel has a label.
        sparse: Whether the features are a sparse table.
        generator: Source of the first weights, and with it their device; None is a new generator
            with seed 0, so that building twice gives the same. The global random state is not used.

    Returns:
        The predictor, with the defaults of its class.

    Raises:
        InvalidInputError: If no predictor fits the shape, or a number is below 1.

    Example:
        >>> type(predictor_for((64,), 10)).__name__
        'Perceptron'
        >>> type(predictor_for((1, 28, 28), 10)).__name__
        'PooledCNN'
        >>> type(predictor_for((4, 128, 128), 5, per_pixel=True)).__name__
        'FCN'
    """
    if not isinstance(shape, list | tuple):
        raise refuse(
            "shape",
            "be the lengths of an instance's axes",
            f"it is {shape!r}",
            "pass for example (64,), or features.shape[1:]",
        )
    n_classes, *shape = check_counts(
        n_classes=n_classes, **{f"shape[{axis}]": length for axis, length in enumerate(shape)}
    )
    if len(shape) == 1 and not per_pixel:
        kind = Linear if sparse or shape[0] > WIDE else Perceptron
        return kind(shape[0], n_classes, generator=generator)
    if len(shape) != 3 or sparse:
        raise _misfit(shape, _advice(shape, per_pixel=per_pixel))
    n_channels, height, width = shape
    if width <= _MOST_COLOURS < min(n_channels, height):
        raise _misfit(shape, "if its last axis holds the channels, put that axis first")
    if per_pixel:
        return FCN(n_channels, n_classes, generator=generator)
    if max(height, width) > LARGE:
        raise _misfit(
            shape, f"shrink the images to at most {LARGE} x {LARGE}, or pass a network of your own"
        )
    return PooledCNN(n_channels, (height, width), n_classes, generator=generator)


def _advice(shape: Sequence[int], *, per_pixel: bool) -> str:
    if len(shape) == 2:
        return f"if it is an image without channels, make it (1, {shape[0]}, {shape[1]})"
    if len(shape) == 1 and per_pixel:
        return "pass per_pixel=False where an instance is a row with one label"
    return "flatten the features of an instance, or pass a network of your own"


def _misfit(shape: Sequence[int], fix: str) -> InvalidInputError:
    return refuse(
        "shape",
        "be that of a vector (n_features,), a small image (C, H, W) with one label, or a raster "
        "(C, H, W) with a label per pixel",
        f"it is {tuple(shape)}",
        fix,
    )
