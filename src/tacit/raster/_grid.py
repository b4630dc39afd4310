"""The grid of pixels that a map is made on, and the fixed windows it is cut into."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.errors import refuse
from tacit.raster._extra import rasterio
from tacit.raster._open import opened
from tacit.table._errors import refused

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from tacit.raster._area import Area

__all__ = ["Grid", "Tile", "bounds_in"]

_NEARLY = 1e-6
"""Of a pixel: what rounding may do to a coordinate."""


class Tile(NamedTuple):
    """A window of a grid, one of those that all computing is done in.

    All windows of a grid have one shape; the last ones of rows and columns reach beyond the grid.

    Attributes:
        row: Its number from the top.
        column: Its number from the left.
        top: Pixels of the grid above it.
        left: Pixels of the grid left of it.
        size: Its height and width in pixels.
        height: How many of its rows lie within the grid.
        width: How many of its columns do.
    """

    row: int
    column: int
    top: int
    left: int
    size: int
    height: int
    width: int


class Grid(NamedTuple):
    """A grid of pixels in the world.

    Attributes:
        crs: Its system of coordinates, as rasterio has it.
        transform: From pixels, `(column, row)`, to coordinates; the axes are those of the map.
        height: Number of rows.
        width: Number of columns.
    """

    crs: Any
    transform: Any
    height: int
    width: int

    @classmethod
    def of(cls, imagery: Sequence[str | os.PathLike[str]], *, area: Area | None = None) -> Grid:
        """The grid of imagery: pixels of the first file, and the extent of all of them.

        Args:
            imagery: GeoTIFFs, or whatever else GDAL reads, of one mosaic.
            area: Where the map is wanted; the grid shrinks to the pixels around it.

        Raises:
            InvalidInputError: If a file cannot be used, or the area lies elsewhere.
        """
        if not imagery:
            raise refuse("imagery", "name at least one file", "it is empty", "pass a GeoTIFF")
        with opened(imagery[0]) as first:
            if first.transform.a <= 0 or first.transform.e >= 0:
                fix = "warp it to a map that shows north at the top, as gdalwarp does"
                raise refused(str(imagery[0]), "is upside down or mirrored", fix)
            crs, transform = first.crs, first.transform
        extents = [_extent(path, crs, transform) for path in imagery]
        box = _joined(extents)
        if area is not None:
            box = _cut(box, area, crs, transform)
        left, top, right, bottom = box
        return cls(
            crs, transform @ type(transform).translation(left, top), bottom - top, right - left
        )

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north edge, in the grid's coordinates."""
        west, north = self.transform @ (0, 0)
        east, south = self.transform @ (self.width, self.height)
        return west, south, east, north

    def tiles(self, size: int) -> list[Tile]:
        """The windows of the grid, row by row.

        Args:
            size: Height and width of each.
        """
        return [
            Tile(
                row,
                column,
                row * size,
                column * size,
                size,
                min(size, self.height - row * size),
                min(size, self.width - column * size),
            )
            for row in range(-(-self.height // size))
            for column in range(-(-self.width // size))
        ]

    def around(self, tile: Tile, border: int) -> Grid:
        """The grid of a window with pixels on each side.

        Args:
            tile: The window.
            border: Pixels on each side, which may lie beyond the grid.
        """
        move = type(self.transform).translation(tile.left - border, tile.top - border)
        wide = tile.size + 2 * border
        return Grid(self.crs, self.transform @ move, wide, wide)


def bounds_in(
    crs: Any, bounds: tuple[float, float, float, float], other: Any
) -> tuple[float, float, float, float]:
    """Bounds in another system of coordinates: those of the bent box."""
    if crs == other:
        return bounds
    west, south, east, north = rasterio.warp.transform_bounds(crs, other, *bounds, densify_pts=21)
    return west, south, east, north


def _extent(path: str | os.PathLike[str], crs: Any, transform: Any) -> tuple[int, int, int, int]:
    """The pixels that a file covers, as left, top, right and bottom."""
    with opened(path) as dataset:
        return pixels_of(bounds_in(dataset.crs, tuple(dataset.bounds), crs), transform)


def pixels_of(bounds: Sequence[float], transform: Any) -> tuple[int, int, int, int]:
    """The pixels that bounds touch, as left, top, right and bottom."""
    west, south, east, north = bounds
    left, top = ~transform @ (west, north)
    right, bottom = ~transform @ (east, south)
    return (
        math.floor(left + _NEARLY),
        math.floor(top + _NEARLY),
        math.ceil(right - _NEARLY),
        math.ceil(bottom - _NEARLY),
    )


def _joined(boxes: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def _cut(
    box: tuple[int, int, int, int], area: Area, crs: Any, transform: Any
) -> tuple[int, int, int, int]:
    """The part of a box that an area touches."""
    wanted = pixels_of(area.to(crs).shape.bounds, transform)
    left, top = max(box[0], wanted[0]), max(box[1], wanted[1])
    right, bottom = min(box[2], wanted[2]), min(box[3], wanted[3])
    if left >= right or top >= bottom:
        raise refused(
            area.name,
            "lies outside the imagery",
            "name an area and imagery that overlap, and check their systems of coordinates",
        )
    return left, top, right, bottom
