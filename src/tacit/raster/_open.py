"""Raster files, opened; what lies nowhere in the world is refused."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tacit.raster._extra import rasterio
from tacit.table._errors import reading, refused
from tacit.table._paths import located

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["KIND", "open_raster", "opened"]

KIND: Final = "a raster"
_REMOTE: Final = ("://", "/vsi")


def open_raster(path: str | os.PathLike[str]) -> Any:
    """Open a file, which somebody has to close; refuses one that lies nowhere in the world.

    Args:
        path: A file that GDAL reads; a URL or a path of GDAL's own (`/vsi...`) as well.
    """
    text = os.fspath(path)
    if not any(mark in text for mark in _REMOTE):
        located(path)
    with reading(text, KIND), warnings.catch_warnings():
        # Which is refused below, with a sentence.
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        dataset = rasterio.open(path)
    try:
        _check(dataset, path)
    except BaseException:
        dataset.close()
        raise
    return dataset


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A file that is open as long as the context lasts, see `open_raster`."""
    dataset = open_raster(path)
    try:
        yield dataset
    finally:
        dataset.close()


def _check(dataset: Any, path: str | os.PathLike[str]) -> None:
    if dataset.count == 0:
        fix = "name one of those that it holds, as gdalinfo lists them"
        raise refused(str(path), "holds no bands, but perhaps several rasters", fix)
    if dataset.crs is None:
        fix = "assign one, as in: rio edit-info --crs EPSG:26918 FILE"
        raise refused(str(path), "has no system of coordinates (CRS)", fix)
    if dataset.transform.b or dataset.transform.d:
        fix = "warp it to a grid along the axes, as gdalwarp does"
        raise refused(str(path), "has a grid that is rotated or sheared", fix)
