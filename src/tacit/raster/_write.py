"""Rasters of results: windows that are kept as they are done, and Cloud Optimised GeoTIFFs."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit._files import write_atomically
from tacit.errors import TacitError
from tacit.raster._extra import rasterio

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.raster._grid import Grid, Tile
    from tacit.raster._products import Product

__all__ = ["CACHE", "Parts", "RasterWriteError", "write_cog"]

_BLOCK: Final = 512
CACHE: Final = 256
"""Megabytes that GDAL keeps of what it reads and writes; its default is a share of the memory."""
_ADVICE: Final = "finished windows are kept: free some space, and go on with --resume"


class RasterWriteError(TacitError):
    """A raster cannot be written; the message says why, and what is kept."""


class Parts:
    """A folder of finished windows: each is there whole, or not at all.

    Args:
        folder: The folder; it is made for the first window.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __contains__(self, tile: Tile) -> bool:
        return self._path(tile).exists()

    def save(self, tile: Tile, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a window.

        Args:
            tile: Which one.
            arrays: What it came to, by the names of the products.
        """
        self.folder.mkdir(exist_ok=True)

        def write(file: Any) -> None:
            # As numpy's own archive, but by the quickest compression.
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)

        write_atomically(self._path(tile), write, error=RasterWriteError)

    def load(self, tile: Tile, name: str) -> NDArray[Any]:
        """What a window came to.

        Args:
            tile: Which one.
            name: The product.
        """
        path = self._path(tile)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return np.asarray(archive[name])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise RasterWriteError(
                f"'{path}' is damaged ({error}); delete it, and go on with --resume."
            ) from error

    def clear(self) -> None:
        """Delete all windows."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, tile: Tile) -> Path:
        return self.folder / f"{tile.row:06d}-{tile.column:06d}.npz"


def write_cog(
    path: Path, grid: Grid, product: Product, tiles: Sequence[Tile], parts: Parts
) -> None:
    """Write a Cloud Optimised GeoTIFF from its windows; it appears when it is whole.

    Args:
        path: The file.
        grid: Its grid.
        product: What it holds.
        tiles: All windows.
        parts: What they came to.

    Raises:
        RasterWriteError: If the disk is full or the like; the windows are kept.
    """
    plain, whole = parts.folder / f"{product.name}.plain.tif", parts.folder / f"{product.name}.tif"
    with _written(path), rasterio.Env(GDAL_CACHEMAX=CACHE, GDAL_NUM_THREADS="ALL_CPUS"):
        with rasterio.open(plain, "w", **_profile(grid, product)) as dataset:
            _describe(dataset, product)
            for tile in tiles:
                block = parts.load(tile, product.name)[:, : tile.height, : tile.width]
                window = rasterio.windows.Window(tile.left, tile.top, tile.width, tile.height)
                dataset.write(block, window=window)
        rasterio.shutil.copy(plain, whole, driver="COG", **_options(product))
        _settle(whole)
        whole.replace(path)
        plain.unlink()


def _profile(grid: Grid, product: Product) -> dict[str, Any]:
    return {
        "driver": "GTiff",
        "crs": grid.crs,
        "transform": grid.transform,
        "height": grid.height,
        "width": grid.width,
        "count": len(product.bands),
        "dtype": product.dtype,
        "nodata": product.no_data,
        "tiled": True,
        "blockxsize": _BLOCK,
        "blockysize": _BLOCK,
        "interleave": "band",
        "compress": "deflate",
        "zlevel": 1,
        "bigtiff": "if_safer",
        # Or four bands would be taken for red, green, blue and opacity.
        "photometric": "minisblack",
        "alpha": "no",
    }


def _describe(dataset: Any, product: Product) -> None:
    """Names, scale and colours."""
    dataset.descriptions = product.bands
    if product.scale != 1:
        dataset.scales = (product.scale,) * len(product.bands)
    if product.colours:
        dataset.write_colormap(1, product.colours)
    if product.classes:
        dataset.update_tags(CLASSES=json.dumps(product.classes))


def _options(product: Product) -> dict[str, Any]:
    """How the driver for Cloud Optimised GeoTIFFs is told to write."""
    # The commonest class of four pixels is a class; their average is none.
    resampling = "MODE" if product.classes else "AVERAGE"
    return {
        "compress": "DEFLATE",
        "predictor": "YES" if not product.classes else "NO",
        "blocksize": _BLOCK,
        "bigtiff": "IF_SAFER",
        "overview_resampling": resampling,
        "resampling": resampling,
    }


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Turn what GDAL says over a file that it writes into a sentence."""
    try:
        yield
    except (rasterio.errors.RasterioError, rasterio._err.CPLE_BaseError, OSError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")
        raise RasterWriteError(f"'{path}' cannot be written ({reason}); {_ADVICE}.") from error


def _settle(path: Path) -> None:
    """Put a file on the disk before its name says that it is there."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
