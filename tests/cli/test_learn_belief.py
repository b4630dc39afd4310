"""`tacit learn-belief`: beliefs from auxiliary inputs and labels of some of them."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from tacit.sources import learned_belief, learned_out_of_fold
from tacit.sources._learned import SETTINGS
from tests.cli.cases import CLASSES, QUICK, case, refused, tacit
from tests.table.cases import save

KNOWN = np.arange(40)


@pytest.fixture
def aux(files):
    """Inputs that tell one class from the others, and labels of the first forty in any order."""
    rng = np.random.default_rng(3)
    values = np.c_[case().truth == 2, rng.normal(size=60)].astype(np.float32)
    save(files / "aux.parquet", {"id": case().ids, "coarse": values[:, 0], "noise": values[:, 1]})
    order = rng.permutation(KNOWN)
    named = [CLASSES[case().truth[row]] for row in order]
    save(files / "few.csv", {"id": [case().ids[row] for row in order], "label": named})
    return values


def learn(folder, *options, code=0):
    arguments = (folder / "aux.parquet", "--labels", folder / "few.csv", *options)
    return tacit("learn-belief", *arguments, "--out", folder / "b.parquet", code=code)


def written(folder):
    found = pq.read_table(folder / "b.parquet")
    assert found.column_names == ["id", *CLASSES]
    return found["id"].to_pylist(), np.stack([found[name].to_numpy() for name in CLASSES], 1)


def test_rows_with_labels_are_predicted_out_of_fold_and_others_by_the_whole(files, aux):
    told = json.loads(learn(files, "--folds", 3, "--seed", 1, "--json").stdout)
    assert (told["n_instances"], told["n_labels"], told["classes"]) == (60, 40, [*CLASSES])
    ids, p = written(files)
    assert ids == case().ids
    truth, how = case().truth[KNOWN], {"n_classes": 3, "settings": replace(SETTINGS, seed=1)}
    inside = learned_out_of_fold(aux[:40], truth, folds=3, **how).marginals()
    outside = learned_belief(aux[:40], truth, aux[40:], **how).marginals()
    assert torch.from_numpy(p) == pytest.approx(torch.cat([inside, outside]), abs=1e-6)


def test_belief_is_about_new_inputs_where_there_are_some(files, aux):
    new = {"noise": aux[:7, 1], "coarse": aux[:7, 0], "id": [f"n{row}" for row in range(7)]}
    save(files / "new.csv", new)
    learn(files, "--for", files / "new.csv")
    ids, p = written(files)
    assert ids == new["id"]
    how = {"n_classes": 3, "settings": SETTINGS}
    expected = learned_belief(aux[:40], case().truth[KNOWN], aux[:7], **how).marginals()
    assert torch.from_numpy(p) == pytest.approx(expected, abs=1e-6)


@pytest.mark.usefixtures("aux")
def test_what_was_learned_is_resolved(files):
    said = learn(files).stdout
    assert "beliefs about 3 classes, 60 rows, learned from 40 labels" in said
    beliefs = ("--beliefs", files / "b.parquet", "--beliefs", files / "excluded.csv")
    names = ("--classes", ",".join(CLASSES))
    done = tacit(
        "resolve", files / "x.parquet", *beliefs, *names, *QUICK, "--out", files / "run", "--json"
    )
    assert json.loads(done.stdout)["kind"] == "fused"


@pytest.mark.usefixtures("aux")
def test_what_cannot_be_learned_from_is_refused(files):
    arguments = ("learn-belief", files / "aux.parquet", "--labels", files / "few.csv")
    out = ("--out", files / "b.parquet")
    assert "end in .parquet" in refused(*arguments, "--out", files / "b.csv")
    assert "at least 50" in refused(*arguments, *out, "--folds", 50)
    assert "`folds` must be at least 2" in refused(*arguments, *out, "--folds", 1)
    assert "`seed` must be at least 0" in refused(*arguments, *out, "--seed", -1)
    assert "names the class" in refused(*arguments, *out, "--classes", "cat,dog")
    save(files / "few.csv", {"id": ["r0", "r1"], "label": ["id", "cat"]})
    assert "has a class called id" in refused(*arguments, *out, "--folds", 2)
    save(files / "few.csv", {"id": ["x0", "x1"], "label": ["dog", "cat"]})
    assert "has no id that the features have" in refused(*arguments, *out)
    assert not (files / "b.parquet").exists()


@pytest.mark.usefixtures("aux")
def test_file_that_is_there_is_left_alone(files):
    (files / "b.parquet").write_text("mine")
    assert "must be a new file" in learn(files, code=1).stderr
    assert (files / "b.parquet").read_text() == "mine"
