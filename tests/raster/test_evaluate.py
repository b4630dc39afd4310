"""Tables that are counted from maps, and scores of maps, against what arrays say."""

import math

import numpy as np
import pytest
import torch

from tacit.diagnostics import scored
from tacit.errors import InvalidInputError
from tacit.raster import (
    CHESAPEAKE,
    ClassTable,
    class_product,
    count_rasters,
    evaluate,
    read_classes,
)
from tacit.sources import count_cooccurrence
from tacit.table import read_cooccurrence, write_cooccurrence
from tests.raster.cases import NORTH, WEST, box, drawn, geojson, write

GREY = ((9, 9, 9),) * 3
OURS = ClassTable((0, 1, 2), ("tree", "road", "soil"), GREY)
THEIRS = ClassTable((5, 6, 7), ("soil", "tree", "road"), GREY)


def confusion(true, found, n):
    table = torch.zeros(n, n, dtype=torch.long)
    np.add.at(table.numpy(), (true, found), 1)
    return table


@pytest.fixture
def maps(tmp_path):
    """A map with no-data, and a reference that reaches less far, has other codes and a gap."""
    ours, theirs = drawn(1, 60, 70, high=3), drawn(2, 40, 50, high=4) + 4
    ours[:4] = 255
    theirs[:, -3:] = 99
    write(tmp_path / "map.tif", ours, nodata=255)
    write(tmp_path / "reference.tif", theirs, west=WEST + 10, north=NORTH - 1)
    both = ours[1:41, 10:60], theirs
    known = (both[0] != 255) & (theirs != 99)
    return tmp_path, both, known


def test_scores_are_those_of_the_arrays(maps):
    folder, (ours, theirs), known = maps
    found = evaluate(
        [folder / "map.tif"], [folder / "reference.tif"], classes=OURS, reference_classes=THEIRS
    )
    assert found.classes == ("soil", "tree", "road")
    order = np.array([1, 2, 0])  # of ours among theirs
    expected = confusion(theirs[known].astype(int) - 5, order[ours[known]], 3)
    assert torch.equal(found.scores.confusion, expected)
    assert found.scores.mean_iou == scored(expected).mean_iou
    assert found.as_dict()["n"] == known.sum()


def test_merged_classes_are_one(maps):
    folder, (ours, theirs), known = maps
    found = evaluate(
        [folder / "map.tif"],
        [folder / "reference.tif"],
        classes=OURS,
        reference_classes=THEIRS,
        into={"soil": "road"},
    )
    assert found.classes == ("road", "tree")
    same = (theirs[known] == 6) == (ours[known] == 0)
    assert found.scores.accuracy == pytest.approx(same.mean())


def test_areas_are_scored_each(maps):
    folder, (ours, theirs), known = maps
    path = geojson(folder / "areas.geojson", box(10, 1, 30, 41), box(40, 21, 55, 41))
    found = evaluate(
        [folder / "map.tif"],
        [folder / "reference.tif"],
        classes=OURS,
        reference_classes=THEIRS,
        areas=path,
        area_names="name",
    )
    order = np.array([1, 2, 0])
    assert list(found.areas) == ["0", "1"]
    for name, part in {"0": np.s_[:, :20], "1": np.s_[20:, 30:45]}.items():
        here = known[part]
        table = confusion(theirs[part][here].astype(int) - 5, order[ours[part][here]], 3)
        assert torch.equal(found.areas[name].confusion, table)


def test_map_of_tacit_says_what_its_codes_mean(tmp_path):
    import rasterio

    product = class_product("classes", ("tree", "road"))
    values = drawn(1, 20, 30, high=2)
    path = write(tmp_path / "map.tif", values, nodata=255)
    with rasterio.open(path, "r+") as dataset:
        dataset.update_tags(CLASSES='{"0": "tree", "1": "road"}')
    assert product.classes == {0: "tree", 1: "road"}
    found = evaluate([path], [path])
    assert (found.classes, found.scores.accuracy) == (("tree", "road"), 1.0)


def test_map_that_says_nothing_of_its_codes_is_refused(maps):
    folder, _, _ = maps
    with pytest.raises(InvalidInputError, match=r"map\.tif`: does not say what its codes mean"):
        evaluate([folder / "map.tif"], [folder / "reference.tif"])
    with pytest.raises(InvalidInputError, match="have no pixel in common"):
        evaluate([folder / "map.tif"], [folder / "reference.tif"], classes=OURS)
    with pytest.raises(InvalidInputError, match="has no column `city`"):
        evaluate(
            [folder / "map.tif"],
            [folder / "reference.tif"],
            classes=OURS,
            reference_classes=THEIRS,
            areas=geojson(folder / "areas.geojson", box(10, 1, 30, 41)),
            area_names="city",
        )


