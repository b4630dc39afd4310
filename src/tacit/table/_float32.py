"""Arrays as features: float32, finite, images on a scale from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.table._errors import refused
from tacit.table._memory import room, slabs
from tacit.table._numbers import Inspector, narrowed

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["brightest", "features_of", "stored"]

_SHAPES: Final = {
    2: "(rows, features)",
    3: "(rows, height, width)",
    4: "(rows, channel, height, width)",
}


def features_of(array: NDArray[Any], path: Path) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """An array as features, and what is odd about it; the array itself if it can be."""
    _check_shape(array.shape, path)
    _check_kind(array, path)
    kept = array.dtype == np.float32 and array.flags.c_contiguous
    values = array if kept else room(path, array.shape)
    inspector = Inspector(path)
    for rows in slabs(len(array), array[0].size):
        source = array[rows]
        if not kept:
            stored(source, values[rows])
        inspector.look(values[rows], lambda *place, at=source: float(at[place]))
    return values[:, None] if values.ndim == 3 else values, inspector.notes()


def stored(source: NDArray[Any], into: NDArray[np.float32]) -> None:
    """Store numbers as float32; pixels of images, which have more than two axes, are scaled."""
    narrowed(source, into)
    if source.ndim > 2 and (scale := brightest(source.dtype) or 1) > 1:
        into /= scale


def brightest(kind: np.dtype[Any]) -> int | None:
    """What is 1 on the scale of pixels; None for numbers that are no pixels.

    Example:
        >>> brightest(np.dtype("uint8")), brightest(np.dtype("float64"))
        (255, 1)
    """
    if kind.kind == "u" and kind.itemsize <= 2:
        return int(np.iinfo(kind).max)
    return 1 if kind.kind in "fb" else None


def _check_shape(shape: tuple[int, ...], path: Path) -> None:
    if len(shape) not in _SHAPES:
        raise refused(
            path, f"holds an array of shape {shape}", f"save one of {', '.join(_SHAPES.values())}"
        )
    if 0 in shape:
        raise refused(
            path,
            f"holds an empty array: its shape {_SHAPES[len(shape)]} is {shape}",
            "save at least one row with one feature",
        )


def _check_kind(array: NDArray[Any], path: Path) -> None:
    if array.dtype.kind not in "fiub":
        raise refused(
            path, f"holds {array.dtype}, and features are numbers", "convert it to float32"
        )
    if array.ndim > 2 and brightest(array.dtype) is None:
        raise refused(
            path,
            f"holds images of {array.dtype}, whose scale nobody knows",
            "save bytes, 16 bits without sign, or floating-point numbers",
        )
