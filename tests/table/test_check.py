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


def ballots(*circles, n_tasks=4):
    """Votes of circles of workers, each on tasks of its own, in which they agree."""
    said = [
        f"{place * n_tasks + task},{worker},{task % 2}"
        for place, circle in enumerate(circles)
        for task in range(n_tasks)
        for worker in circle
    ]
    return "\n".join(["task,worker,label", *said])


def test_sources_that_nothing_connects_are_told(tmp_path):
    votes = ballots("abc", "de", "f", "gh")
    found = check(written(tmp_path, "votes.csv", votes))
    (said,) = [said for said in found.findings if "groups" in said]
    assert said.startswith("The sources fall into 4 groups ")
    assert "a, b, c (4 rows); d, e (4 rows); f (4 rows); and 1 more. " in said
    assert [each["sources"] for each in found.groups] == [(*"abc",), (*"de",), ("f",), (*"gh",)]


def test_one_bridge_connects_two_groups(tmp_path):
    found = check(written(tmp_path, "votes.csv", ballots("abc", "de") + "\n0,d,1"))
    assert [each["sources"] for each in found.groups] == [(*"abcde",)]
    assert not any("groups" in said for said in found.findings)


@pytest.mark.parametrize(
    ("rows", "blocks"),
    [
        (["w|x", "y|z", "y"], "w, x; y, z. "),
        (["w|x", "y", "z"], "w, x; y; z. "),
        (["w|x", "y|z", "x|y"], None),
        (["w|x", "y|z", ""], None),
        (["w", "x", "y", "z"], None),  # certain, which is said as such
    ],
)
def test_blocks_of_classes_are_noted(tmp_path, rows, blocks):
    text = "\n".join(["id,candidates", *(f"{row},{said}" for row, said in enumerate(rows))])
    notes = check(written(tmp_path, "beliefs.csv", text)).notes
    told = [note for note in notes if "fall into" in note]
    assert bool(told) == (blocks is not None)
    assert blocks is None or f"which: {blocks}Only within" in told[0]


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
