"""Rasters of any size, read window by window on the grid of a map."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from tacit.errors import refuse
from tacit.raster._extra import rasterio
from tacit.raster._grid import bounds_in, pixels_of
from tacit.raster._open import KIND, open_raster, opened
from tacit.table._errors import reading, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.raster._grid import Grid, Tile

__all__ = ["Pixels", "Raster"]

_MOST_OPEN: Final = 32
"""Files that are kept open: a state has thousands, and a process may open about a thousand."""
_NEARLY: Final = 1e-3
"""Of a pixel: how far two grids may be apart and still be one."""
_TOLERANCE: Final = 1e-3
"""Of a pixel of a file: how far off a warp may be. An exact one takes twenty times as long. GDAL
warps whole blocks at once, so that no pixel depends on the window that it is read in."""
_MARGIN: Final = 2
"""Pixels around the extent of a file that are looked at, as the bent box is found from samples."""
_NOWHERE: Final = (0, 0, 0, 0)


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
        self._headers = [_header(path, grid, bands, border) for path in files]
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

    def _add(self, pixels: Pixels, header: _Header, box: tuple[int, int, int, int]) -> None:
        """Fill what is not known yet from one file."""
        frame = self._source(header)
        part = _common(box, frame.extent)
        if part is None:
            return
        with reading(header.path, KIND):
            values, known = frame.read(part, header, len(pixels.values))
        rows = slice(part[1] - box[1], part[3] - box[1])
        columns = slice(part[0] - box[0], part[2] - box[0])
        new = known & ~pixels.known[rows, columns]
        np.copyto(pixels.values[:, rows, columns], values, where=new)
        pixels.known[rows, columns] |= new

    def _source(self, header: _Header) -> _Frame:
        """A file on the grid, open; the one that was used longest ago is closed for it."""
        found = self._open.pop(header.path, None)
        if found is None:
            while len(self._open) >= _MOST_OPEN:
                self._open.popitem(last=False)[1].close()
            found = _framed(header, self._grid, self._way)
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


class _Header(NamedTuple):
    """What has to be known of a file to know where and how to read it."""

    path: str
    bands: tuple[int, ...]
    dtype: str
    extent: tuple[int, int, int, int]
    # What says where it has data: a band (alpha), a number (no-data), a mask, or nothing.
    alpha: int | None
    says: Any


class _Frame(NamedTuple):
    """A file, open, whose pixel (0, 0) is at some place of the grid."""

    dataset: Any
    own: Any
    extent: tuple[int, int, int, int]
    alpha: int | None

    def read(
        self, part: tuple[int, int, int, int], header: _Header, n_bands: int
    ) -> tuple[Any, Any]:
        """The values of the first bands and the mask of a part of the grid."""
        left, top = self.extent[:2]
        window = rasterio.windows.Window(
            part[0] - left, part[1] - top, part[2] - part[0], part[3] - part[1]
        )
        known = self._known(window, header)
        if not n_bands:
            return np.zeros((0, *known.shape), np.uint8), known
        values = self.dataset.read(list(header.bands), window=window)
        if values.dtype.kind in "fc":
            known &= np.isfinite(values).all(0)
        return values, known

    def _known(self, window: Any, header: _Header) -> Any:
        if self.alpha is not None:
            return self.dataset.read(self.alpha, window=window) > 0
        if header.says == rasterio.enums.MaskFlags.all_valid:
            return np.ones((int(window.height), int(window.width)), bool)
        return self.dataset.dataset_mask(window=window) > 0

    def close(self) -> None:
        self.dataset.close()
        self.own.close()


def _way(name: str) -> Any:
    known = [each.name for each in rasterio.enums.Resampling]
    if name not in known:
        got = f"it is {name!r}"
        raise refuse("resampling", f"be one of {', '.join(known)}", got, "try nearest or bilinear")
    return rasterio.enums.Resampling[name]


def _header(
    path: str | os.PathLike[str], grid: Grid, bands: Sequence[int] | None, border: int
) -> _Header:
    with opened(path) as dataset:
        alpha = [
            band
            for band, colour in zip(dataset.indexes, dataset.colorinterp, strict=True)
            if colour == rasterio.enums.ColorInterp.alpha
        ]
        chosen = tuple(bands or (band for band in dataset.indexes if band not in alpha))
        _check_bands(path, chosen, dataset.count)
        types = {dataset.dtypes[band - 1] for band in chosen}
        if len(types) > 1:
            raise refused(
                str(path),
                f"has bands of several types ({', '.join(sorted(types))})",
                "write all bands in one type",
            )
        extent = _extent(dataset, grid, border)
        marked = next((band for band in alpha if band not in chosen), None)
        return _Header(
            os.fspath(path), chosen, types.pop(), extent, marked, _says(dataset, chosen, alpha)
        )


def _says(dataset: Any, chosen: tuple[int, ...], alpha: Sequence[int]) -> Any:
    """What says where a file has data: a flag of GDAL's."""
    flags = rasterio.enums.MaskFlags
    found = dataset.mask_flag_enums[chosen[0] - 1]
    if {*alpha} & {*chosen} or flags.all_valid in found:
        return flags.all_valid
    return flags.nodata if flags.nodata in found else flags.per_dataset


