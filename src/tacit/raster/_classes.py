"""Classes of public land-cover maps: their codes, names and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CHESAPEAKE", "ENVIROATLAS", "NLCD", "ClassTable", "colours_of"]


class ClassTable(NamedTuple):
    """The classes of a map.

    Attributes:
        codes: What stands in the raster for each class.
        names: Their names.
        colours: Red, green and blue of each, 0 to 255.
    """

    codes: tuple[int, ...]
    names: tuple[str, ...]
    colours: tuple[tuple[int, int, int], ...]


def _table(*rows: tuple[int, str, str]) -> ClassTable:
    """A table from codes, names and colours in hexadecimal."""
    codes, names, colours = zip(*rows, strict=True)
    return ClassTable(codes, names, tuple(_rgb(colour) for colour in colours))


def _rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text)
    return red, green, blue


NLCD: Final = _table(
    (11, "open water", "486da2"),
    (12, "perennial ice and snow", "e7effc"),
    (21, "developed, open space", "e1cdce"),
    (22, "developed, low intensity", "dc9881"),
    (23, "developed, medium intensity", "f10100"),
    (24, "developed, high intensity", "ab0101"),
    (31, "barren land", "b3afa4"),
    (41, "deciduous forest", "6ca966"),
    (42, "evergreen forest", "1d6533"),
    (43, "mixed forest", "bdcc93"),
    (51, "dwarf scrub", "af963c"),
    (52, "shrub and scrub", "d1bb82"),
    (71, "grassland", "edeccd"),
    (72, "sedge", "d0d181"),
    (73, "lichens", "a4cc51"),
    (74, "moss", "82ba9d"),
    (81, "pasture and hay", "ddd83e"),
    (82, "cultivated crops", "ae7229"),
    (90, "woody wetlands", "bbd7ed"),
    (95, "emergent herbaceous wetlands", "71a4c1"),
)
"""The National Land Cover Database of the United States, 30 m; 51 and 72 to 74 in Alaska alone."""

CHESAPEAKE: Final = _table(
    (1, "water", "0127ff"),
    (2, "tree canopy", "33a02c"),
    (3, "low vegetation", "7eed0e"),
    (4, "barren", "b39f7a"),
    (5, "impervious surface", "ff0101"),
    (6, "road", "4d4d4d"),
)
"""The Chesapeake Conservancy's land cover of 2013/14, 1 m."""

ENVIROATLAS: Final = _table(
    (10, "water", "4a6fe3"),
    (20, "impervious", "b5b5b5"),
    (30, "soil and barren", "c8a778"),
    (40, "trees and forest", "1f7a36"),
    (52, "shrubs", "a6a63c"),
    (70, "grass and herbaceous", "a5e065"),
    (80, "agriculture", "f2e55c"),
    (82, "orchards", "b88a3e"),
    (91, "woody wetlands", "6fb7b2"),
    (92, "emergent wetlands", "8fd3e8"),
)
"""EnviroAtlas' land cover of cities in the United States, 1 m; colours are tacit's own."""

_OTHERS: Final = (
    *((31, 120, 180), (51, 160, 44), (178, 223, 138), (202, 178, 214), (227, 26, 28)),
    *((255, 127, 0), (106, 61, 154), (255, 255, 153), (166, 206, 227), (177, 89, 40)),
)
"""ColorBrewer's for paired classes."""


def colours_of(names: Sequence[str]) -> list[tuple[int, int, int]]:
    """A colour for each class: that of the public map that has one of this name, or any.

    Args:
        names: The names of the classes.

    Example:
        >>> colours_of(["martian dust", "tree canopy"])
        [(31, 120, 180), (51, 160, 44)]
    """
    known: dict[str, tuple[int, int, int]] = {}
    for table in (NLCD, ENVIROATLAS, CHESAPEAKE):
        known.update(zip(table.names, table.colours, strict=True))
    return [known.get(name, _OTHERS[place % len(_OTHERS)]) for place, name in enumerate(names)]
