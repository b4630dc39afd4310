"""The grid of a map: whose pixels, how far, and what it is cut into."""

import numpy as np
import pytest
import shapely
from affine import Affine
from rasterio.warp import transform, transform_geom

from tacit.errors import InvalidInputError
from tacit.raster import Grid, read_area
from tests.raster.cases import LONLAT, NORTH, UTM, WEST, box, drawn, geojson, polygon, write


def test_grid_of_a_file_is_its_own(tmp_path):
    grid = Grid.of([write(tmp_path / "a.tif", drawn(0, 3, 20, 30), pixel=0.6)])
    assert (grid.crs, grid.height, grid.width) == (UTM, 20, 30)
    assert grid.bounds == pytest.approx((WEST, NORTH - 12, WEST + 18, NORTH))


def test_grid_of_a_mosaic_covers_all_files_by_the_pixels_of_the_first(tmp_path):
    first = write(tmp_path / "a.tif", drawn(0, 1, 20, 30))
    other = write(tmp_path / "b.tif", drawn(1, 1, 10, 10), west=WEST - 15.4, north=NORTH + 7.2)
    grid = Grid.of([first, other])
    assert (grid.height, grid.width) == (28, 46)
    assert (grid.transform.c, grid.transform.f) == (WEST - 16, NORTH + 8)


def test_grid_of_files_in_other_coordinates_covers_them(tmp_path):
    first = write(tmp_path / "a.tif", drawn(0, 1, 20, 30))
    degree = 1e-5
    other = write(
        tmp_path / "b.tif", drawn(1, 1, 9, 9), crs=LONLAT, west=-77.3, north=38.83, pixel=degree
    )
    grid = Grid.of([first, other])
    west, south, east, north = grid.bounds
    assert grid.crs == UTM
    assert (west <= WEST, north >= NORTH) == (True, True)
    lon, lat = (-77.3 + 4.5 * degree, 38.83 - 4.5 * degree)
    (x,), (y,) = transform(LONLAT, UTM, [lon], [lat])
    assert west < x < east
    assert south < y < north


@pytest.mark.parametrize("size", [8, 16, 64])
def test_tiles_cover_each_pixel_once_and_have_one_shape(size, tmp_path):
    grid = Grid.of([write(tmp_path / "a.tif", drawn(0, 1, 37, 50))])
    seen = np.zeros((37, 50), int)
    for tile in grid.tiles(size):
        seen[tile.top : tile.top + tile.height, tile.left : tile.left + tile.width] += 1
        assert tile.size == size
    assert (seen == 1).all()


def test_area_cuts_the_grid_and_masks_it(tmp_path):
    image = write(tmp_path / "a.tif", drawn(0, 1, 40, 50))
    area = read_area(geojson(tmp_path / "a.geojson", box(10, 5, 20, 15), box(30, 5, 32, 6)))
    grid = Grid.of([image], area=area)
    assert (grid.height, grid.width) == (10, 22)
    inside = area.mask(grid)
    expected = np.zeros((10, 22), bool)
    expected[:, :10] = True
    expected[:1, 20:22] = True
    assert np.array_equal(inside, expected)


def test_area_in_other_coordinates_is_the_same_area(tmp_path):
    image = write(tmp_path / "a.tif", drawn(0, 1, 40, 50))
    shape = box(10.3, 5.3, 20.3, 15.3)
    bent = transform_geom(UTM, LONLAT, shape, precision=12)
    one = read_area(geojson(tmp_path / "utm.geojson", shape))
    other = read_area(geojson(tmp_path / "lonlat.geojson", bent, crs="EPSG::4326"))
    grid = Grid.of([image], area=one)
    assert grid == Grid.of([image], area=other)
    assert np.array_equal(one.mask(grid), other.mask(grid))


def test_long_edges_bend(tmp_path):
    path = geojson(
        tmp_path / "a.geojson",
        polygon((-80, 38), (-70, 38), (-70, 45), (-80, 45)),
        crs="OGC:1.3:CRS84",
    )
    bent = read_area(path).to(UTM).shape
    # The middle of the southern edge, of which the straight line between its corners knows nothing.
    (x,), (y,) = transform(LONLAT, UTM, [-75.0], [38.0])
    assert bent.exterior.distance(shapely.Point(x, y)) < 200


BOWTIE = polygon((WEST, NORTH), (WEST + 9, NORTH - 9), (WEST + 9, NORTH), (WEST, NORTH - 9))
POINT = {"type": "Point", "coordinates": [WEST, NORTH]}


@pytest.mark.parametrize(
    ("shapes", "sentence"),
    [
        ([BOWTIE], "has a polygon that is not valid .Self-intersection"),
        ([], "has no polygons"),
        ([{"type": "Polygon", "coordinates": []}], "has no polygons"),
        ([box(0, 0, 1, 1), POINT], "holds a Point, not polygons"),
        ([box(900, 900, 950, 950)], "lies outside the imagery; name an area and imagery"),
    ],
)
def test_areas_that_are_none_are_refused(shapes, sentence, tmp_path):
    image = write(tmp_path / "a.tif", drawn(0, 1, 40, 50))
    path = geojson(tmp_path / "area.geojson", *shapes)
    with pytest.raises(InvalidInputError, match=rf"area\.geojson`.*{sentence}"):
        Grid.of([image], area=read_area(path))


def test_upside_down_imagery_is_refused(tmp_path):
    path = write(tmp_path / "a.tif", drawn(0, 1, 4, 5), transform=Affine(1, 0, WEST, 0, 1, NORTH))
    with pytest.raises(InvalidInputError, match="upside down"):
        Grid.of([path])


def test_no_imagery_is_refused():
    with pytest.raises(InvalidInputError, match="`imagery` must name at least one file"):
        Grid.of([])
