"""From a coarse map and labelled tiles to a belief about imagery and its score, by commands."""

import json

import numpy as np
import pytest
import rasterio

from tests.cli.cases import tacit
from tests.raster.cases import NORTH, WEST, box, drawn, geojson, write


@pytest.fixture
def files(tmp_path):
    """Half forest and half city; a tile of labels that has a road along the edge of both."""
    coarse = np.full((10, 10), 41, np.uint8)
    coarse[:, 5:] = 24
    write(tmp_path / "coarse.tif", coarse, pixel=30.0, nodata=0)
    labels = np.full((200, 260), 2, np.uint8)
    labels[:, 150:] = 5
    labels[:, 148:152] = 6
    write(tmp_path / "labels.tif", labels, west=WEST + 20, north=NORTH - 20)
    write(tmp_path / "image.tif", drawn(0, 3, 200, 260), west=WEST + 20, north=NORTH - 20)
    return tmp_path


def counted(folder, *arguments, code=0):
    merge = ("--merge", "road=impervious surface", "--merge", "barren=impervious surface")
    table = folder / "table.csv"
    tile = ("--labels", folder / "labels.tif", "--classes", "chesapeake")
    return tacit(
        "cooccurrence", folder / "coarse.tif", *tile, *merge, "--out", table, *arguments, code=code
    )


def believed(folder, *arguments, code=0):
    told = ("--coarse", folder / "coarse.tif", "--cooccurrence", folder / "table.csv")
    return tacit(
        "belief", folder / "image.tif", *told, "--out", folder / "run", *arguments, code=code
    )


def test_commands_lead_from_a_coarse_map_to_a_score(files):
    said = counted(files, "--coarse-classes", "nlcd").stdout
    assert "2 of 20 coarse classes were seen" in said
    said = believed(files).stdout
    assert "260 x 200 pixels, 52,000 of them with data" in said
    assert "belief.tif, classes.tif, entropy.tif" in said
    assert "tree canopy" in said
    arguments = ("--reference-classes", "chesapeake", "--merge", "road=impervious surface")
    scores = json.loads(
        tacit(
            "evaluate", files / "run" / "classes.tif", files / "labels.tif", *arguments, "--json"
        ).stdout
    )
    assert scores["n"] == 52_000
    assert scores["accuracy"] > 0.9
    assert scores["iou"]["water"] is None
    with rasterio.open(files / "labels.tif") as dataset:
        truth = dataset.read(1) == 2
    with rasterio.open(files / "run" / "classes.tif") as dataset:
        found = dataset.read(1) == 1
    iou = (truth & found).sum() / (truth | found).sum()
    assert scores["iou"]["tree canopy"] == pytest.approx(iou)


def test_what_is_printed_is_what_json_says(files):
    found = json.loads(counted(files, "--json").stdout)
    assert found["seen"] == ["24", "41"]
    summary = json.loads(believed(files, "--stored", "float32", "--json").stdout)
    assert sum(summary["balance"]) == pytest.approx(1)
    named = (
        "--areas",
        geojson(files / "areas.geojson", box(20, 20, 90, 120)),
        "--area-names",
        "name",
    )
    rest = ("--reference-classes", "chesapeake", *named)
    said = tacit("evaluate", files / "run" / "classes.tif", files / "labels.tif", *rest).stdout
    assert "0: accuracy 100.0%, mean IoU 100.0% over 1 classes, 7,000 pixels" in said


def test_layer_and_area_are_taken_from_text(files):
    counted(files)
    layer = geojson(files / "wet.geojson", box(30.5, 30.5, 50.5, 50.5))
    area = geojson(files / "area.geojson", box(20, 20, 120, 80))
    told = f"{layer}=water,weight=1e6,sigma=0"
    said = believed(files, "--layer", told, "--area", area, "--smoothing", "1e-3").stdout
    assert "100 x 60 pixels" in said
    with rasterio.open(files / "run" / "classes.tif") as dataset:
        assert (dataset.read(1) == 0).sum() == 21 * 21


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--layer", "roads.gpkg"), "`--layer` must be FILE=CLASS"),
        (("--layer", "a.gpkg=road,weight=much"), "its weight is 'much'"),
        (("--stored", "int8"), "`stored` must be uint8 or float32"),
        (("--sigma", "-1"), "`sigma` must be at least 0"),
    ],
)
def test_options_that_do_not_do_are_refused(arguments, sentence, files):
    counted(files)
    assert sentence in believed(files, *arguments, code=1).stderr
    assert not (files / "run").exists()


def test_tables_are_not_written_over_and_merging_is_explained(files):
    counted(files)
    assert "is there already" in counted(files, code=1).stderr
    table = files / "table.csv"
    table.unlink()
    assert "`--merge` must be FROM=INTO" in counted(files, "--merge", "barren", code=1).stderr


def test_run_goes_on_when_asked(files):
    counted(files)
    believed(files)
    assert "holds a finished run" in believed(files, code=1).stderr
    assert "52,000" in believed(files, "--resume").stdout
