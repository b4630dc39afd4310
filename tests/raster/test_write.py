"""Results as Cloud Optimised GeoTIFFs: whole or not at all, and what they say of themselves."""

import json
import math
import warnings

import numpy as np
import pytest
import rasterio
from rio_cogeo import cog_validate

from tacit.errors import InvalidInputError
from tacit.raster import (
    CHESAPEAKE,
    Grid,
    Parts,
    RasterWriteError,
    class_product,
    probability_product,
    share_product,
    write_cog,
)
from tests.raster.cases import drawn, write

HEIGHT, WIDTH, SIZE = 700, 1100, 256


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    return Grid.of([write(folder / "grid.tif", drawn(0, 1, HEIGHT, WIDTH), pixel=0.6)])


def saved(grid, folder, products, values, known):
    """All windows of results, kept."""
    parts = Parts(folder / "parts")
    for tile in grid.tiles(SIZE):
        rows, columns = slice(tile.top, tile.top + SIZE), slice(tile.left, tile.left + SIZE)
        wide = ((0, SIZE - tile.height), (0, SIZE - tile.width))
        arrays = {}
        for product in products:
            block = np.pad(values[product.name][:, rows, columns], ((0, 0), *wide))
            arrays[product.name] = product.stored(block, np.pad(known[rows, columns], wide))
        parts.save(tile, arrays)
    return parts


def results(seed):
    """Probabilities of three classes, the likeliest of them, and where they are known."""
    random = np.random.default_rng(seed)
    p = random.random((3, HEIGHT, WIDTH)).astype(np.float32)
    p /= p.sum(0)
    known = random.random((HEIGHT, WIDTH)) > 0.1
    return {"belief": p, "classes": p.argmax(0)[np.newaxis], "entropy": p[:1] * 1.5}, known


NAMES = ("water", "tree", "road")
PRODUCTS = {
    "bytes": probability_product("belief", NAMES),
    "floats": probability_product("belief", NAMES, "float32"),
    "classes": class_product("classes", NAMES, colours=CHESAPEAKE.colours[:3]),
    "entropy": share_product("entropy", "bits", most=math.log2(3)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_written_raster_is_a_valid_cog_that_says_what_it_holds(name, grid, tmp_path):
    product = PRODUCTS[name]
    values, known = results(1)
    parts = saved(grid, tmp_path, [product], values, known)
    path = tmp_path / "out.tif"
    write_cog(path, grid, product, grid.tiles(SIZE), parts)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert cog_validate(path, strict=True, quiet=True) == (True, [], [])
    with rasterio.open(path) as dataset:
        assert (dataset.crs, dataset.shape) == (grid.crs, (HEIGHT, WIDTH))
        assert dataset.transform == grid.transform
        assert dataset.descriptions == product.bands
        assert dataset.overviews(1) == [2, 4]
        assert dataset.nodata == product.no_data or math.isnan(dataset.nodata)
        found = dataset.read(masked=True) * dataset.scales[0]
        mask = dataset.read_masks(1) > 0
    assert np.array_equal(mask, known)
    exact = values[product.name][:, known]
    step = 0 if name == "floats" else product.scale / 2 if product.scale != 1 else 0
    assert np.abs(found[:, known] - exact).max() <= step + 1e-6


def test_map_of_classes_has_colours_names_and_overviews_of_classes(grid, tmp_path):
    product = PRODUCTS["classes"]
    values, known = results(2)
    path = tmp_path / "classes.tif"
    write_cog(
        path, grid, product, grid.tiles(SIZE), saved(grid, tmp_path, [product], values, known)
    )
    with rasterio.open(path) as dataset:
        colours = dataset.colormap(1)
        assert [colours[code][:3] for code in range(3)] == list(CHESAPEAKE.colours[:3])
        assert json.loads(dataset.tags()["CLASSES"]) == {"0": "water", "1": "tree", "2": "road"}
        small = dataset.read(1, out_shape=(HEIGHT // 4, WIDTH // 4))
    assert set(np.unique(small)) <= {0, 1, 2, 255}


@pytest.mark.parametrize("n", [3, 4])
def test_bands_of_probabilities_are_no_colours(n, grid, tmp_path):
    product = probability_product("belief", [f"class {i}" for i in range(n)])
    values = {"belief": np.full((n, HEIGHT, WIDTH), 1 / n, np.float32)}
    parts = saved(grid, tmp_path, [product], values, np.ones((HEIGHT, WIDTH), bool))
    write_cog(tmp_path / "out.tif", grid, product, grid.tiles(SIZE), parts)
    with rasterio.open(tmp_path / "out.tif") as dataset:
        kinds = {colour.name for colour in dataset.colorinterp}
        assert not kinds & {"red", "alpha"}
        assert (dataset.dataset_mask() == 255).all()


def test_window_is_kept_whole_or_not_at_all(grid, tmp_path, monkeypatch):
    parts = Parts(tmp_path / "parts")
    one, two = grid.tiles(SIZE)[:2]
    parts.save(one, {"a": np.ones((1, 4, 4))})

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", killed)
    with pytest.raises(KeyboardInterrupt):
        parts.save(two, {"a": np.ones((1, 4, 4))})
    assert one in parts
    assert two not in parts
    assert len(list(parts.folder.iterdir())) == 1


def test_damaged_window_is_named(grid, tmp_path):
    parts = Parts(tmp_path / "parts")
    tile = grid.tiles(SIZE)[0]
    parts.save(tile, {"a": np.arange(16).reshape(1, 4, 4)})
    (path,) = parts.folder.iterdir()
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(RasterWriteError, match=r"is damaged .*; delete it, and go on"):
        parts.load(tile, "a")


def test_full_disk_keeps_the_windows_and_leaves_no_half_file(grid, tmp_path, monkeypatch):
    product = PRODUCTS["classes"]
    values, known = results(3)
    parts = saved(grid, tmp_path, [product], values, known)
    before = sorted(path.name for path in parts.folder.iterdir())

    def full(*_, **__):
        raise rasterio.errors.RasterioIOError("No space left on device.")

    monkeypatch.setattr(rasterio.shutil, "copy", full)
    with pytest.raises(RasterWriteError, match=r"No space left on device\); finished windows"):
        write_cog(tmp_path / "out.tif", grid, product, grid.tiles(SIZE), parts)
    assert not (tmp_path / "out.tif").exists()
    assert set(before) <= {path.name for path in parts.folder.iterdir()}
    monkeypatch.undo()
    write_cog(tmp_path / "out.tif", grid, product, grid.tiles(SIZE), parts)
    assert (tmp_path / "out.tif").exists()


def test_codes_beyond_a_byte_and_unknown_types_are_refused():
    with pytest.raises(InvalidInputError, match="`codes` must lie between 0 and 254"):
        class_product("classes", NAMES, codes=[0, 1, 255])
    with pytest.raises(InvalidInputError, match="`stored` must be uint8 or float32"):
        probability_product("belief", NAMES, "int8")
