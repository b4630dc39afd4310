"""The belief as rasters: the same however it is cut up, interrupted or projected."""

import numpy as np
import pytest
import rasterio
import torch

from tacit.errors import InvalidInputError
from tacit.raster import BeliefRecipe, LayerFile, write_belief
from tacit.runs import RunError
from tacit.sources import Layer, coarse_map
from tests.raster.cases import NORTH, WEST, box, drawn, geojson, write

TABLE = "nlcd,water,tree,road\n11,9,1,0\n41,0,8,2\n24,0,1,9\n52,0,0,0\n"
CODES = np.array([11, 41, 24, 52])
HEIGHT, WIDTH = 150, 170


@pytest.fixture
def small(monkeypatch):
    """Windows so small that there are many of them."""
    monkeypatch.setattr("tacit.raster._belief_run.TILE", 64)


@pytest.fixture
def files(tmp_path):
    """Imagery with a hole, and a coarse map of blocks that reaches further."""
    image = drawn(0, 3, HEIGHT, WIDTH)
    image[:, 20:40, 30:80] = 0
    write(tmp_path / "image.tif", image, nodata=0)
    blocks = CODES[np.random.default_rng(1).integers(0, 4, (12, 12))].astype(np.uint8)
    blocks[7, 7] = 0
    write(tmp_path / "coarse.tif", blocks, nodata=0, pixel=30.0, west=WEST - 90, north=NORTH + 90)
    (tmp_path / "table.csv").write_text(TABLE)
    return tmp_path


def recipe(folder, **settings):
    named = {"imagery": ("image.tif",), "coarse": ("coarse.tif",)}
    paths = {key: tuple(str(folder / n) for n in names) for key, names in named.items()}
    return BeliefRecipe(**paths, cooccurrence=str(folder / "table.csv"), **settings)


def written(folder, name="belief"):
    with rasterio.open(folder / f"{name}.tif") as dataset:
        return dataset.read(), dataset.read_masks(1) > 0


def expected(folder, **settings):
    """The belief from arrays alone: blocks repeated, and a frame of what lies around."""
    with rasterio.open(folder / "coarse.tif") as dataset:
        blocks = dataset.read(1)
    codes = np.kron(blocks, np.ones((30, 30), int))[40:-20, 40:-20]
    numbers = np.full(256, -1)
    numbers[CODES] = np.arange(4)
    table = [[9.0, 1, 0], [0, 8, 2], [0, 1, 9], [0, 0, 0]]
    wide = coarse_map(torch.from_numpy(numbers[codes]), table, **settings)
    return wide.numpy()[:, 50 : 50 + HEIGHT, 50 : 50 + WIDTH]


@pytest.mark.usefixtures("small")
def test_belief_is_that_of_the_arrays(files):
    summary = write_belief(recipe(files, stored="float32"), files / "out")
    found, known = written(files / "out")
    assert np.array_equal(known, written_image(files))
    p = expected(files)
    np.testing.assert_allclose(found[:, known], p[:, known], rtol=0, atol=1e-6)
    classes, _ = written(files / "out", "classes")
    assert np.array_equal(classes[0][known], p.argmax(0)[known])
    entropy, _ = written(files / "out", "entropy")
    bits = -(p * np.log2(p)).sum(0)
    np.testing.assert_allclose(entropy[0][known], bits[known], atol=1e-5)
    assert summary.n_pixels == known.sum()
    assert summary.balance == pytest.approx(p[:, known].mean(1, dtype=float), abs=1e-6)
    assert summary.bits == pytest.approx(bits[known].mean(dtype=float), abs=1e-5)


def written_image(folder):
    with rasterio.open(folder / "image.tif") as dataset:
        return dataset.dataset_mask() > 0


def test_size_of_windows_leaves_no_trace(files, monkeypatch):
    found = []
    for size in (64, 100, 512):
        monkeypatch.setattr("tacit.raster._belief_run.TILE", size)
        write_belief(recipe(files, stored="float32"), files / f"out{size}")
        found.append(np.nan_to_num(written(files / f"out{size}")[0]))
    assert np.abs(found[0] - found[1]).max() < 1e-6
    assert np.abs(found[0] - found[2]).max() < 1e-6


