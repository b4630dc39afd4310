"""`tacit report`, from a run of `tacit resolve`."""

import json

import numpy as np
import pytest

from tacit.table import read_truth
from tests.cli.cases import CLASSES, case, description, refused, resolve, table, tacit
from tests.report.cases import Page
from tests.table.cases import save


@pytest.fixture
def run(files):
    resolve(files, "--out", files / "run")
    return files / "run"


def test_report_of_a_run_tells_what_the_run_found(run):
    done = tacit("report", run)
    assert done.stdout.startswith(f"{run / 'report.html'}: ")
    page, found = Page((run / "report.html").read_text("utf-8")), table(run / "resolved.parquet")
    results = description(run)["results"]
    assert f"{results['entropy_before']:.3f} → {results['entropy_after']:.3f}" in page.words
    assert page.column("class-list", "class") == [*CLASSES]
    for row, name in zip(page.values["class-list"], CLASSES, strict=True):
        assert row["labels"] == found["label"].count(name)
        for kind in "prq":
            assert row[kind] == pytest.approx(np.mean(found[f"{kind}_{name}"]), abs=1e-6)
    listed = dict(
        zip(page.column("uncertain-list", "id"), page.values["uncertain-list"], strict=True)
    )
    assert set(listed) == set(found["id"])
    entropy = dict(zip(found["id"], found["entropy"], strict=True))
    assert all(
        each["entropy"] == pytest.approx(entropy[name], abs=1e-5) for name, each in listed.items()
    )


def test_report_shows_the_rows_that_were_learned_from(run):
    tacit("report", run)
    page = Page((run / "report.html").read_text("utf-8"))
    shown = dict(
        zip(
            page.column("uncertain-list", "id"),
            page.column("uncertain-list", "instance"),
            strict=True,
        )
    )
    X = case().X
    assert shown["r17"] == " ".join(f"f{place} {X[17, place]:.6g}" for place in range(4))


def test_report_as_json_names_the_file(run, tmp_path):
    out = tmp_path / "page.html"
    told = json.loads(tacit("report", run, "--out", out, "--json").stdout)
    assert told == {"out": str(out), "bytes": out.stat().st_size}


def test_report_leaves_the_run_as_it_is(run):
    tacit("report", run)
    before = (run / "report.html").read_bytes()
    again = tacit("resolve", "--out", run, "--resume")
    assert "60 labels" in again.stdout
    assert (run / "report.html").read_bytes() == before


def test_what_cannot_be_reported_is_refused(run, tmp_path):
    assert "is no run: it holds no run.json" in refused("report", tmp_path)
    (run / "report.html").write_text("mine")
    assert "--overwrite" in refused("report", run)
    tacit("report", run, "--overwrite")
    told = description(run) | {"status": "running"}
    (run / "run.json").write_text(json.dumps(told))
    assert f"tacit resolve --resume --out {run}" in refused("report", run)


def test_true_labels_are_joined_by_id(run, tmp_path):
    truth = [CLASSES[label] for label in case().truth]
    told = case().shuffled("label", truth)
    path = save(tmp_path / "truth.csv", {name: column[5:] for name, column in told.items()})
    done = tacit("report", run, "--truth", path)
    assert "note: The true label of 5 of 60 rows is not known." in done.stdout
    page, found = Page((run / "report.html").read_text("utf-8")), table(run / "resolved.parquet")
    label = dict(zip(found["id"], found["label"], strict=True))
    right = [label[i] == name for i, name in zip(told["id"][5:], told["label"][5:], strict=True)]
    assert f"posterior r {100 * np.mean(right):.1f} %" in page.words
    assert "The true label of 55 of 60 rows was told" in page.words


def test_what_is_no_file_of_true_labels_is_refused(run, files):
    path = files / "excluded.csv"
    assert "holds no true labels, as its columns are excluded" in refused(
        "report", run, "--truth", path
    )
    yaks = save(files / "yaks.csv", {"id": ["r1"], "label": ["yak"]})
    assert "yak" in refused("report", run, "--truth", yaks)
    assert not (run / "report.html").exists()


def test_true_labels_stand_among_other_columns_and_in_arrays(run, files):
    truth = case().truth
    named = [CLASSES[label] for label in truth]
    lengths = {"length": range(60), "weight": np.ones(60)}
    ids = {"id": case().ids}
    places = np.where(np.arange(60) < 5, -1, truth)
    for path in (
        save(files / "t.csv", ids | lengths | {"Class": named}),
        save(files / "t.parquet", ids | {"truth": named} | lengths),
        save(files / "t.npz", {"ids": case().ids, "label": np.array(named)}),
        save(files / "names.npy", np.array(named)),
        save(files / "bytes.npy", truth.astype(np.uint8)),
        save(files / "places.npy", places),
    ):
        labels = read_truth(path, run=run).labels
        assert labels.tolist() == (places if path.name == "places.npy" else truth).tolist()
    assert "Columns that say nothing of labels were passed over: length, weight." in (
        tacit("report", run, "--truth", files / "t.csv").stdout
    )


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", {"label": ["cat"] * 60, "truth": ["cat"] * 60}, "in `label` or in `truth`"),
        ("b.csv", {"length": range(60), "colour": ["red"] * 60}, "columns are length, colour"),
        ("c.npy", np.full(60, 0.5), "holds an array of float64 with shape (60,)"),
        ("d.npy", np.zeros((60, 2), int), "holds an array of int64 with shape (60, 2)"),
        ("e.npy", np.full(60, 3), "row 0 (counted from 0): holds 3, and there are 3 classes"),
        ("f.npy", np.zeros(7, int), "has 7 rows"),
        ("g.npy", np.array(["cat", "yak"] * 30), "names the class yak"),
        ("h.npz", {"label": np.array(["cat"] * 3), "ids": np.array(["r1"])}, "and 1 ids"),
        ("i.csv", {"id": ["r1", "r1"], "label": ["cat", "cat"]}, "the second with this id"),
        ("j.csv", {"id": ["r1"], "label": [0.5]}, "0.5"),
    ],
)
def test_odd_files_of_true_labels_are_refused(run, files, name, content, sentence):
    assert sentence in refused("report", run, "--truth", save(files / name, content))
