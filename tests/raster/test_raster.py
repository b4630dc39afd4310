"""Rasters read window by window: mosaics, warps, masks, and what is refused."""

import numpy as np
import pytest
import rasterio
from affine import Affine
from hypothesis import given
from hypothesis import strategies as st
from rasterio.warp import reproject

from tacit.errors import InvalidInputError
from tacit.raster import CodedMap, Grid, Raster
from tests.raster.cases import ALBERS, LONLAT, NORTH, UTM, WEST, drawn, whole, write


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_windows_show_the_file(dtype, tmp_path):
    values = drawn(0, 4, 37, 50, dtype=dtype)
    path = write(tmp_path / "a.tif", values)
    grid = Grid.of([path])
    with Raster([path], grid, border=5) as raster:
        assert (raster.n_bands, raster.dtype) == (4, np.dtype(dtype))
        found, known = whole(raster, grid, 16, border=5)
    assert np.array_equal(found, values)
    assert known.all()


def test_border_shows_what_is_around_and_nothing_beyond(tmp_path):
    values = drawn(0, 1, 40, 40)
    path = write(tmp_path / "a.tif", values)
    grid = Grid.of([path])
    with Raster([path], grid, border=6) as raster:
        middle, corner = raster.read(grid.tiles(10)[5], 6), raster.read(grid.tiles(10)[0], 6)
    assert np.array_equal(middle.values[0], values[0, 4:26, 4:26])
    assert np.array_equal(corner.known, np.pad(np.ones((16, 16), bool), ((6, 0), (6, 0))))


@pytest.mark.parametrize("size", [7, 16, 33])
@pytest.mark.parametrize("way", ["nearest", "bilinear"])
def test_warped_pixels_do_not_depend_on_the_windows(size, way, tmp_path):
    image = write(tmp_path / "a.tif", drawn(0, 1, 50, 60))
    other = write(tmp_path / "b.tif", drawn(1, 2, 30, 30), crs=ALBERS, **albers(), pixel=3.7)
    grid = Grid.of([image])
    with Raster([other], grid, resampling=way, border=9) as raster:
        once = whole(raster, grid, 64)
        again = whole(raster, grid, size, border=9)
    assert once[1].any()
    assert np.array_equal(once[0], again[0])
    assert np.array_equal(once[1], again[1])


def test_blocks_of_a_warped_file_leave_no_trace(tmp_path):
    grid = Grid.of([write(tmp_path / "a.tif", drawn(0, 1, 700, 900))])
    values, corner = drawn(1, 300, 300, dtype="float32"), albers()
    other = write(tmp_path / "b.tif", values, crs=ALBERS, **corner, pixel=3.7)
    with Raster([other], grid, resampling="bilinear", border=50) as raster:
        once, _ = whole(raster, grid, 1024)
        again, _ = whole(raster, grid, 150, border=50)
    assert np.array_equal(once, again)


def albers():
    """A corner in another system of coordinates, west and north of what is drawn."""
    (x,), (y,) = rasterio.warp.transform(UTM, ALBERS, [WEST], [NORTH])
    return {"west": x - 20.0, "north": y + 20.0}


def test_nearest_neighbour_takes_the_pixel_below_each_centre(tmp_path):
    image = write(tmp_path / "a.tif", drawn(0, 1, 50, 60))
    coarse = drawn(1, 30, 30)
    other = write(tmp_path / "b.tif", coarse, crs=ALBERS, **albers(), pixel=3.7)
    grid = Grid.of([image])
    with Raster([other], grid) as raster:
        found, known = whole(raster, grid, 16)
    x, y = grid.transform @ np.stack(np.meshgrid(np.arange(60) + 0.5, np.arange(50) + 0.5)).reshape(
        2, -1
    )
    x, y = rasterio.warp.transform(UTM, ALBERS, x, y)
    corner = albers()
    column = np.floor((np.array(x) - corner["west"]) / 3.7).astype(int).reshape(50, 60)
    row = np.floor((corner["north"] - np.array(y)) / 3.7).astype(int).reshape(50, 60)
    inside = (row >= 0) & (row < 30) & (column >= 0) & (column < 30)
    assert inside.any()
    assert np.array_equal(known, inside)
    assert np.array_equal(found[0][inside], coarse[row[inside], column[inside]])


