"""Layers of single things (roads, buildings, water), from rasters or vectors, by window."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

import numpy as np

from tacit.errors import refuse
from tacit.raster._extra import rasterio, shapely
from tacit.raster._grid import bounds_in
from tacit.raster._raster import Raster
from tacit.raster._vectors import described, moved, read_shapes
from tacit.sources import Layer
from tacit.table._errors import did_you_mean, refused
from tacit.table._paths import located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.raster._grid import Grid, Tile

__all__ = ["LayerFile", "Layers"]

_VECTORS: Final = (".gpkg", ".fgb", ".shp", ".geojson", ".json")


class LayerFile(NamedTuple):
    """A file that shows where something is, and the class that it speaks for.

    Attributes:
        path: A raster, whose first band is not 0 where it is; or a vector file (GeoPackage,
            FlatGeobuf, Shapefile, GeoJSON), whose shapes cover all pixels that they touch.
        supports: The name of the class.
        weight: As for `tacit.sources.Layer`, like `sigma` and `how`.
        sigma: Standard deviation of its blur, in pixels of the map.
        how: "product" or "sum".
        layer: Of a vector file, its layer, where it has several.
    """

    path: str
    supports: str
    weight: float = 10.0
    sigma: float = 2.0
    how: Literal["product", "sum"] = "product"
    layer: str | None = None

    @property
    def is_vector(self) -> bool:
        """Whether it is read as shapes."""
        return Path(self.path).suffix.lower() in _VECTORS

    @property
    def reach(self) -> int:
        """Pixels on each side that its blur looks at."""
        return Layer(np.zeros((1, 1)), 0, 1.0, self.sigma).reach


class Layers:
    """Files of layers, open; see `LayerFile`.

    Args:
        files: The files.
        grid: The grid of the map.
        classes: The names of the classes.
        border: Pixels beyond the grid that windows may reach.
    """

    def __init__(
        self, files: Sequence[LayerFile], grid: Grid, classes: Sequence[str], border: int
    ) -> None:
        self._files = tuple(files)
        self._supports = [_number(file.supports, classes) for file in files]
        self._sources = [_source(file, grid, border) for file in files]

    def read(self, tile: Tile, border: int) -> list[Layer]:
        """The layers in a window.

        Args:
            tile: The window.
            border: Pixels on each side.
        """
        return [
            Layer(_mask(source, tile, border), supports, file.weight, file.sigma, file.how)
            for source, supports, file in zip(
                self._sources, self._supports, self._files, strict=True
            )
        ]

    def close(self) -> None:
        """Close all files."""
        for source in self._sources:
            source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Shapes:
    """A vector file."""

    def __init__(self, file: LayerFile, grid: Grid) -> None:
        self.path, self.layer, self._grid = located(file.path), file.layer, grid
        self.crs, extent = described(self.path, file.layer)
        near = bounds_in(grid.crs, grid.bounds, self.crs)
        if extent is not None and not shapely.box(*near).intersects(shapely.box(*extent)):
            fix = "name a layer of the same place, and check its system of coordinates"
            raise refused(self.path, "lies elsewhere than the map", fix)

    def mask(self, tile: Tile, border: int) -> NDArray[np.float32]:
        """1 where a shape touches a pixel."""
        around = self._grid.around(tile, border)
        bounds = bounds_in(around.crs, around.bounds, self.crs)
        shapes = read_shapes(self.path, layer=self.layer, bounds=bounds)
        shape = (around.height, around.width)
        if not len(shapes):
            return np.zeros(shape, np.float32)
        there = rasterio.features.rasterize(
            moved(shapes, self.crs, around.crs),
            out_shape=shape,
            transform=around.transform,
            all_touched=True,
            dtype="uint8",
        )
        return np.asarray(there, np.float32)

    def close(self) -> None:
        """Nothing stays open."""


def _source(file: LayerFile, grid: Grid, border: int) -> Raster | _Shapes:
    if file.is_vector:
        return _Shapes(file, grid)
    return Raster([file.path], grid, bands=[1], border=border, name="layers")


def _mask(source: Raster | _Shapes, tile: Tile, border: int) -> Any:
    if isinstance(source, _Shapes):
        return source.mask(tile, border)
    pixels = source.read(tile, border)
    there = (pixels.values[0] != 0).astype(np.float32)
    there[~pixels.known] = math.nan
    return there


def _number(name: str, classes: Sequence[str]) -> int:
    if name not in classes:
        got = f"it is {name!r}{did_you_mean(name, classes)}"
        raise refuse("supports", f"be one of {', '.join(classes)}", got, "name a class")
    return list(classes).index(name)
