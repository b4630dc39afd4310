"""`tacit report`, from a run of `tacit resolve`."""

import json

import numpy as np
import pytest

from tests.cli.cases import CLASSES, case, description, refused, resolve, table, tacit
from tests.report.cases import Page


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
