"""The area that a map is wanted of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.raster._extra import rasterio, shapely
from tacit.raster._vectors import described, moved, read_named, read_shapes
from tacit.table._errors import refused
from tacit.table._paths import located

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.raster._grid import Grid

__all__ = ["Area", "read_area", "read_areas"]


class Area(NamedTuple):
    """Polygons that say where a map is wanted.

    Attributes:
        name: The file that they are from.
        crs: Their system of coordinates.
        shape: All of them in one, a shape of shapely's.
    """

    name: str
    crs: Any
    shape: Any

    def to(self, crs: Any) -> Area:
        """The same in another system of coordinates.

        Args:
            crs: The system.
        """
        return Area(self.name, crs, moved(np.array([self.shape]), self.crs, crs)[0])

    def mask(self, grid: Grid) -> NDArray[np.bool_]:
        """Which pixels of a grid have their centre inside, `(height, width)`.

        Args:
            grid: The grid.
        """
        inside = rasterio.features.rasterize(
            [self.to(grid.crs).shape],
            out_shape=(grid.height, grid.width),
            transform=grid.transform,
            dtype="uint8",
        )
        return np.asarray(inside, bool)


def read_area(path: str | os.PathLike[str], *, layer: str | None = None) -> Area:
    """Read the polygons of an area of interest.

    Args:
        path: A GeoPackage, FlatGeobuf, Shapefile or GeoJSON.
        layer: Its layer, where it has several.

    Raises:
        InvalidInputError: If it has no polygons, or some that cross themselves.
    """
    place = located(path)
    crs, _ = described(place, layer)
    shapes = read_shapes(place, layer=layer)
    _check(place, shapes)
    return Area(str(place), crs, shapely.union_all(shapes))


def read_areas(
    path: str | os.PathLike[str], *, layer: str | None = None, names: str | None = None
) -> list[Area]:
    """Read polygons, each an area of its own.

    Args:
        path: A GeoPackage, FlatGeobuf, Shapefile or GeoJSON.
        layer: Its layer, where it has several.
        names: The column of their names; polygons of one name are one area. Unless given they are
            numbered from 1.

    Raises:
        InvalidInputError: If it has no polygons, or some that cross themselves, or no such column.
    """
    place = located(path)
    crs, _ = described(place, layer)
    shapes, named = read_named(place, layer, names)
    _check(place, shapes)
    return [
        Area(name, crs, shapely.union_all(shapes[named == name])) for name in dict.fromkeys(named)
    ]


def _check(place: Path, shapes: Any) -> None:
    """Refuse shapes that are no polygons, or none."""
    if not len(shapes):
        raise refused(place, "has no polygons", "draw the area that the map is wanted of")
    flat = np.isin(shapely.get_type_id(shapes), [3, 6])
    if not flat.all():
        kind = shapes[~flat][0].geom_type
        raise refused(place, f"holds a {kind}, not polygons alone", "draw the area as polygons")
    wrong = ~shapely.is_valid(shapes)
    if wrong.any():
        reason = shapely.is_valid_reason(shapes[wrong][0])
        fix = "mend it, as in: ogr2ogr -makevalid NEW FILE"
        raise refused(place, f"has a polygon that is not valid ({reason})", fix)
