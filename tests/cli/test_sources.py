"""Votes, taxonomies and tables of co-occurrence on the command line."""

import json

import numpy as np
import pytest

from tests.cli.cases import CLASSES, QUICK, case, refused, tacit
from tests.table.ballots import choice, save_json
from tests.table.cases import save

TREE = "pets: [cat, dog]\nbirds: [owl]\n"


def found(*arguments):
    return json.loads(tacit("check", *arguments, "--json").stdout)


def test_votes_are_combined_as_is_asked(tmp_path):
    columns = {"task": [0, 0, 0, 1, 1], "worker": [1, 2, 3, 1, 2], "label": list("aabbb")}
    path = save(tmp_path / "v.csv", columns)
    for asked, way in ((), "dawid_skene"), (("--votes", "majority"), "majority"):
        checked = found(path, *asked)
        assert (checked["kind"], checked["n_instances"]) == ("votes", 2)
        assert f"5 votes of 3 sources were combined by {way}." in checked["notes"]
    assert "`votes` must be one of dawid_skene, majority" in refused("check", path, "--votes", "x")


def test_labels_are_names_of_a_taxonomy(tmp_path):
    (tmp_path / "tree.yaml").write_text(TREE)
    path = save(tmp_path / "b.csv", {"label": ["pets", "owl", ""]})
    checked = found(path, "--taxonomy", tmp_path / "tree.yaml")
    assert checked["classes"] == list(CLASSES)
    assert (checked["n_certain"], checked["n_open"]) == (1, 1)
    assert "is not there" in refused("check", path, "--taxonomy", tmp_path / "gone.yaml")


def test_observed_classes_go_by_their_table(tmp_path):
    table = save(tmp_path / "t.csv", {"zone": ["wood", "home"], "owl": [3, 1], "cat": [1, 1]})
    path = save(tmp_path / "b.csv", {"observed": ["wood", "home", "wood"]})
    checked = found(path, "--cooccurrence", table)
    assert checked["balance"] == pytest.approx([2 / 3, 1 / 3])
    assert "no table says with which classes they occur" in refused("check", path)


def test_the_question_of_an_export_is_named(tmp_path):
    result = [choice("cat"), choice("big", "size")]
    tasks = [
        {"id": row, "annotations": [{"completed_by": 1, "result": result}]} for row in range(2)
    ]
    path = save_json(tmp_path / "tasks.json", tasks)
    assert "holds answers to 2 questions, size, topic" in refused("check", path)
    checked = found(path, "--question", "topic", "--classes", "cat,dog")
    assert checked["n_instances"] == 2


def test_run_remembers_how_its_beliefs_were_read(files):
    pets = ["pets" if label < 2 else "owl" for label in case().truth]
    save(files / "b.csv", case().shuffled("label", pets))
    (files / "tree.yaml").write_text(TREE)
    out = files / "run"
    options = ("--beliefs", files / "b.csv", "--taxonomy", files / "tree.yaml", "--out", out)
    tacit("resolve", files / "x.parquet", *options, *QUICK)
    recipe = json.loads((out / "run.json").read_text())["recipe"]
    assert recipe["taxonomy"] == str(files / "tree.yaml")
    again = ("resolve", "--config", out / "run.json", "--out", files / "again", "--json")
    assert json.loads(tacit(*again).stdout)["classes"] == list(CLASSES)


def test_functions_label_a_collection(files):
    truth = case().truth
    said = np.where(np.arange(len(truth)) % 5 == 0, -1, truth)
    ids = {"id": case().ids}
    path = save(files / "v.csv", ids | {f"lf_{place}": said for place in range(3)})
    out = ("--out", files / "run", "--classes", ",".join(CLASSES), "--json")
    done = tacit("resolve", files / "x.parquet", "--beliefs", path, *out, *QUICK)
    assert json.loads(done.stdout)["kind"] == "votes"