def test_bilinear_warp_is_that_of_gdal(tmp_path):
    image = write(tmp_path / "a.tif", drawn(0, 1, 50, 60))
    values = drawn(1, 60, 60, dtype="float32")
    other = write(tmp_path / "b.tif", values, pixel=2.0, west=WEST - 7.3, north=NORTH + 5.1)
    grid = Grid.of([image])
    expected = np.zeros((50, 60), np.float32)
    reproject(
        values,
        expected,
        src_transform=Affine(2, 0, WEST - 7.3, 0, -2, NORTH + 5.1),
        src_crs=UTM,
        dst_transform=grid.transform,
        dst_crs=UTM,
        resampling=rasterio.enums.Resampling.bilinear,
    )
    with Raster([other], grid, resampling="bilinear") as raster:
        found, _ = whole(raster, grid, 16)
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)


def test_first_file_with_data_counts(tmp_path):
    one, two = drawn(0, 1, 20, 20), drawn(1, 1, 20, 20)
    one[0, :, 10:] = 0
    first = write(tmp_path / "a.tif", one, nodata=0)
    second = write(tmp_path / "b.tif", two, nodata=0, west=WEST + 5)
    grid = Grid.of([first, second])
    with Raster([first, second], grid) as raster:
        found, known = whole(raster, grid, 8)
    assert np.array_equal(found[0, :, :10], one[0, :, :10])
    assert np.array_equal(found[0, :, 10:], two[0, :, 5:])
    assert known.all()


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_masks_of_all_kinds_are_honoured(shift, tmp_path):
    values = drawn(0, 2, 24, 24, dtype="float32")
    hole = np.zeros((24, 24), bool)
    hole[8:16, 4:20] = True
    place = {"west": WEST + shift}
    with_number = np.where(hole, -1.0, values).astype(np.float32)
    with_nan = np.where(hole, np.nan, values).astype(np.float32)
    one_band = with_nan.copy()
    one_band[1] = values[1]
    files = [
        write(tmp_path / "number.tif", with_number, nodata=-1.0, **place),
        write(tmp_path / "nan.tif", with_nan, **place),
        write(tmp_path / "nan-no-data.tif", with_nan, nodata=np.nan, **place),
        write(tmp_path / "one.tif", one_band, **place),
        write(tmp_path / "mask.tif", values, **place),
        write(tmp_path / "alpha.tif", [*values, np.where(hole, 0, 255)], **place),
    ]
    with rasterio.open(files[4], "r+") as dataset:
        dataset.write_mask(~hole)
    with rasterio.open(files[5], "r+") as dataset:
        gray, undefined = rasterio.enums.ColorInterp.gray, rasterio.enums.ColorInterp.undefined
        dataset.colorinterp = (gray, undefined, rasterio.enums.ColorInterp.alpha)
    grid = Grid.of([write(tmp_path / "grid.tif", values)])
    for path in files:
        with Raster([path], grid) as raster:
            found, known = whole(raster, grid, 16)
            quick = raster.known(grid.tiles(32)[0])
        assert raster.n_bands == 2, path
        assert np.array_equal(~known, hole), path
        assert np.array_equal(quick[:24, :24], known), path
        assert np.array_equal(found[:, known], values[:, known]), path


def test_alpha_is_read_as_imagery_where_asked(tmp_path):
    values = drawn(0, 4, 12, 12)
    values[3, :6] = 0
    path = write(tmp_path / "a.tif", values, photometric="rgb", alpha="yes")
    grid = Grid.of([path])
    with Raster([path], grid, bands=[1, 2, 3, 4]) as raster:
        found, known = whole(raster, grid, 8)
    assert np.array_equal(found, values)
    assert known.all()


def test_many_files_stay_within_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.raster._raster._MOST_OPEN", 2)
    values = drawn(0, 1, 8, 40)
    files = [
        write(tmp_path / f"{n}.tif", values[:, :, 8 * n : 8 * n + 8], west=WEST + 8 * n)
        for n in range(5)
    ]
    grid = Grid.of(files)
    with Raster(files, grid) as raster:
        found, _ = whole(raster, grid, 16)
        assert len(raster._open) == 2
    assert np.array_equal(found, values)


