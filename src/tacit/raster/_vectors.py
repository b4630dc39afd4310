"""Shapes from vector files, in any system of coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.errors import MissingExtraError
from tacit.raster._extra import rasterio, shapely
from tacit.table._errors import reading, refused

if TYPE_CHECKING:
    import os

__all__ = ["described", "moved", "pyogrio", "read_named", "read_shapes"]

_PIECES: Final = 64
"""Pieces that the longest edge of a file's extent is cut into before it is bent."""


def pyogrio() -> Any:
    """The library, which takes half a second to load."""
    try:
        import pyogrio
        import pyogrio.raw
    except ImportError as error:
        raise MissingExtraError(
            "vector files need the library pyogrio, which the extra `raster` brings: "
            "pip install 'tacit-learn[raster]'"
        ) from error
    return pyogrio


def described(
    path: str | os.PathLike[str], layer: str | None = None
) -> tuple[Any, tuple[float, float, float, float] | None]:
    """The system of coordinates of a vector file, and its bounds where it tells them.

    Refuses a file without a system of coordinates.
    """
    library = pyogrio()
    with reading(str(path), "a vector file"):
        found = library.read_info(path, layer=layer)
    if not found["crs"]:
        fix = "assign one, as in: ogr2ogr -a_srs EPSG:26918 NEW FILE"
        raise refused(str(path), "has no system of coordinates (CRS)", fix)
    return rasterio.crs.CRS.from_user_input(found["crs"]), found.get("total_bounds")


def read_shapes(
    path: str | os.PathLike[str],
    *,
    layer: str | None = None,
    bounds: tuple[float, float, float, float] | None = None,
) -> Any:
    """The shapes in a vector file as an array of shapely's, those without any left out.

    Args:
        path: A GeoPackage, FlatGeobuf, Shapefile or GeoJSON.
        layer: Its layer, where it has several.
        bounds: Only what touches these, in the file's coordinates.
    """
    library = pyogrio()
    with reading(str(path), "a vector file"):
        shapes = shapely.from_wkb(library.raw.read(path, layer=layer, bbox=bounds, columns=[])[2])
    return shapes[~(shapely.is_missing(shapes) | shapely.is_empty(shapes))]


def read_named(
    path: str | os.PathLike[str], layer: str | None, column: str | None
) -> tuple[Any, Any]:
    """The shapes in a vector file and the text in a column of each; numbers from 1 for None."""
    library = pyogrio()
    columns = [] if column is None else [column]
    with reading(str(path), "a vector file"):
        meta, _, shapes, fields = library.raw.read(path, layer=layer, columns=columns)
        shapes = shapely.from_wkb(shapes)
    if column is not None and column not in meta["fields"]:
        raise refused(str(path), f"has no column `{column}`", "name the column of names")
    values = range(1, len(shapes) + 1) if column is None else fields[0]
    there = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    return shapes[there], np.array([str(value) for value in values], object)[there]


def moved(shapes: Any, crs: Any, other: Any) -> Any:
    """Shapes in another system of coordinates; long edges bend as they should."""
    if crs == other or not len(shapes):
        return shapes
    west, south, east, north = shapely.total_bounds(shapes)
    longest = max(east - west, north - south) / _PIECES
    fine = shapely.segmentize(shapes, longest) if longest > 0 else shapes

    def move(points: Any) -> Any:
        x, y = rasterio.warp.transform(crs, other, points[:, 0], points[:, 1])[:2]
        return np.column_stack([x, y])

    return shapely.transform(fine, move)
