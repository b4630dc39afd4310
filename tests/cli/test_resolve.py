"""`tacit resolve` on every format and every kind of belief, and what it leaves."""

import json

import numpy as np
import pytest
from PIL import Image

from tacit.diagnostics import Alarm
from tests.cli.cases import (
    CLASSES,
    QUICK,
    case,
    content,
    description,
    refused,
    resolve,
    table,
    tacit,
)
from tests.table.cases import TABLES, save


def as_features(folder, kind, of):
    """Write features in a format; rows of arrays go by their numbers."""
    if kind == "images":
        (folder / "images").mkdir()
        for name, row in zip(of.ids, of.X, strict=True):
            shade = (40 * row.clip(0, 6)).astype(np.uint8)
            Image.fromarray(np.tile(shade, (4, 1))).save(folder / "images" / f"{name}.png")
        return folder / "images"
    if kind == ".npy":
        np.save(folder / "x.npy", of.X)
        return folder / "x.npy"
    if kind == ".npz":
        return save(folder / "x.npz", {"X": of.X, "ids": of.ids})
    return save(folder / f"x{kind}", of.columns)


@pytest.mark.parametrize("kind", [*TABLES, ".npz", "images"])
def test_features_of_every_format_are_resolved_with_ids_in_another_order(tmp_path, kind):
    of = case()
    data = as_features(tmp_path, kind, of)
    named = [CLASSES[label] for label in of.excluded]
    beliefs = save(tmp_path / "b.parquet", of.shuffled("excluded", named))
    out = tmp_path / "run"
    tacit("resolve", data, "--beliefs", beliefs, "--out", out, *QUICK)
    found = table(out / "resolved.parquet")
    assert sorted(found["id"]) == sorted(of.ids)
    belonging = dict(zip(of.ids, of.excluded, strict=True))
    for row, name in enumerate(found["id"]):
        assert found[f"r_{CLASSES[belonging[name]]}"][row] == 0


def stated(of, kind):
    """Columns of each kind of belief, in the order of the features, and their classes."""
    rng = np.random.default_rng(2)
    names = [CLASSES[label] for label in of.truth]
    if kind == "probabilities":
        shares = np.full((len(of.X), 3), 0.2)
        shares[np.arange(len(of.X)), of.truth] = 0.6
        return dict(zip(CLASSES, shares.T, strict=True))
    if kind == "candidates":
        other = [CLASSES[(label + rng.integers(1, 3)) % 3] for label in of.truth]
        return {"candidates": [list(pair) for pair in zip(names, other, strict=True)]}
    if kind == "excluded":
        return {"excluded": [[CLASSES[label]] for label in of.excluded]}
    return {"label": [name if row % 2 else None for row, name in enumerate(names)]}


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("kind", ["probabilities", "candidates", "excluded", "labels"])
def test_every_kind_of_belief_is_resolved(tmp_path, kind, suffix):
    of = case()
    of.write(tmp_path)
    beliefs = save(tmp_path / f"b{suffix}", {"id": of.ids} | stated(of, kind))
    out = tmp_path / "run"
    options = ("--epochs", 40, "--members", 1, "--batch-size", 20, "--json")
    done = tacit("resolve", tmp_path / "x.parquet", "--beliefs", beliefs, "--out", out, *options)
    summary = json.loads(done.stdout)
    assert (summary["kind"], summary["classes"]) == (kind, [*CLASSES])
    label = table(out / "resolved.parquet")["label"]
    assert np.mean([name == CLASSES[k] for name, k in zip(label, of.truth, strict=True)]) > 0.8


def test_pairs_are_resolved(tmp_path):
    of = case()
    np.save(tmp_path / "x.npy", of.X)
    first, second = np.arange(0, 60, 2), np.arange(1, 60, 2)
    sign = np.sign(of.truth[first] - of.truth[second])
    relation = [{-1: "<", 0: "=", 1: ">"}[each] for each in sign.tolist()]
    beliefs = {"first": first, "second": second, "relation": relation}
    files = (tmp_path / "x.npy", "--beliefs", save(tmp_path / "pairs.csv", beliefs))
    tacit("resolve", *files, "--classes", "3", "--out", tmp_path / "run", *QUICK)
    found = table(tmp_path / "run" / "resolved.parquet")
    r = np.stack([found[f"r_{label}"] for label in range(3)], 1)
    ups = r[first] @ np.arange(3) - r[second] @ np.arange(3)
    assert (np.sign(ups)[sign != 0] == sign[sign != 0]).all()


def test_folder_holds_what_the_docs_say(files):
    resolve(files, "--out", files / "run", "--seed", 3)
    out = files / "run"
    assert sorted(each.name for each in out.iterdir()) == [
        *("metrics.jsonl", "model", "resolved.parquet", "run.json")
    ]
    assert sorted(each.name for each in (out / "model").iterdir()) == [
        *("model.json", "weights.safetensors")
    ]
    said = description(out)
    assert (said["status"], said["command"]) == ("complete", "resolve")
    assert said["recipe"]["seed"] == 3
    assert said["recipe"]["epochs"] == 2
    assert said["recipe"]["learning_rate"] == 0.002
    assert said["versions"].keys() >= {"python", "tacit-learn", "torch", "numpy"}
    assert said["results"]["n_instances"] == 60
    epochs = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in epochs] == [1, 2]