def test_map_of_the_world_is_cut_to_the_grid(tmp_path):
    image = write(tmp_path / "a.tif", drawn(0, 1, 30, 30))
    world = drawn(1, 180, 360)
    path = write(tmp_path / "world.tif", world, crs=LONLAT, west=-180, north=90, pixel=1.0)
    grid = Grid.of([image])
    with Raster([path], grid, border=4) as raster:
        found, known = whole(raster, grid, 16, border=4)
    (lon,), (lat,) = rasterio.warp.transform(UTM, LONLAT, [WEST + 15], [NORTH - 15])
    assert known.all()
    assert (found == world[int(90 - lat), int(lon + 180)]).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True))
def test_codes_become_numbers_of_classes(codes):
    with rasterio.MemoryFile() as memory:
        values = np.arange(12, dtype=np.uint8).reshape(1, 3, 4)
        profile = {"driver": "GTiff", "count": 1, "height": 3, "width": 4, "dtype": "uint8"}
        place = {"crs": UTM, "transform": Affine(1, 0, WEST, 0, -1, NORTH)}
        with memory.open(**profile, **place, nodata=3) as dataset:
            dataset.write(values)
        grid = Grid(UTM, place["transform"], 3, 4)
        with CodedMap([memory.name], grid, codes) as coded:
            found = coded.read(grid.tiles(4)[0])[:3].ravel()
    expected = [codes.index(v) if v in codes and v != 3 else -1 for v in range(12)]
    assert found.tolist() == expected


def truncated(path):
    path.write_bytes(path.read_bytes()[:3000])
    return path


def test_truncated_file_is_named(tmp_path):
    path = truncated(
        write(tmp_path / "a.tif", drawn(0, 1, 90, 90), tiled=True, blockxsize=16, blockysize=16)
    )
    with pytest.raises(InvalidInputError, match=r"a\.tif`: cannot be read as a raster"):
        read_all(path)


def read_all(path):
    grid = Grid.of([path])
    with Raster([path], grid) as raster:
        whole(raster, grid, 32)


def no_crs(folder):
    return [write(folder / "bad.tif", drawn(0, 1, 9, 9), crs=None)]


def rotated(folder):
    return [
        write(folder / "bad.tif", drawn(0, 1, 9, 9), transform=Affine(1, 0.2, WEST, 0, -1, NORTH))
    ]


def elsewhere(folder):
    return [write(folder / "bad.tif", drawn(0, 1, 9, 9), west=WEST + 1e5)]


def different(folder):
    return [
        write(folder / "a.tif", drawn(0, 3, 9, 9)),
        write(folder / "bad.tif", drawn(0, 4, 9, 9)),
    ]


def other_type(folder):
    values = drawn(0, 3, 9, 9)
    return [write(folder / "a.tif", values), write(folder / "bad.tif", values.astype("uint16"))]


def no_raster(folder):
    (folder / "bad.tif").write_text("nothing of the kind")
    return [folder / "bad.tif"]


def missing(folder):
    return [folder / "bad.tif"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (no_crs, "has no system of coordinates"),
        (rotated, "rotated or sheared; warp it"),
        (elsewhere, "lies elsewhere than the map"),
        (different, "has 4 bands of uint8, but .* has 3 of uint8"),
        (other_type, "has 3 bands of uint16, but"),
        (no_raster, "cannot be read as a raster"),
        (missing, "is not there"),
    ],
)
def test_files_that_do_not_do_are_refused(make, sentence, tmp_path):
    grid = Grid.of([write(tmp_path / "grid.tif", drawn(0, 1, 9, 9))])
    with pytest.raises(InvalidInputError, match=rf"bad\.tif`.*{sentence}"):
        Raster(make(tmp_path), grid)


def test_bands_that_are_not_there_are_refused(tmp_path):
    path = write(tmp_path / "a.tif", drawn(0, 3, 9, 9))
    grid = Grid.of([path])
    with pytest.raises(InvalidInputError, match="has no band 4, but bands 1 to 3"):
        Raster([path], grid, bands=[1, 4])
    with pytest.raises(InvalidInputError, match="`resampling` must be one of nearest"):
        Raster([path], grid, resampling="nearst")


def test_coarse_map_of_several_bands_is_refused(tmp_path):
    path = write(tmp_path / "a.tif", drawn(0, 3, 9, 9))
    with pytest.raises(InvalidInputError, match="has 3 bands of uint8; name a map of one band"):
        CodedMap([path], Grid.of([path]), [1])
