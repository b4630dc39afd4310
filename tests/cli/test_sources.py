"""Votes, taxonomies and tables of co-occurrence on the command line."""

import json

import numpy as np
import pytest

from tests.cli.cases import CLASSES, QUICK, case, refused, tacit
from tests.report.cases import Page
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


def test_weights_of_a_taxonomy_decide_within_a_name(tmp_path):
    (tmp_path / "tree.csv").write_text("name,parent,weight\ncat,pets,3\ndog,pets,1\nowl,birds,2\n")
    path = save(tmp_path / "b.csv", {"label": ["pets", "owl"]})
    checked = found(path, "--taxonomy", tmp_path / "tree.csv")
    shares = dict(zip(checked["classes"], checked["balance"], strict=True))
    assert shares == pytest.approx({"cat": 0.375, "dog": 0.125, "owl": 0.5})


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


def resolving(files, *options):
    """Arguments that resolve votes of three functions, which are silent now and then."""
    truth = case().truth
    said = np.where(np.arange(len(truth)) % 5 == 0, -1, truth)
    columns = {f"lf_{place}": said for place in range(2)} | {"lf_odd": (said + 1) % 3}
    path = save(files / "v.csv", {"id": case().ids} | columns)
    out = ("--out", files / "run", "--classes", ",".join(CLASSES), "--json")
    return ("resolve", files / "x.parquet", "--beliefs", path, *out, *options)


def test_functions_label_a_collection(files):
    told = json.loads(tacit(*resolving(files, *QUICK)).stdout)
    assert told["kind"] == "votes"
    assert [each["learned"] for each in told["sources"]] == [None] * 3


def test_what_sources_are_worth_is_learned_along_and_reported(files):
    options = ("--epochs", 4, "--members", 1, "--update-every", 1, "--votes", "dawid_skene")
    told = json.loads(tacit(*resolving(files, *options)).stdout)
    described = json.loads((files / "run" / "run.json").read_text())
    assert described["recipe"]["update_every"] == 1
    assert described["results"]["sources"] == told["sources"]
    accuracy, learned = (
        [each[name] for each in told["sources"]] for name in ("accuracy", "learned")
    )
    assert learned != accuracy
    assert min(learned[:2]) > learned[2] + 0.3
    tacit("report", files / "run")
    page = Page((files / "run" / "report.html").read_text("utf-8"))
    assert page.column("source-list", "learned") == [
        f"{share:.1%}".replace("%", " %") for share in learned
    ]


def test_updates_of_votes_that_only_count_are_refused(files):
    options = ("--votes", "majority", "--epochs", 4, "--update-every", 1)
    told = tacit(*resolving(files, *options), code=1).stderr
    assert "error: `update_every` must be 0 where all votes count the same (majority)" in told
    assert "set votes to dawid_skene" in told
    assert not (files / "run").exists()


def test_updates_of_a_matrix_that_leaves_rows_out_are_refused(files):
    arguments = [*map(str, resolving(files, "--votes", "dawid_skene", "--update-every", 1))]
    lines = (files / "v.csv").read_text().splitlines(keepends=True)
    (files / "v.csv").write_text("".join(lines[:-3]))
    told = tacit(*arguments, *QUICK, code=1).stderr
    assert "`update_every` must be 0 where a matrix of votes leaves rows out" in told


def test_sources_that_never_meet_are_named_in_the_run(files):
    half = np.arange(60) < 30
    truth = case().truth
    columns = {f"lf_{place}": np.where(half == (place < 2), truth, -1) for place in range(4)}
    path = save(files / "v.csv", {"id": case().ids} | columns)
    options = ("--classes", ",".join(CLASSES), "--out", files / "run", "--json", *QUICK)
    told = json.loads(tacit("resolve", files / "x.parquet", "--beliefs", path, *options).stdout)
    (note,) = [note for note in told["notes"] if "groups" in note]
    assert "2 groups without a row" in note
    tacit("report", files / "run")
    assert note in Page((files / "run" / "report.html").read_text("utf-8")).words


def test_rows_that_votes_leave_open_are_not_those_of_which_nothing_is_known(tmp_path):
    path = save(tmp_path / "v.csv", {"lf_a": [0, 0, 0, -1], "lf_b": [0, 1, 1, -1]})
    checked = found(path, "--classes", "ham,spam")
    assert checked["n_open"] == 1
    assert "Nothing is known of 1 of 4 rows." in checked["notes"]
    (note,) = [note for note in checked["notes"] if "cancel each other out" in note]
    assert note.startswith("The votes on 2 rows")


def test_what_does_nothing_is_noted(files):
    (files / "t.csv").write_text("zone,cat,dog,owl\nu,1,1,1\n")
    idle = ("--votes", "majority", "--question", "q")
    both = (*idle, "--cooccurrence", files / "t.csv")
    notes = found(files / "excluded.csv", *both)["notes"]
    for name in ("votes", "cooccurrence", "question"):
        assert f"`{name}` was given and does nothing, as the file holds excluded." in notes
    arguments = (files / "x.parquet", "--beliefs", files / "excluded.csv")
    tacit("resolve", *arguments, *QUICK, "--out", files / "run")
    out = ("--out", files / "o.parquet")
    said = tacit("predict", files / "run", *arguments, *idle, *out).stdout
    assert "`votes` was given and does nothing" in said
    (files / "o.parquet").unlink()
    assert "does nothing" not in tacit("predict", files / "run", *arguments, *out).stdout
    table = save(files / "v.csv", {"lf_a": [0, 1, 1], "lf_b": [0, 1, -1]})
    assert not any("does nothing" in each for each in found(table, "--votes", "majority")["notes"])