@pytest.mark.usefixtures("small")
def test_layers_and_area_count(files):
    shape = box(40, 60, 90, 101)
    layer = LayerFile(str(geojson(files / "road.geojson", shape)), "road", 30.0, 1.5)
    area = str(geojson(files / "area.geojson", box(30, 50, 120, 130)))
    write_belief(recipe(files, stored="float32", layers=(layer,), area=area), files / "out")
    found, known = written(files / "out")
    assert found.shape == (3, 80, 90)
    assert known.all()
    road = np.zeros((300, 300), np.float32)
    # A shape that ends on an edge of pixels touches those beyond it as well, or does not: GDAL's.
    road[110:151, 90:140] = 1
    p = expected(files, layers=[Layer(road, 2, 30.0, 1.5)])[:, 50:130, 30:120]
    inner = np.zeros((80, 90), bool)
    inner[20:40, 20:50] = True
    np.testing.assert_allclose(found[:, inner], p[:, inner], atol=1e-6)
    assert (found[2, inner] > expected(files)[2, 50:130, 30:120][inner]).all()


class Killed(BaseException):
    """As a signal would end it."""


@pytest.mark.usefixtures("small")
def test_killed_run_goes_on_and_ends_with_the_same_bytes(files):
    write_belief(recipe(files), files / "whole")

    def kill(done, _):
        if done == 4:
            raise Killed

    with pytest.raises(Killed):
        write_belief(recipe(files), files / "out", watch=kill)
    kept = {path.name: path.stat().st_mtime_ns for path in (files / "out" / ".windows").iterdir()}
    assert len(kept) == 4
    with pytest.raises(RunError, match="pass --resume"):
        write_belief(recipe(files), files / "out")
    done = []
    write_belief(recipe(files), files / "out", resume=True, watch=lambda n, _: done.append(n))
    for name in ("belief", "classes", "entropy"):
        one, two = (files / run / f"{name}.tif" for run in ("whole", "out"))
        assert one.read_bytes() == two.read_bytes()
    assert sorted(path.name for path in (files / "out").iterdir()) == [
        "belief.tif",
        "classes.tif",
        "entropy.tif",
        "run.json",
    ]
    again = write_belief(recipe(files), files / "out", resume=True)
    assert again.n_pixels == written_image(files).sum()


@pytest.mark.usefixtures("small")
def test_run_does_not_go_on_where_a_file_was_changed(files):
    write_belief(recipe(files), files / "out")
    (files / "table.csv").write_text(TABLE.replace("11,9,1,0", "11,8,2,0"))
    with pytest.raises(RunError, match="holds a run with files"):
        write_belief(recipe(files), files / "out", resume=True)


@pytest.mark.usefixtures("small")
def test_windows_without_imagery_cost_nothing_and_hold_nothing(files, monkeypatch):
    write(files / "image.tif", np.zeros((3, HEIGHT, WIDTH), np.uint8), nodata=0)
    monkeypatch.setattr("tacit.raster._beliefs.coarse_map", None)
    summary = write_belief(recipe(files), files / "out")
    assert (summary.n_pixels, summary.bits) == (0, 0.0)
    assert not written(files / "out")[1].any()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (TABLE.replace("24,0,1,9\n", ""), r"coarse\.tif`: holds the codes 24; add a row for each"),
        (TABLE.replace("24,", "city,"), r"table\.csv`, row 2 .*is named 'city', which is no whole"),
        (TABLE.replace("9,1,0", "-9,1,0"), r"table\.csv`, row 0 \(id 11\), column `water`"),
    ],
)
def test_tables_that_do_not_do_are_refused(table, sentence, files):
    (files / "table.csv").write_text(table)
    with pytest.raises(InvalidInputError, match=sentence):
        write_belief(recipe(files), files / "out")
    assert not (files / "out").exists()
