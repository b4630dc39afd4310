"""The libraries of the extra `raster`, for all modules beside this one."""

from __future__ import annotations

from tacit.errors import MissingExtraError

try:
    import rasterio
    import rasterio.features
    import rasterio.shutil
    import rasterio.vrt
    import rasterio.warp
    import shapely
except ImportError as error:
    raise MissingExtraError(
        f"tacit.raster needs the library {error.name}, which the extra `raster` brings: "
        "pip install 'tacit-learn[raster]'"
    ) from error

__all__ = ["rasterio", "shapely"]
