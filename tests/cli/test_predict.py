"""`tacit predict`: a stored model meets new data."""

import json

import numpy as np
import pytest
from PIL import Image

from tests.cli.cases import CLASSES, QUICK, case, refused, resolve, table, tacit
from tests.table.cases import save


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a run in `run`, and new data in `new.parquet`, with a column too many."""
    folder = tmp_path_factory.mktemp("trained")
    case().write(folder)
    resolve(folder, "--epochs", 20, "--out", folder / "run")
    new = case(31, seed=1)
    more = {"why": ["text"] * 31} | dict(reversed(new.columns.items()))
    save(folder / "new.parquet", more)
    named = [CLASSES[label] for label in new.excluded]
    save(folder / "known.csv", new.shuffled("excluded", named))
    return folder


def predict(folder, *arguments, model="run", data="new.parquet", out="q.parquet"):
    return tacit("predict", folder / model, folder / data, "--out", out, *arguments)


def shares(found, kind):
    return np.stack([found[f"{kind}_{name}"] for name in CLASSES], 1)


@pytest.mark.parametrize("model", ["run", "run/model"])
def test_labels_are_the_likeliest_classes_by_features_alone(trained, tmp_path, model):
    done = predict(trained, model=model, out=tmp_path / "q.parquet")
    found = table(tmp_path / "q.parquet")
    assert [*found] == ["id", "label", "entropy", *(f"q_{name}" for name in CLASSES)]
    assert found["id"] == case(31).ids
    assert found["label"] == [CLASSES[place] for place in shares(found, "q").argmax(1)]
    np.testing.assert_allclose(shares(found, "q").sum(1), 1, atol=1e-6)
    assert done.stdout == f"{tmp_path}/q.parquet: 31 labels\n"


def test_prediction_on_the_collection_is_that_of_the_run(trained, tmp_path):
    predict(trained, data="x.parquet", out=tmp_path / "q.parquet")
    again, first = table(tmp_path / "q.parquet"), table(trained / "run" / "resolved.parquet")
    np.testing.assert_allclose(shares(again, "q"), shares(first, "q"), atol=1e-6)


def test_beliefs_give_a_posterior_by_their_ids(trained, tmp_path):
    predict(trained, "--beliefs", trained / "known.csv", out=tmp_path / "r.parquet")
    found, new = table(tmp_path / "r.parquet"), case(31, seed=1)
    r = shares(found, "r")
    np.testing.assert_allclose(r.sum(1), 1, atol=1e-6)
    assert (r[np.arange(31), new.excluded] == 0).all()
    assert found["label"] == [CLASSES[place] for place in r.argmax(1)]


def test_tempering_of_zero_leaves_the_beliefs_as_they_are(trained, tmp_path):
    options = ("--beliefs", trained / "known.csv", "--tempering", 0)
    predict(trained, *options, out=tmp_path / "r.parquet")
    r = shares(table(tmp_path / "r.parquet"), "r")
    np.testing.assert_allclose(np.sort(r, 1), np.tile([0, 0.5, 0.5], (31, 1)), atol=1e-6)


def test_features_without_names_are_taken_in_order_and_that_is_noted(trained, tmp_path):
    np.save(tmp_path / "x.npy", case().X)
    done = tacit("predict", trained / "run", tmp_path / "x.npy", "--out", tmp_path / "q.parquet")
    assert "taken to be, in this order, f0, f1, f2, f3" in done.stdout
    predict(trained, data="x.parquet", out=tmp_path / "named.parquet")
    unnamed, named = (table(tmp_path / f"{name}.parquet") for name in ("q", "named"))
    assert unnamed["label"] == named["label"]
    assert unnamed["id"] == [*range(60)]


def test_json_is_one_object(trained, tmp_path):
    done = predict(trained, "--json", out=tmp_path / "q.parquet")
    out = str(tmp_path / "q.parquet")
    assert json.loads(done.stdout) == {"out": out, "n_instances": 31, "notes": []}
    assert done.stderr == ""


def test_folder_of_images_is_predicted(tmp_path):
    (tmp_path / "images").mkdir()
    rng = np.random.default_rng(0)
    for name in range(8):
        shades = rng.integers(0, 255, (9, 8)).astype(np.uint8)
        Image.fromarray(shades).save(tmp_path / "images" / f"i{name}.png")
    rows = {"id": [f"i{name}" for name in range(8)], "label": ["a", "b"] * 4}
    arguments = ("--beliefs", save(tmp_path / "b.csv", rows), "--out", tmp_path / "run", *QUICK)
    tacit("resolve", tmp_path / "images", *arguments)
    tacit("predict", tmp_path / "run", tmp_path / "images", "--out", tmp_path / "q.parquet")
    assert table(tmp_path / "q.parquet")["id"] == rows["id"]
    np.save(tmp_path / "x.npy", np.zeros((2, 1, 5, 8), np.float32))
    said = refused("predict", tmp_path / "run", tmp_path / "x.npy", "--out", tmp_path / "p.parquet")
    assert "instances of shape (1, 9, 8)" in said
    assert "have (1, 5, 8)" in said


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"out": "q.csv"}, "`out` must end in .parquet"),
        ({"out": "new.parquet"}, "`out` must be a new file, but 'new.parquet' is there"),
        ({"out": "gone/q.parquet"}, "`out` must lie in a folder that is there"),
        ({"out": "q" * 300 + ".parquet"}, "`out` must name a file, but the system says"),
        ({"data": "old.parquet"}, "is not there"),
        ({"data": "known.csv"}, "has no column `f0`"),
        ({"model": "gone"}, "'gone' is no model"),
        ({"model": "x.parquet"}, "is no model"),
        ({"beliefs": "unknown.csv"}, "(did you mean `known.csv`?)"),
        ({"beliefs": "excluded.csv", "data": "odd.csv"}, "has no id that the features have"),
        ({"tempering": "0.5"}, "`tempering` must be left out where there are no beliefs"),
        ({"votes": "majority"}, "`votes` must be left out where there are no beliefs"),
        ({"votes": "dawid_skene", "beliefs": "known.csv"}, "`votes` must be majority for a model"),
        ({"votes": "most", "beliefs": "known.csv"}, "`votes` must be one of dawid_skene, majority"),
        ({"taxonomy": "tree.yaml", "beliefs": "known.csv"}, "is not there"),
        ({"tempering": "-1", "beliefs": "known.csv"}, "`tempering` must be finite and at least 0"),
        ({"tempering": "nan", "beliefs": "known.csv"}, "`tempering` must be finite"),
        ({"device": "gpu"}, "`device` must be one that torch knows"),
        ({"id-column": "name"}, "has no column `name`"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    trained, monkeypatch, change, sentence
):
    monkeypatch.chdir(trained)
    case(3).write(trained)
    case().write(trained)
    odd = case(3).columns | {"id": ["x", "y", "z"]}
    save(trained / "odd.csv", odd)
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*")}
    wanted = {"model": "run", "data": "new.parquet", "out": "q.parquet"} | change
    files = (wanted.pop("model"), wanted.pop("data"))
    options = [f"--{name}={value}" for name, value in wanted.items()]
    assert sentence in refused("predict", *files, *options)
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*")} == before
