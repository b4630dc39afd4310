"""`tacit check`: what beliefs are worth, before anything is learned."""

import json

import numpy as np
import pytest

from tests.cli.cases import case, refused, tacit
from tests.table.cases import save

ROWS = {"id": ["a", "b", "c"], "candidates": [["cat"], ["cat", "dog"], []]}


def test_worth_is_counted_in_bits(tmp_path):
    done = tacit("check", save(tmp_path / "b.parquet", ROWS), "--json")
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    # One bit is known of a, none of b and c, as there are but two classes.
    assert found["bits"] == pytest.approx(1 / 3)
    assert (found["most_bits"], found["n_certain"], found["n_open"]) == (1, 1, 2)
    assert found["balance"] == pytest.approx([2 / 3, 1 / 3])
    assert (found["kind"], found["classes"]) == ("candidates", ["cat", "dog"])


def test_text_says_the_same(tmp_path):
    said = tacit("check", save(tmp_path / "b.parquet", ROWS)).stdout
    for words in ("candidates about 2 classes, 3 rows", "0.333 bits of 1.000", "66.67%  cat"):
        assert words in said


@pytest.mark.parametrize(
    ("rows", "classes", "sentence"),
    [
        (ROWS, "cat,dog,yak|", "No row allows"),
        ({"label": ["a", "b"]}, "a,b", "Every label is certain"),
        ({"a": [0.5, 0.5], "b": [0.5, 0.5]}, "a,b", "The beliefs tell hardly anything"),
    ],
)
def test_findings_say_what_to_look_at(tmp_path, rows, classes, sentence):
    if "|" in classes:
        rows = rows | {"candidates": [["cat"], ["cat", "dog"], ["dog"]]}
    path = save(tmp_path / "b.parquet", rows)
    assert sentence in tacit("check", path, "--classes", classes.strip("|")).stdout


def test_many_classes_are_not_all_shown(tmp_path):
    np.save(tmp_path / "p.npy", np.eye(30))
    said = tacit("check", tmp_path / "p.npy").stdout
    assert "... and 10 classes more" in said
    assert len(said.splitlines()) < 30


def test_features_show_whether_the_ids_join(files):
    arguments = ("check", files / "excluded.csv", "--data")
    done = tacit(*arguments, files / "x.parquet", "--columns", "f0,f1", "--json")
    assert json.loads(done.stdout)["n_instances"] == 60
    odd = case().columns | {"id": [f"x{row}" for row in range(60)]}
    assert "has no id" in refused(*arguments, save(files / "odd.parquet", odd))


def test_configuration_of_a_run_will_do(files):
    lines = {"data": files / "x.parquet", "beliefs": files / "excluded.csv", "out": "run"}
    text = "".join(f'{name} = "{value}"\n' for name, value in lines.items())
    (files / "run.toml").write_text(text + "epochs = 5\n")
    found = json.loads(tacit("check", "--config", files / "run.toml", "--json").stdout)
    assert (found["n_instances"], found["kind"]) == (60, "excluded")
    (files / "run.toml").write_text(text + "epoch = 5\n")
    assert "did you mean `epochs`" in refused("check", "--config", files / "run.toml")


def test_pairs_want_the_classes(tmp_path):
    pairs = {"first": ["a"], "second": ["b"], "relation": [">"]}
    path = save(tmp_path / "pairs.csv", pairs)
    assert "pass them, the lowest first" in refused("check", path)
    said = tacit("check", path, "--classes", "3").stdout
    assert "pairs about 3 classes, 2 rows" in said


def test_file_that_is_not_there_is_refused(tmp_path):
    assert "is not there" in refused("check", tmp_path / "b.csv")
    assert "`beliefs` must be given" in refused("check")
