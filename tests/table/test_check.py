"""What a file of beliefs is told to be worth."""

import json

import pytest

from tacit.table import Recipe, check, resolve


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return str(path)


def findings(folder, text, **options):
    return check(written(folder, "beliefs.csv", text), **options).findings


def test_classes_that_differ_raise_no_finding(tmp_path):
    assert findings(tmp_path, "id,candidates\na,x|y\nb,y|z\nc,x\n") == ()


def test_classes_that_always_come_together_are_told(tmp_path):
    (said,) = findings(tmp_path, "id,candidates\na,x|y\nb,z\nc,x|y|z\n")
    assert said.startswith("No belief tells x, y apart: ")


def test_classes_that_differ_in_size_only_are_told(tmp_path):
    (said,) = findings(tmp_path, "id,x,y,z\n0,1,3,0\n1,2,6,4\n2,0,0,1\n")
    assert said.startswith("Only how large they are tells x, y apart; ")


def test_equal_pairs_tell_no_class_from_another(tmp_path):
    (said,) = findings(tmp_path, "first,second,relation\n0,1,=\n2,3,=\n", classes=["a", "b", "c"])
    assert said.startswith("No belief tells the classes apart: ")


VOTES = "task,worker,label\n" + "".join(
    f"{task},{worker},{label}\n"
    for task in range(8)
    for worker, label in (
        ("anna", task % 2),
        ("ben", task % 2),
        ("cleo", (task + 1) % 2),
        ("dan", 1),
    )
)


def test_sources_of_votes_are_told(tmp_path):
    found = check(written(tmp_path, "votes.csv", VOTES))
    told = {source["name"]: source for source in found.sources}
    assert list(told) == ["anna", "ben", "cleo", "dan"]
    assert told["anna"]["coverage"] == 1.0
    assert told["cleo"]["accuracy"] < 0.5 < told["ben"]["accuracy"]
    assert [said.split(":")[0] for said in found.findings] == [
        "Source cleo contradicts the others more than chance would",
        "Source dan always says the same, and tells nothing",
    ]


def test_majority_knows_no_accuracy(tmp_path):
    found = check(written(tmp_path, "votes.csv", VOTES), votes="majority")
    assert [source["accuracy"] for source in found.sources] == [None] * 4
    assert json.loads(json.dumps(found.as_dict()))["sources"][0]["name"] == "anna"


@pytest.mark.parametrize("resume", [False, True])
def test_run_keeps_what_its_sources_do(tmp_path, resume):
    features = written(tmp_path, "x.csv", "id,a\n" + "".join(f"{t},{t % 2}\n" for t in range(8)))
    recipe = Recipe(
        data=features,
        beliefs=written(tmp_path, "votes.csv", VOTES),
        learning={"epochs": 2, "n_members": 1, "held_out": 0.0},
    )
    summary = resolve(recipe, tmp_path / "run")
    if resume:
        summary = resolve(recipe, tmp_path / "run", resume=True)
    assert [source["name"] for source in summary.sources] == ["anna", "ben", "cleo", "dan"]
