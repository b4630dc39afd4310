"""Pictures and rows are those of the instances, and what cannot be shown is said."""

import base64
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tacit.report._data import looks_of
from tests.report.cases import make_run, page_of, tables

OF = tables(n_rows=5)
IDS = [f"r{row}" for row in range(5)]
COLUMNS = {
    "id": IDS,
    "words": [f"text {row}" for row in range(5)],
    "weight": [row + 1 / 3 for row in range(5)],
    "n": [7, 8, 9, 10, 11],
    "m": [1, 1, 1, 1, 1],
    "k": [0, 0, 0, 0, 0],
}


def pixels(uri):
    kind, _, data = uri.partition(";base64,")
    assert kind in ("data:image/png", "data:image/jpeg")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def pictures(page, table="uncertain-list"):
    """The pixels of the pictures of a list, by the ids of their rows."""
    images = [found for tag, found in page.tags if tag == "img"]
    names = [
        name for listed in ("conflict-list", "uncertain-list") for name in page.column(listed, "id")
    ]
    assert len(images) == len(names)
    assert [found["alt"] for found in images] == [f"Picture of {name}" for name in names]
    assert table in page.rows
    return {name: pixels(found["src"]) for name, found in zip(names, images, strict=True)}


def report(tmp_path, data, *, ids=None, **recipe):
    run = make_run(tmp_path / "run", OF, ids=ids, recipe={"data": str(data), **recipe})
    return page_of(run)


@pytest.mark.parametrize("scale", [1.0, 16.0])
@pytest.mark.parametrize("shape", [(8, 6), (1, 8, 6)])
def test_small_images_are_shown_pixel_by_pixel(tmp_path, shape, scale):
    ink = np.random.default_rng(0).integers(0, 17, (5, *shape)) / 16
    ink[0].flat[:2] = 0, 1
    np.save(tmp_path / "x.npy", (scale * ink).astype(np.float32))
    page = report(tmp_path, tmp_path / "x.npy")
    for name, found in pictures(page).items():
        assert np.array_equal(found, np.round(255 * ink[int(name)].reshape(8, 6)))
    classes = {found.get("class") for tag, found in page.tags if tag == "img"}
    assert classes == {"coarse"}


def test_colours_are_shown_as_they_are(tmp_path):
    ink = np.random.default_rng(0).integers(0, 256, (5, 3, 7, 9), np.uint8)
    np.savez(tmp_path / "x.npz", images=ink, ids=np.array(IDS))
    found = pictures(report(tmp_path, tmp_path / "x.npz", ids=IDS))
    assert np.array_equal(found["r2"], np.moveaxis(ink[2], 0, -1))


def test_large_images_are_made_small(tmp_path):
    ink = np.random.default_rng(0).integers(0, 256, (5, 3, 90, 180), np.uint8)
    np.save(tmp_path / "x.npy", ink)
    found = pictures(report(tmp_path, tmp_path / "x.npy"))
    assert {each.shape for each in found.values()} == {(32, 64, 3)}


def test_folder_of_images_is_looked_up_by_id(tmp_path):
    (tmp_path / "x" / "sub").mkdir(parents=True)
    ids = ["sub/a", "b.png", "c", "../secret", "gone"]
    for number, name in enumerate(["sub/a.PNG", "b.png", "c.jpg", "../secret.png"]):
        Image.new("RGB", (9, 7), (50 * number, 0, 0)).save(tmp_path / "x" / name)
    page = report(tmp_path, tmp_path / "x", ids=ids)
    shown = {found["alt"] for tag, found in page.tags if tag == "img"}
    assert shown == {"Picture of sub/a", "Picture of b.png", "Picture of c"}
    assert (
        dict(
            zip(
                page.column("uncertain-list", "id"),
                page.column("uncertain-list", "instance"),
                strict=True,
            )
        )["gone"]
        == "–"
    )


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.parquet"])
@pytest.mark.parametrize("columns", [None, ["m", "weight"]])
def test_rows_of_tables_show_their_first_columns(tmp_path, name, columns):
    table = pa.table(COLUMNS)
    if name.endswith("parquet"):
        pq.write_table(table, tmp_path / name, row_group_size=2)
    else:
        table.to_pandas().to_csv(tmp_path / name, sep="\t" if "tsv" in name else ",", index=False)
    looks = looks_of(
        {"data": str(tmp_path / name), "columns": columns}, {1: "r1", 4: "r4"}, n_rows=5
    )
    assert looks.note == ""
    whole = (("words", "text 4"), ("weight", "4.33333"), ("n", "11"), ("m", "1"))
    assert looks.shown[4].cells == (whole if columns is None else (whole[3], whole[1]))
    assert sorted(looks.shown) == [1, 4]


def test_rows_of_arrays_show_their_first_numbers(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(30.0).reshape(5, 6))
    page = report(tmp_path, tmp_path / "x.npy")
    shown = dict(
        zip(
            page.column("uncertain-list", "id"),
            page.column("uncertain-list", "instance"),
            strict=True,
        )
    )
    assert shown["3"] == "feature 0 18 feature 1 19 feature 2 20 feature 3 21"


def test_long_values_are_cut(tmp_path):
    pq.write_table(pa.table({"words": ["long " * 100] * 5}), tmp_path / "x.parquet")
    looks = looks_of({"data": str(tmp_path / "x.parquet")}, {0: "0"}, n_rows=5)
    assert len(looks.shown[0].cells[0][1]) == 51


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "is not there any more"),
        (COLUMNS | {"id": IDS[::-1]}, "row 0 is called r4, not r0"),
        ({name: column[:4] for name, column in COLUMNS.items()}, "have 4 rows now, and had 5"),
        (b"PAR1 and no more", "they cannot be read ("),
    ],
)
def test_data_that_have_changed_are_not_shown(tmp_path, content, sentence):
    path = tmp_path / "x.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        pq.write_table(pa.table(content), path)
    page = report(tmp_path, path, ids=IDS)
    assert sentence in page.words
    assert "instance" not in page.rows["uncertain-list"][0]
    assert len(page.rows["uncertain-list"]) == 5


def test_python_objects_are_not_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}] * 5, dtype=object), allow_pickle=True)
    assert "they cannot be read" in report(tmp_path, tmp_path / "x.npy").words


def test_data_that_were_moved_can_be_named(tmp_path):
    pq.write_table(pa.table(COLUMNS), tmp_path / "moved.parquet")
    run = make_run(tmp_path / "run", OF, ids=IDS, recipe={"data": "gone.parquet"})
    assert "'gone.parquet' is not there" in page_of(run).words
    words = page_of(run, data=tmp_path / "moved.parquet").words
    assert "is not there" not in words
    assert "words text 3" in words


def test_report_with_many_large_pictures_stays_small(tmp_path):
    ink = np.random.default_rng(0).integers(0, 256, (450, 3, 96, 96), np.uint8)
    np.save(tmp_path / "x.npy", ink)
    of = tables(450, 40)
    classes = [f"quite a long name of a class {number}" for number in range(40)]
    recipe = {"data": str(tmp_path / "x.npy")}
    page = page_of(make_run(tmp_path / "run", of, classes=classes, recipe=recipe))
    assert sum(tag == "img" for tag, _ in page.tags) == 400
    assert len(page.text.encode()) < 3_000_000