def test_counted_table_is_that_of_the_arrays(tmp_path):
    coarse = np.array([11, 41, 24], np.uint8)[drawn(3, 60, 90, high=4) % 3]
    write(tmp_path / "coarse.tif", coarse, west=WEST, north=NORTH)
    tiles = [np.s_[2:32, 5:25], np.s_[30:60, 40:90]]
    files, observed, labels, part = [], [], [], []
    for number, place in enumerate(tiles):
        values = drawn(4 + number, 60, 90, high=7)[place]
        west, north = WEST + place[1].start, NORTH - place[0].start
        files.append(write(tmp_path / f"{number}.tif", values, west=west, north=north))
        observed.append(np.searchsorted([11, 24, 41], coarse[place].ravel()))
        labels.append(values.ravel().astype(int) - 1)
        part.append(np.full(values.size, number))
    table = count_rasters([tmp_path / "coarse.tif"], files, classes=CHESAPEAKE)
    expected = count_cooccurrence(
        np.concatenate(observed),
        np.concatenate(labels),
        n_observed=3,
        n_classes=6,
        part=np.concatenate(part),
    )
    assert (table.observed, table.classes) == (("11", "24", "41"), CHESAPEAKE.names)
    assert torch.allclose(table.table, expected, atol=1e-14)
    write_cooccurrence(tmp_path / "table.csv", table)
    again = read_cooccurrence(tmp_path / "table.csv")
    assert again[:2] == table[:2]
    assert torch.equal(again.table, table.table)


def test_classes_that_were_not_seen_have_rows_of_zeros_and_merged_ones_are_added(tmp_path):
    coarse = write(tmp_path / "coarse.tif", np.full((4, 6), 41, np.uint8))
    values = np.array([[2, 2, 2, 4, 5, 6]] * 4, np.uint8)
    labels = write(tmp_path / "labels.tif", values)
    table = count_rasters(
        [coarse],
        [labels],
        classes=CHESAPEAKE,
        coarse_classes=read_classes("nlcd"),
        into={"barren": "road", "impervious surface": "road"},
    )
    assert table.classes == ("water", "tree canopy", "low vegetation", "road")
    shares = dict(zip(table.observed, table.table.tolist(), strict=True))
    assert shares.pop("41") == [0, 0.5, 0, 0.5]
    assert len(shares) == 19
    assert not any(map(any, shares.values()))


def test_classes_come_from_files(tmp_path):
    path = tmp_path / "classes.csv"
    path.write_text("code,name,colour\n3,tree,#0a0b0c\n9,road,\n")
    found = read_classes(path)
    assert found == ClassTable((3, 9), ("tree", "road"), ((10, 11, 12), (128, 128, 128)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name\ntree\n", "has no column `code`"),
        ("code,name\n", "has no rows"),
        ("code,name\nx,tree\n", "row 0 .*cannot be understood"),
        ("code,name\n1,tree\n1,road\n", "has a code twice"),
    ],
)
def test_class_files_that_do_not_do_are_refused(text, sentence, tmp_path):
    path = tmp_path / "classes.csv"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=sentence):
        read_classes(path)


def test_labels_elsewhere_than_the_coarse_map_are_refused(tmp_path):
    coarse = write(tmp_path / "coarse.tif", np.full((4, 6), 41, np.uint8))
    labels = write(tmp_path / "labels.tif", np.full((4, 6), 99, np.uint8))
    with pytest.raises(InvalidInputError, match="has no label of these classes"):
        count_rasters([coarse], [labels], classes=CHESAPEAKE)
    with pytest.raises(InvalidInputError, match="'soil' is none"):
        count_rasters([coarse], [labels], classes=CHESAPEAKE, into={"soil": "road"})


def test_scores_without_a_number_are_none(maps):
    folder, _, _ = maps
    empty = ClassTable((1, 2, 250), ("road", "soil", "snow"), GREY)
    found = evaluate(
        [folder / "map.tif"], [folder / "map.tif"], classes=empty, reference_classes=empty
    )
    assert found.as_dict()["iou"] == {"road": 1.0, "soil": 1.0, "snow": None}
    assert math.isnan(float(found.scores.iou[2]))
