"""Labels with errors on the command line: the transition given, or counted from trusted labels."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from tacit.sources import noisy_labels, transition_from_trusted
from tests.cli.cases import CLASSES, QUICK, case, content, description, refused, tacit
from tests.table.cases import save

T = np.array([[0.7, 0.3, 0.0], [0.1, 0.8, 0.1], [0.0, 0.4, 0.6]])
FEW = np.arange(0, 60, 4)


def named(labels):
    return [CLASSES[label] for label in labels]


@pytest.fixture
def noisy(files):
    """Labels, a few true ones, the transition as a table, and what was written."""
    rng = np.random.default_rng(2)
    written = np.array([rng.choice(3, p=T[label]) for label in case().truth])
    save(files / "noisy.csv", case().shuffled("label", named(written)))
    true = {"id": [case().ids[row] for row in FEW], "label": named(case().truth[FEW])}
    save(files / "few.csv", true)
    columns = {"true": CLASSES[::-1]} | {CLASSES[at]: T[::-1, at] for at in (1, 2, 0)}
    save(files / "table.csv", columns)
    return written


def resolved(folder, *options):
    """What a run in a folder took for the belief."""
    arguments = (folder / "x.parquet", "--beliefs", folder / "noisy.csv", *QUICK, *options)
    tacit("resolve", *arguments, "--out", folder / "run")
    table = pq.read_table(folder / "run" / "resolved.parquet")
    return np.stack([table[f"p_{name}"].to_numpy() for name in CLASSES], 1)


def test_transition_is_joined_by_the_names_of_classes(files, noisy):
    p = resolved(files, "--transition", files / "table.csv")
    assert p == pytest.approx(noisy_labels(noisy, T).marginals().numpy(), abs=1e-6)
    assert description(files / "run")["recipe"]["transition"] == str(files / "table.csv")
    again = ("--config", files / "run" / "run.json", "--out", files / "again")
    tacit("resolve", *again)
    assert content(files / "again") == content(files / "run")


def test_array_has_the_classes_in_their_order(files, noisy):
    np.save(files / "t.npy", T)
    p = resolved(files, "--transition", files / "t.npy")
    assert p == pytest.approx(noisy_labels(noisy, T).marginals().numpy(), abs=1e-6)
    turned = ("--transition", files / "t.npy", "--classes", "dog,cat,owl", "--json")
    found = json.loads(tacit("check", files / "noisy.csv", *turned).stdout)
    own = np.array([1, 0, 2])[noisy]
    balance = noisy_labels(own, T).marginals().mean(0).tolist()
    assert found["balance"] == pytest.approx(balance, abs=1e-6)


def test_trusted_labels_are_joined_by_id_and_counted(files, noisy):
    counted = transition_from_trusted(noisy[FEW], case().truth[FEW], n_classes=3)
    p = resolved(files, "--trusted", files / "few.csv", "--update-every", 1)
    belief = noisy_labels(noisy, counted)
    share = float(belief.accuracy()[0])
    notes = description(files / "run")["results"]["notes"]
    assert f"{share:.1%} of the labels were taken to be right, by 15 trusted ones." in notes
    alone = json.loads(
        tacit("check", files / "noisy.csv", "--trusted", files / "few.csv", "--json").stdout
    )
    balance = belief.marginals().mean(0).tolist()
    assert alone["balance"] == pytest.approx(balance, abs=1e-6)
    assert np.abs(p - belief.marginals().numpy()).max() > 1e-3  # it has learned along


@pytest.mark.usefixtures("noisy")
def test_labels_of_several_files_have_errors_and_candidates_are_certain(files):
    sure = {"id": [case().ids[0]], "candidates": named(case().truth[:1])}
    path = save(files / "sure.csv", sure)
    options = ("--beliefs", path, "--transition", files / "table.csv", "--abstaining", 0.1)
    p = resolved(files, *options, "--classes", ",".join(CLASSES))
    assert p[0].argmax() == case().truth[0]
    assert p[1:].max() < 1


@pytest.mark.usefixtures("noisy")
def test_new_labels_with_errors_are_resolved(files):
    resolved(files, "--transition", files / "table.csv")
    beliefs = ("--beliefs", files / "noisy.csv", "--transition", files / "table.csv")
    arguments = ("predict", files / "run", files / "x.parquet", *beliefs)
    said = tacit(*arguments, "--out", files / "o.parquet").stdout
    assert "of the labels were taken to be right, by the transition that was given" in said


@pytest.mark.usefixtures("noisy")
def test_what_is_no_transition_is_refused(files):
    check = ("check", files / "noisy.csv")
    bad = files / "bad.csv"
    bad.write_text("true,cat,dog\ncat,0.5,0.4\ndog,0.2,0.8\n")
    assert "row 0 is [0.5, 0.4]" in refused(*check, "--transition", bad)
    bad.write_text("true,cat,dog\ncat,0.5,0.5\nowl,0.2,0.8\n")
    assert "dog, owl is in one of the two only" in refused(*check, "--transition", bad)
    np.save(files / "t.npy", np.eye(2))
    said = refused(*check, "--transition", files / "t.npy")
    assert "is about 3 classes, and the transition about 2" in said
    both = ("--transition", files / "table.csv", "--trusted", files / "few.csv")
    assert "`trusted` must be left out where the transition is given" in refused(*check, *both)
    (files / "tree.yaml").write_text("pets: [cat, dog]\nbirds: [owl]\n")
    both = ("--taxonomy", files / "tree.yaml", "--trusted", files / "few.csv")
    assert "`taxonomy` must be left out where labels have errors" in refused(*check, *both)


@pytest.mark.usefixtures("noisy")
def test_trusted_labels_that_meet_no_label_are_refused(files):
    empty = save(files / "few.csv", {"id": [case().ids[0]], "label": [""]})
    said = refused("check", files / "noisy.csv", "--trusted", empty)
    assert "has no label of a row that has one" in said


@pytest.mark.usefixtures("noisy")
def test_updates_of_a_stated_transition_are_refused(files):
    options = ("--transition", files / "table.csv", "--update-every", 1, "--out", files / "run")
    arguments = (files / "x.parquet", "--beliefs", files / "noisy.csv", *QUICK, *options)
    assert "`update_every` must be 0" in tacit("resolve", *arguments, code=1).stderr


@pytest.mark.usefixtures("noisy")
def test_errors_of_what_holds_no_labels_are_noted(files):
    options = ("--trusted", files / "few.csv", "--json")
    notes = json.loads(tacit("check", files / "excluded.csv", *options).stdout)["notes"]
    assert "`trusted` was given and does nothing, as the file holds excluded." in notes
