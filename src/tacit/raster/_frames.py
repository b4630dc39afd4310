"""Files of rasters on the grid of a map: where each of them is, and how its pixels are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tacit.raster._extra import rasterio
from tacit.raster._grid import bounds_in, pixels_of
from tacit.raster._open import KIND, open_raster, opened
from tacit.table._errors import reading, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.raster._grid import Grid

__all__ = ["Box", "Frame", "Header", "common", "framed", "header_of"]

Box = tuple[int, int, int, int]
"""Pixels of a grid: left, top, right and bottom."""
_NEARLY: Final = 1e-3
"""Of a pixel: how far two grids may be apart and still be one."""
_TOLERANCE: Final = 1e-3
"""Of a pixel of a file: how far off a warp may be. An exact one takes twenty times as long. GDAL
warps whole blocks at once, so that no pixel depends on the window that it is read in."""
_MARGIN: Final = 2
"""Pixels around the extent of a file that are looked at, as the bent box is found from samples."""
_NOWHERE: Final = (0, 0, 0, 0)


class Header(NamedTuple):
    """What has to be known of a file to know where and how to read it."""

    path: str
    bands: tuple[int, ...]
    dtype: str
    extent: Box
    # What says where it has data: a band (alpha), a number (no-data), a mask, or nothing.
    alpha: int | None
    says: Any


class Frame(NamedTuple):
    """A file, open, whose pixel (0, 0) is at some place of the grid."""

    dataset: Any
    own: Any
    extent: Box
    alpha: int | None

    def read(self, part: Box, header: Header, n_bands: int) -> tuple[Any, Any]:
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

    def _known(self, window: Any, header: Header) -> Any:
        if self.alpha is not None:
            return self.dataset.read(self.alpha, window=window) > 0
        if header.says == rasterio.enums.MaskFlags.all_valid:
            return np.ones((int(window.height), int(window.width)), bool)
        return self.dataset.dataset_mask(window=window) > 0

    def close(self) -> None:
        self.dataset.close()
        self.own.close()


def header_of(
    path: str | os.PathLike[str], grid: Grid, bands: Sequence[int] | None, border: int
) -> Header:
    """What has to be known of a file; refuses one that cannot be read on a grid.

    Args:
        path: The file.
        grid: The grid.
        bands: The bands that are wanted; None for all but alpha.
        border: Pixels around the grid that count as well.
    """
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
        return Header(
            os.fspath(path), chosen, types.pop(), extent, marked, _says(dataset, chosen, alpha)
        )


def _says(dataset: Any, chosen: tuple[int, ...], alpha: Sequence[int]) -> Any:
    """What says where a file has data: a flag of GDAL's."""
    flags = rasterio.enums.MaskFlags
    found = dataset.mask_flag_enums[chosen[0] - 1]
    if {*alpha} & {*chosen} or flags.all_valid in found:
        return flags.all_valid
    return flags.nodata if flags.nodata in found else flags.per_dataset


def _extent(dataset: Any, grid: Grid, border: int) -> Box:
    """The pixels of a grid and of the border around it that a file covers.

    By what both have in common: of a map of the world the edges need not be anywhere on the grid.
    """
    frame = (-border, -border, grid.width + border, grid.height + border)
    (west, north), (east, south) = grid.transform @ frame[:2], grid.transform @ frame[2:]
    near = bounds_in(grid.crs, (west, south, east, north), dataset.crs)
    west, south, east, north = dataset.bounds
    shared = (
        max(near[0], west),
        max(near[1], min(south, north)),
        min(near[2], east),
        min(near[3], max(south, north)),
    )
    if shared[0] >= shared[2] or shared[1] >= shared[3]:
        return _NOWHERE
    box = pixels_of(bounds_in(dataset.crs, shared, grid.crs), grid.transform)
    return common(_wider(box), frame) or _NOWHERE


def _check_bands(path: str | os.PathLike[str], bands: tuple[int, ...], n: int) -> None:
    wrong = [band for band in bands if not 1 <= band <= n]
    if wrong or not bands:
        what = f"has no band {wrong[0]}, but bands 1 to {n}" if wrong else "has no band but alpha"
        raise refused(str(path), what, "name bands that it has")


def framed(header: Header, grid: Grid, way: Any) -> Frame:
    """Open a file as it is where its pixels are those of the grid, and warped where not."""
    own = open_raster(header.path)
    try:
        place = _place(own, grid)
        if place is not None:
            extent = (*place, place[0] + own.width, place[1] + own.height)
            return Frame(own, own, extent, header.alpha)
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


def _warped(own: Any, header: Header, grid: Grid, way: Any) -> Frame:
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
    return Frame(warped, own, extent, warped.count if added else header.alpha)


def _wider(extent: Box) -> Box:
    left, top, right, bottom = extent
    return left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN


def common(one: Box, other: Box) -> Box | None:
    """What two boxes have in common, if anything."""
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    return (left, top, right, bottom) if left < right and top < bottom else None