def _extent(dataset: Any, grid: Grid, border: int) -> tuple[int, int, int, int]:
    """The pixels of a grid and of the border around it that a file covers.

    By what both have in common: of a map of the world the edges need not be anywhere on the grid.
    """
    frame = (-border, -border, grid.width + border, grid.height + border)
    (west, north), (east, south) = grid.transform @ frame[:2], grid.transform @ frame[2:]
    near = bounds_in(grid.crs, (west, south, east, north), dataset.crs)
    west, south, east, north = dataset.bounds
    common = (
        max(near[0], west),
        max(near[1], min(south, north)),
        min(near[2], east),
        min(near[3], max(south, north)),
    )
    if common[0] >= common[2] or common[1] >= common[3]:
        return _NOWHERE
    box = pixels_of(bounds_in(dataset.crs, common, grid.crs), grid.transform)
    return _common(_wider(box), frame) or _NOWHERE


def _check_bands(path: str | os.PathLike[str], bands: tuple[int, ...], n: int) -> None:
    wrong = [band for band in bands if not 1 <= band <= n]
    if wrong or not bands:
        what = f"has no band {wrong[0]}, but bands 1 to {n}" if wrong else "has no band but alpha"
        raise refused(str(path), what, "name bands that it has")


def _check_alike(headers: Sequence[_Header]) -> None:
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


def _framed(header: _Header, grid: Grid, way: Any) -> _Frame:
    """Open a file as it is where its pixels are those of the grid, and warped where not."""
    own = open_raster(header.path)
    try:
        place = _place(own, grid)
        if place is not None:
            extent = (*place, place[0] + own.width, place[1] + own.height)
            return _Frame(own, own, extent, header.alpha)
        return _warped(own, header, grid, way)
    except BaseException:
        own.close()
        raise


def _place(dataset: Any, grid: Grid) -> tuple[int, int] | None:
    """Where the first pixel of a file is on the grid, if the pixels of both are the same."""
    if dataset.crs != grid.crs:
        return None
    relative = ~grid.transform @ dataset.transform
    left, top = round(relative.c), round(relative.f)
    scale = max(abs(relative.a - 1) * dataset.width, abs(relative.e - 1) * dataset.height)
    apart = max(abs(relative.c - left), abs(relative.f - top), scale)
    return (left, top) if apart < _NEARLY else None


def _warped(own: Any, header: _Header, grid: Grid, way: Any) -> _Frame:
    """A file, warped to the grid and the border around it as it is read."""
    extent = header.extent
    colours = [own.colorinterp[band - 1] for band in header.bands]
    if rasterio.enums.ColorInterp.alpha in colours:
        what = "has an alpha band that is to be read as imagery, and has to be warped"
        fix = "clear the mark, as in: gdal_edit.py -colorinterp_4 undefined FILE"
        raise refused(header.path, what, fix)
    move = type(grid.transform).translation(extent[0], extent[1])
    # A mask, or the edge of a file without one, is seen in a band of its own.
    added = header.alpha is None and header.says != rasterio.enums.MaskFlags.nodata
    with reading(header.path, KIND):
        warped = rasterio.vrt.WarpedVRT(
            own,
            crs=grid.crs,
            transform=grid.transform @ move,
            width=extent[2] - extent[0],
            height=extent[3] - extent[1],
            resampling=way,
            tolerance=_TOLERANCE,
            add_alpha=added,
        )
    return _Frame(warped, own, extent, warped.count if added else header.alpha)


def _box(tile: Tile, border: int, wide: int) -> tuple[int, int, int, int]:
    left, top = tile.left - border, tile.top - border
    return left, top, left + wide, top + wide


def _wider(extent: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    left, top, right, bottom = extent
    return left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN


def _common(
    one: tuple[int, int, int, int], other: tuple[int, int, int, int]
) -> tuple[int, int, int, int] | None:
    """What two boxes have in common, if anything."""
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    return (left, top, right, bottom) if left < right and top < bottom else None


def _overlap(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return _common(one, other) is not None
