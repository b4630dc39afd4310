"""Layers from rasters and vectors, on the grid of a map."""

import numpy as np
import pytest
import shapely
from pyogrio.raw import write as write_vector
from rasterio.features import rasterize
from rasterio.warp import transform_geom

from tacit.errors import InvalidInputError
from tacit.raster import Grid, LayerFile, Layers
from tests.raster.cases import LONLAT, NORTH, UTM, WEST, box, drawn, geojson, write

CLASSES = ("water", "tree", "road")


def line(*points):
    return {"type": "LineString", "coordinates": [[WEST + x, NORTH - y] for x, y in points]}


def masks(files, grid, size, border=0):
    """The mask of each file on the whole grid, put together from windows."""
    found = np.zeros((len(files), grid.height, grid.width), np.float32)
    with Layers(files, grid, CLASSES, border) as layers:
        for tile in grid.tiles(size):
            for number, layer in enumerate(layers.read(tile, border)):
                part = np.asarray(layer.mask)[border : border + tile.height]
                part = part[:, border : border + tile.width]
                rows = slice(tile.top, tile.top + tile.height)
                found[number, rows, tile.left : tile.left + tile.width] = part
    return found


@pytest.fixture
def grid(tmp_path):
    return Grid.of([write(tmp_path / "grid.tif", drawn(0, 1, 40, 50))])


# Not through corners of pixels, where rounding decides what a line touches.
SHAPES = [line((2.13, 3.21), (44.37, 37.77)), box(20.2, 5.1, 30.7, 9.9)]


@pytest.mark.parametrize("size", [9, 16, 64])
def test_shapes_touch_the_same_pixels_in_any_windows(size, grid, tmp_path):
    path = geojson(tmp_path / "roads.geojson", *SHAPES)
    expected = rasterize(
        SHAPES, out_shape=(40, 50), transform=grid.transform, all_touched=True, dtype="uint8"
    )
    found = masks([LayerFile(str(path), "road")], grid, size, border=4)
    assert np.array_equal(found[0], expected)


@pytest.mark.parametrize("suffix", [".gpkg", ".fgb", ".shp", ".geojson"])
def test_all_kinds_of_vector_files_say_the_same(suffix, grid, tmp_path):
    path = tmp_path / f"roads{suffix}"
    crs, shapes = "EPSG:26918", [SHAPES[1]]
    if suffix == ".geojson":
        crs, shapes = "EPSG:4326", [transform_geom(UTM, LONLAT, SHAPES[1], precision=12)]
    drawn_shapes = shapely.to_wkb([shapely.geometry.shape(shape) for shape in shapes])
    write_vector(path, drawn_shapes, [], [], crs=crs, geometry_type="Polygon")
    expected = rasterize(
        [SHAPES[1]], out_shape=(40, 50), transform=grid.transform, all_touched=True
    )
    found = masks([LayerFile(str(path), "road")], grid, 16)
    assert np.array_equal(found[0], expected)


def test_raster_layer_is_there_where_it_is_not_zero(grid, tmp_path):
    values = (drawn(1, 40, 50) > 150).astype(np.uint8) * 7
    values[5:9, 5:9] = 255
    path = write(tmp_path / "water.tif", values, nodata=255)
    found = masks([LayerFile(str(path), "water")], grid, 16)[0]
    assert np.isnan(found[5:9, 5:9]).all()
    known = values != 255
    assert np.array_equal(found[known], (values[known] != 0).astype(np.float32))


def test_layers_say_what_they_support(grid, tmp_path):
    path = str(geojson(tmp_path / "roads.geojson", *SHAPES))
    files = [LayerFile(path, "road", 20.0, 1.5), LayerFile(path, "water", 2.0, 0.0, "sum")]
    with Layers(files, grid, CLASSES, 6) as layers:
        road, water = layers.read(grid.tiles(16)[0], 6)
    assert (road.supports, road.weight, road.sigma, road.how) == (2, 20.0, 1.5, "product")
    assert (water.supports, water.weight, water.sigma, water.how) == (0, 2.0, 0.0, "sum")
    assert files[0].reach == 6


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (
            lambda folder: LayerFile(str(geojson(folder / "a.json", SHAPES[0])), "roat"),
            "road.*mean",
        ),
        (lambda folder: LayerFile(str(folder / "none.gpkg"), "road"), "none.gpkg`: is not there"),
        (
            lambda folder: LayerFile(
                str(geojson(folder / "a.json", box(9e5, 0, 9.1e5, 9))), "road"
            ),
            "lies elsewhere than the map",
        ),
    ],
)
def test_layers_that_do_not_do_are_refused(file, sentence, grid, tmp_path):
    with pytest.raises(InvalidInputError, match=sentence):
        Layers([file(tmp_path)], grid, CLASSES, 0)
