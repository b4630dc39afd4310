"""Rasters of any size, read window by window on the grid of a map."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from tacit.errors import refuse
from tacit.raster._extra import rasterio
from tacit.raster._frames import Box, Frame, Header, common, framed, header_of
from tacit.raster._open import KIND
from tacit.table._errors import reading, refused

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.raster._grid import Grid, Tile

__all__ = ["Pixels", "Raster"]

_MOST_OPEN: Final = 32
"""Files that are kept open: a state has thousands, and a process may open about a thousand."""


class Pixels(NamedTuple):
    """What a window of a raster shows.

    Attributes:
        values: `(band, height, width)`; 0 where nothing is known.
        known: Where there are data, `(height, width)`.
    """

    values: NDArray[Any]
    known: NDArray[np.bool_]


class Raster:
    """One or several files as one raster on the grid of a map, warped to it where need be.

    Where files overlap, the first that has data counts. Of the pixels that are asked for alone are
    any read, so that memory does not grow with the raster. Close it, or use it as a context.

    Args:
        files: GeoTIFFs, or whatever else GDAL reads. All have as many bands of one type; their
            systems of coordinates and resolutions may differ.
        grid: The grid of the map.
        resampling: How pixels are warped: "nearest" for codes, "bilinear" or "cubic" for imagery,
            "average" for what is finer than the grid.
        bands: Numbers of the bands, from 1. All unless given, but for one that is marked as alpha,
            which says where there are data.
        border: Pixels beyond the grid that windows may reach.
        name: What the caller calls the files, for refusals.

    Attributes:
        n_bands: Number of bands.
        dtype: Type of their values.

    Raises:
        InvalidInputError: If a file cannot be used, or none overlaps the grid.
    """

    def __init__(
        self,
        files: Sequence[str | os.PathLike[str]],
        grid: Grid,
        *,
        resampling: str = "nearest",
        bands: Sequence[int] | None = None,
        border: int = 0,
        name: str = "files",
    ) -> None:
        if not files:
            raise refuse(name, "name at least one file", "it is empty", "pass a GeoTIFF")
        self._way = _way(resampling)
        self._grid, self._border = grid, border
        self._open: OrderedDict[str, Any] = OrderedDict()
        self._headers = [header_of(path, grid, bands, border) for path in files]
        _check_alike(self._headers)
        self.n_bands, self.dtype = len(self._headers[0].bands), np.dtype(self._headers[0].dtype)
        whole = (0, 0, grid.width, grid.height)
        if not any(_overlap(header.extent, whole) for header in self._headers):
            raise refused(
                self._headers[0].path,
                "lies elsewhere than the map"
                if len(files) == 1
                else "and the others lie elsewhere than the map",
                "name files of the same place, and check their systems of coordinates",
            )

    def read(self, tile: Tile, border: int = 0) -> Pixels:
        """What the raster shows in a window.

        Args:
            tile: The window, of the grid.
            border: Pixels on each side, at most those that the raster was opened with.

        Raises:
            InvalidInputError: If a file is damaged.
        """
        return self._read(tile, border, self.n_bands)

    def known(self, tile: Tile) -> NDArray[np.bool_]:
        """Where the raster has data in a window, `(size, size)`.

        Args:
            tile: The window, of the grid.
        """
        # Numbers that are no numbers are found in the values alone.
        return self._read(tile, 0, self.n_bands if self.dtype.kind in "fc" else 0).known

    def _read(self, tile: Tile, border: int, n_bands: int) -> Pixels:
        if border > self._border:
            got = f"it is {border}"
            fix = f"open the raster with border={border}"
            raise refuse("border", f"be at most {self._border}", got, fix)
        wide = tile.size + 2 * border
        box = _box(tile, border, wide)
        pixels = Pixels(np.zeros((n_bands, wide, wide), self.dtype), np.zeros((wide, wide), bool))
        for header in self._headers:
            if _overlap(header.extent, box) and not pixels.known.all():
                self._add(pixels, header, box)
        return pixels

    def _add(self, pixels: Pixels, header: Header, box: Box) -> None:
        """Fill what is not known yet from one file."""
        frame = self._source(header)
        part = common(box, frame.extent)
        if part is None:
            return
        with reading(header.path, KIND):
            values, known = frame.read(part, header, len(pixels.values))
        rows = slice(part[1] - box[1], part[3] - box[1])
        columns = slice(part[0] - box[0], part[2] - box[0])
        new = known & ~pixels.known[rows, columns]
        np.copyto(pixels.values[:, rows, columns], values, where=new)
        pixels.known[rows, columns] |= new

    def _source(self, header: Header) -> Frame:
        """A file on the grid, open; the one that was used longest ago is closed for it."""
        found = self._open.pop(header.path, None)
        if found is None:
            while len(self._open) >= _MOST_OPEN:
                self._open.popitem(last=False)[1].close()
            found = framed(header, self._grid, self._way)
        self._open[header.path] = found
        return found  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close all files."""
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _way(name: str) -> Any:
    known = [each.name for each in rasterio.enums.Resampling]
    if name not in known:
        got = f"it is {name!r}"
        raise refuse("resampling", f"be one of {', '.join(known)}", got, "try nearest or bilinear")
    return rasterio.enums.Resampling[name]


def _check_alike(headers: Sequence[Header]) -> None:
    """Refuse files of one mosaic that differ in their bands."""
    first = headers[0]
    for other in headers[1:]:
        if (len(other.bands), other.dtype) != (len(first.bands), first.dtype):
            raise refused(
                other.path,
                f"has {len(other.bands)} bands of {other.dtype}, but `{first.path}` has "
                f"{len(first.bands)} of {first.dtype}",
                "name files of one mosaic, or the bands to take",
            )


def _box(tile: Tile, border: int, wide: int) -> Box:
    left, top = tile.left - border, tile.top - border
    return left, top, left + wide, top + wide


def _overlap(one: Box, other: Box) -> bool:
    return common(one, other) is not None
