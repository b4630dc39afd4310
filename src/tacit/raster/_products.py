"""What rasters of results hold, and how numbers are stored in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from tacit.errors import refuse
from tacit.raster._classes import colours_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Product", "class_product", "probability_product", "share_product"]

NO_CLASS: Final = 255
_STEPS: Final = 254
"""A byte holds shares in steps of 1/254; 255 is no-data."""

Stored = Literal["uint8", "float32"]


class Product(NamedTuple):
    """A raster of results.

    Attributes:
        name: Its name, which that of its file begins with.
        bands: What each band is.
        dtype: How numbers are stored: "uint8" or "float32".
        no_data: What is stored where nothing is known.
        scale: What a stored number is multiplied by.
        colours: The colour of each stored number, as red, green, blue and opacity.
        classes: The name of each class by its stored number.
    """

    name: str
    bands: tuple[str, ...]
    dtype: str
    no_data: float
    scale: float = 1.0
    colours: dict[int, tuple[int, int, int, int]] | None = None
    classes: dict[int, str] | None = None

    def stored(
        self, values: NDArray[np.floating] | NDArray[np.integer], known: NDArray[np.bool_]
    ) -> NDArray[np.uint8] | NDArray[np.float32]:
        """Numbers as they are stored.

        Args:
            values: `(band, height, width)`.
            known: Where they count, `(height, width)`.
        """
        if self.dtype == "float32":
            return np.where(known, values, np.float32(self.no_data)).astype(np.float32)
        steps = np.rint(values / self.scale).clip(0, _STEPS)
        return np.where(known, steps, self.no_data).astype(np.uint8)


def class_product(
    name: str,
    classes: Sequence[str],
    *,
    codes: Sequence[int] | None = None,
    colours: Sequence[tuple[int, int, int]] | None = None,
) -> Product:
    """A map of classes, with a table of colours.

    Args:
        name: Its name.
        classes: The names of the classes.
        codes: What stands for each, 0 to 254; from 0 in their order unless given.
        colours: The colour of each; those of public maps by their names unless given.
    """
    numbers = range(len(classes)) if codes is None else codes
    if not all(0 <= number <= _STEPS for number in numbers):
        got = f"there are {len(classes)} classes with codes up to {max(numbers)}"
        raise refuse("codes", "lie between 0 and 254", got, "number the classes otherwise")
    shown = colours or colours_of(classes)
    table = {code: (*colour, 255) for code, colour in zip(numbers, shown, strict=True)}
    named = dict(zip(numbers, classes, strict=True))
    return Product(
        name,
        ("class",),
        "uint8",
        NO_CLASS,
        colours={**table, NO_CLASS: (0, 0, 0, 0)},
        classes=named,
    )


def probability_product(name: str, classes: Sequence[str], stored: Stored = "uint8") -> Product:
    """The probability of each class, a band for each.

    Args:
        name: Its name.
        classes: The names of the classes.
        stored: "uint8", which is within 1/508 of the number, or "float32".
    """
    return _measured(name, tuple(classes), 1.0, stored)


def share_product(name: str, band: str, *, most: float = 1.0, stored: Stored = "uint8") -> Product:
    """One number of each pixel, such as the entropy in bits.

    Args:
        name: Its name.
        band: What the number is.
        most: The largest that it can be.
        stored: "uint8", in 254 steps, or "float32".
    """
    return _measured(name, (band,), most, stored)


def _measured(name: str, bands: tuple[str, ...], most: float, stored: Stored) -> Product:
    if stored == "float32":
        return Product(name, bands, stored, math.nan)
    if stored == "uint8":
        return Product(name, bands, stored, NO_CLASS, most / _STEPS)
    raise refuse("stored", "be uint8 or float32", f"it is {stored!r}", "pick one")
