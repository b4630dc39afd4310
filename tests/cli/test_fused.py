"""Several files of beliefs on the command line, fused."""

import json

import numpy as np
import pytest

from tacit.sources import fuse
from tacit.table import read_beliefs
from tests.cli.cases import CLASSES, QUICK, case, content, description, refused, tacit
from tests.report.cases import Page
from tests.table.cases import save

NAMED = ("--classes", ",".join(CLASSES))


@pytest.fixture
def both(files):
    """What is excluded, and what a model that is often wrong guesses."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1, 1], len(case().truth)) + np.eye(3)[case().truth]
    columns = dict(zip(CLASSES, (p / 2).T, strict=True))
    return files / "excluded.csv", save(files / "model.csv", {"id": case().ids} | columns)


def resolving(folder, paths, *options):
    beliefs = [word for path in paths for word in ("--beliefs", path)]
    return ("resolve", folder / "x.parquet", *beliefs, *QUICK, *NAMED, *options)


def test_files_are_checked_as_their_beliefs_fused(both):
    found = json.loads(tacit("check", *both, *NAMED, "--weights", "1,0.5", "--json").stdout)
    rows = {"ids": case().ids, "n_rows": len(case().truth), "classes": CLASSES}
    parts = {path.stem: read_beliefs(path, **rows).belief for path in both}
    expected = fuse(parts, weights={"model": 0.5})
    balance = expected.marginals().mean(0).tolist()
    assert found["balance"] == pytest.approx(balance, abs=1e-6)
    assert (found["kind"], found["n_instances"]) == ("fused", 60)
    assert [each["name"] for each in found["sources"]] == ["excluded", "model"]
    linear = json.loads(tacit("check", *both, *NAMED, "--pool", "linear", "--json").stdout)
    assert linear["bits"] < found["bits"]


def test_rows_of_all_files_are_checked(tmp_path):
    first = save(tmp_path / "first.csv", {"id": ["a", "b"], "label": ["cat", "dog"]})
    second = save(tmp_path / "second.csv", {"id": ["c", "b"], "candidates": ["cat", "cat|dog"]})
    found = json.loads(tacit("check", first, second, "--json").stdout)
    assert (found["n_instances"], found["n_certain"]) == (3, 3)


def test_run_of_several_files_is_remembered_and_reported(files, both):
    options = ("--weights", "1,0.5", "--abstaining", 0.1)
    tacit(*resolving(files, both, *options, "--out", files / "run"))
    recipe = description(files / "run")["recipe"]
    assert recipe["beliefs"] == [*map(str, both)]
    assert (recipe["weights"], recipe["abstaining"]) == ([1, 0.5], 0.1)
    tacit("resolve", "--config", files / "run" / "run.json", "--out", files / "again")
    assert content(files / "again") == content(files / "run")
    assert "60 labels" in tacit("resolve", "--out", files / "run", "--resume").stdout
    tacit("report", files / "run")
    page = Page((files / "run" / "report.html").read_text("utf-8"))
    assert page.column("source-list", "source") == ["excluded", "model"]


def test_one_file_is_what_it_was(files, both):
    tacit(*resolving(files, both[:1], "--out", files / "run"))
    described = description(files / "run")
    assert described["recipe"]["beliefs"] == str(both[0])
    new = ("pool", "weights", "abstaining")
    for name in new:
        assert described["recipe"].pop(name) is None
    (files / "run" / "run.json").write_text(json.dumps(described))  # as an older tacit wrote it
    assert "60 labels" in tacit("resolve", "--out", files / "run", "--resume").stdout


def test_new_rows_are_resolved_by_several_files(files, both):
    tacit(*resolving(files, both, "--out", files / "run"))
    beliefs = [word for path in both for word in ("--beliefs", path)]
    arguments = ("predict", files / "run", files / "x.parquet", *beliefs, "--pool", "linear")
    assert "60 labels" in tacit(*arguments, "--out", files / "o.parquet").stdout


def test_voters_are_named_with_their_file(files, both):
    said = {f"lf_{place}": case().truth for place in range(3)}
    votes = save(files / "people.csv", {"id": case().ids} | said)
    found = json.loads(tacit("check", both[0], votes, *NAMED, "--json").stdout)
    names = [each["name"] for each in found["sources"]]
    assert names == ["excluded", "people", *(f"people: lf_{place}" for place in range(3))]
    assert found["sources"][2]["accuracy"] > 0.9


def test_what_several_files_cannot_mean_is_refused(files, both):
    assert "`weights` must be 2 numbers" in refused("check", *both, "--weights", "1,2,3")
    assert "`weights` must be numbers" in refused("check", *both, "--weights", "1,much")
    assert "`weights` must be finite" in refused("check", *both, *NAMED, "--weights", "1,-1")
    assert "`pool` must be product or linear" in refused("check", *both, "--pool", "sum")
    assert "`abstaining` must be from 0 to 1" in refused("check", *both, "--abstaining", 2)
    (files / "run.toml").write_text("beliefs = [1, 2]\n")
    assert "`beliefs` must be a text, or a list" in refused("check", "--config", files / "run.toml")
    (files / "run.toml").write_text("abstaining = true\n")
    config = ("--config", files / "run.toml")
    assert "`abstaining` must be a number" in refused("check", *both, *config)


def test_weights_of_one_file_are_noted(both):
    notes = json.loads(tacit("check", both[0], "--weights", "2", "--json").stdout)["notes"]
    assert "`weights` was given and does nothing, as there is one file of beliefs." in notes


def test_what_does_nothing_for_any_of_the_files_is_noted(both):
    arguments = ("check", *both, *NAMED, "--votes", "majority", "--json")
    notes = json.loads(tacit(*arguments).stdout)["notes"]
    said = "`votes` was given and does nothing, as the files hold excluded and probabilities."
    assert said in notes
