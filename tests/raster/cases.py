"""Small GeoTIFFs and vector files, written anew for each test."""

from __future__ import annotations

import json

import numpy as np
import rasterio
from affine import Affine
from rasterio.crs import CRS

UTM = CRS.from_epsg(26918)
ALBERS = CRS.from_epsg(5070)
LONLAT = CRS.from_epsg(4326)
# Somewhere in West Virginia, as all that is drawn here.
WEST, NORTH = 300_000.0, 4_300_000.0


def write(path, values, *, crs=UTM, west=WEST, north=NORTH, pixel=1.0, **options):
    """Write `(band, height, width)` as a GeoTIFF whose upper left corner is at (west, north)."""
    values = np.asarray(values)
    values = values[np.newaxis] if values.ndim == 2 else values
    options = {"photometric": "minisblack", "alpha": "no", **options}
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        crs=crs,
        transform=options.pop("transform", Affine(pixel, 0, west, 0, -pixel, north)),
        count=len(values),
        height=values.shape[1],
        width=values.shape[2],
        dtype=values.dtype,
        **options,
    ) as dataset:
        dataset.write(values)
    return path


def drawn(seed, *shape, high=200, dtype="uint8"):
    return np.random.default_rng(seed).integers(1, high, shape).astype(dtype)


def polygon(*points):
    return {"type": "Polygon", "coordinates": [[*map(list, points), list(points[0])]]}


def box(left, top, right, bottom):
    """A box given in metres from the corner of what is drawn, as a polygon."""
    west, east, north, south = WEST + left, WEST + right, NORTH - top, NORTH - bottom
    return polygon((west, north), (east, north), (east, south), (west, south))


def geojson(path, *geometries, crs="EPSG::26918"):
    features = [
        {"type": "Feature", "properties": {"name": str(number)}, "geometry": geometry}
        for number, geometry in enumerate(geometries)
    ]
    named = {"type": "name", "properties": {"name": f"urn:ogc:def:crs:{crs}"}}
    body = {"type": "FeatureCollection", "crs": named, "features": features}
    path.write_text(json.dumps(body))
    return path


def whole(raster, grid, size, border=0):
    """A raster read by windows and put together, values and mask."""
    values = np.zeros((raster.n_bands, grid.height, grid.width), raster.dtype)
    known = np.zeros((grid.height, grid.width), bool)
    for tile in grid.tiles(size):
        found = raster.read(tile, border)
        inner = slice(border, border + tile.height), slice(border, border + tile.width)
        rows = slice(tile.top, tile.top + tile.height)
        columns = slice(tile.left, tile.left + tile.width)
        values[:, rows, columns] = found.values[:, *inner]
        known[rows, columns] = found.known[inner]
    return values, known