def test_rows_sum_to_one_and_labels_are_the_likeliest(files):
    resolve(files, "--out", files / "run")
    found = table(files / "run" / "resolved.parquet")
    assert [*found][:3] == ["id", "label", "entropy"]
    for kind in "rq":
        shares = np.stack([found[f"{kind}_{name}"] for name in CLASSES], 1)
        np.testing.assert_allclose(shares.sum(1), 1, atol=1e-6)
        if kind == "r":
            assert found["label"] == [CLASSES[place] for place in shares.argmax(1)]
            entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(1)
            np.testing.assert_allclose(found["entropy"], entropy, atol=1e-5)


def test_seed_decides_every_byte(files):
    for out, seed in (("one", 5), ("again", 5), ("other", 6)):
        resolve(files, "--out", files / out, "--seed", seed)
    one, again, other = (content(files / out) for out in ("one", "again", "other"))
    one.pop("model/model.json"), again.pop("model/model.json")
    assert one == again
    assert one["model/weights.safetensors"] != other["model/weights.safetensors"]


def test_json_is_one_object_and_alone_on_the_output(files):
    done = resolve(files, "--out", files / "run", "--json")
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout) == description(files / "run")["results"]
    assert "60 instances of 4 features" in done.stderr


def test_end_says_what_came_out_and_where(files):
    done = resolve(files, "--out", files / "run")
    for words in ("60 instances of 4 features", "excluded about 3 classes", "nats before"):
        assert words in done.stdout
    for name in ("resolved.parquet", "model"):
        assert str(files / "run" / name) in done.stdout
    assert done.stderr == ""


def test_columns_choose_features_and_names_with_brackets_are_shown(tmp_path):
    of = case()
    of.write(tmp_path)
    columns = of.columns | {"[red]": of.X[:, 0], "why": ["text"] * 60}
    save(tmp_path / "x.parquet", columns)
    done = resolve(tmp_path, "--columns", "f2,[red]", "--out", tmp_path / "[b]run")
    assert "60 instances of 2 features" in done.stdout
    assert str(tmp_path / "[b]run") in done.stdout
    described = json.loads((tmp_path / "[b]run" / "model" / "model.json").read_text())
    assert described["feature_names"] == ["f2", "[red]"]


def test_classes_set_their_order_and_those_that_are_not_named(files):
    resolve(files, "--classes", "owl,yak,cat,dog", "--out", files / "run")
    found = [*table(files / "run" / "resolved.parquet")]
    assert found[3:7] == ["r_owl", "r_yak", "r_cat", "r_dog"]


def test_constant_features_are_noted(tmp_path):
    of = case()
    of.X[:, 3] = 7
    of.write(tmp_path)
    done = resolve(tmp_path, "--out", tmp_path / "run")
    assert "note: " in done.stdout
    assert "f3" in done.stdout


def test_one_row_can_be_resolved(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 2), np.float32))
    np.save(tmp_path / "p.npy", np.array([[0.25, 0.75]]))
    files = (tmp_path / "x.npy", "--beliefs", tmp_path / "p.npy")
    tacit("resolve", *files, "--out", tmp_path / "run", *QUICK)
    assert table(tmp_path / "run" / "resolved.parquet")["label"] == ["1"]


def collapsing(files, *arguments, code):
    """A run of which each look says that it collapsed."""
    done = resolve(files, "--out", files / "run", *arguments, code=code)
    return done, description(files / "run")


@pytest.mark.parametrize("where", ["option", "set", "config"])
def test_collapse_ends_with_status_three_however_it_was_asked_for(tmp_path, monkeypatch, where):
    case().write(tmp_path)
    (tmp_path / "run.toml").write_text('on_collapse = "stop"')
    how = {
        "option": ("--on-collapse", "stop"),
        "set": ("--set", "on_collapse=stop"),
        "config": ("--config", tmp_path / "run.toml"),
    }[where]
    raise_alarms(monkeypatch)
    done, said = collapsing(tmp_path, *how, code=3)
    assert said["results"]["ended"] == ["collapsed"]
    assert "resolved.parquet" in done.stdout
    again, _ = collapsing(tmp_path, "--resume", *how, code=3)
    assert again.stdout in done.stdout


def test_collapse_that_is_only_warned_of_ends_with_status_zero(tmp_path, monkeypatch):
    case().write(tmp_path)
    raise_alarms(monkeypatch)
    done, _ = collapsing(tmp_path, code=0)
    assert "warning: " in done.stdout


def raise_alarms(monkeypatch):
    """Let every look at a run find that it has collapsed."""
    found = [Alarm("constant", degenerate=True, message="The prediction ignores the features")]
    monkeypatch.setattr("tacit.fitting._run.alarms", lambda *_, **__: found)


def test_class_that_vanishes_stays_finite(files):
    # Steps so large that a class gets less than the least number of float32 of each instance.
    huge = ("--learning-rate", 5, "--set", "schedule=constant")
    resolve(files, *huge, "--epochs", 1, "--batch-size", 20, "--out", files / "run")
    found = table(files / "run" / "resolved.parquet")
    assert min(sum(found[f"q_{name}"]) for name in CLASSES) == 0
    r = np.stack([found[f"r_{name}"] for name in CLASSES], 1)
    np.testing.assert_allclose(r.sum(1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "changed",
    [{"entropy_after": None}, {"balance": [1.0]}, {"balance": [[]]}, {"out": 1.5}, {"more": 1}],
)
def test_results_that_were_changed_are_refused(files, changed):
    out = files / "run"
    resolve(files, "--out", out)
    told = description(out)
    (out / "run.json").write_text(json.dumps(told | {"results": told["results"] | changed}))
    assert "was changed after it was written" in refused("resolve", "--out", out, "--resume")
