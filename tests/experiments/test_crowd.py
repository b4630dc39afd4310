"""Crowds by the real command: a record, a page, and what is missing left out."""

import json
import sys

import numpy as np
import pytest

from experiments import crowd
from experiments._store import Store
from tests.cli.cases import ended, refused, started, tacit
from tests.experiments import cases


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with three crowds, where crowd-kit is not installed."""
    monkeypatch.setitem(sys.modules, "crowdkit", None)
    for seed, name in enumerate(crowd.SETS):
        cases.crowd(tmp_path / "data", name, seed=seed)
    return tmp_path / "data"


def voted(crowd):
    """The label that most of the three votes on each item are for."""
    return (np.bincount(crowd["item"], weights=crowd["label"]) > 1.5).astype(int)


def test_command_measures_the_crowds_and_writes_a_page(data, tmp_path):
    out = tmp_path / "new" / "crowd.json"
    printed = json.loads(tacit("reproduce", "crowd", "--data", data, "--out", out, "--json").stdout)
    page = out.with_suffix(".md")
    assert printed == {"record": str(out), "page": str(page), "cells": 2 * len(crowd.SETS)}
    store = Store(out, "crowd")
    for seed, name in enumerate(crowd.SETS):
        given = cases.crowd(tmp_path / "again", name, seed=seed)
        found = store[{"set": name, "method": "tacit, majority", "seed": 0}]
        assert found["accuracy"] == round(float((voted(given) == given["truth"]).mean()), 4)
        assert (found["items"], found["votes"]) == (60, 180)
        best = store[{"set": name, "method": "tacit, Dawid and Skene", "seed": 0}]
        assert best["accuracy"] > 0.8
    assert {*store.data} == {f"{name}.npz" for name in crowd.SETS}
    assert "| crowd-kit GLAD | – | – | – |" in page.read_text()


def test_same_command_again_measures_nothing_and_prints_the_same_page(data, tmp_path):
    arguments = ("reproduce", "crowd", "--data", data, "--out", tmp_path / "crowd.json")
    first = tacit(*arguments)
    record = (tmp_path / "crowd.json").read_bytes()
    again = tacit(*arguments)
    assert again.stdout == first.stdout
    assert first.stdout.startswith((tmp_path / "crowd.md").read_text())
    assert (tmp_path / "crowd.json").read_bytes() == record


def test_page_has_the_sets_that_are_measured_and_the_best_in_bold(tmp_path):
    store = Store(tmp_path / "r.json", "crowd")
    store.begin({"device": "some"}, data={})
    for method, right in zip(crowd.METHODS[:4], (0.5, 0.75, 0.875, 0.625), strict=True):
        store.add(
            {"set": "dogs4", "method": method, "seed": 0},
            {"accuracy": right, "standard error": 0.01},
        )
    lines = crowd.table(store).splitlines()
    assert lines[0] == "| | dogs4 |"
    assert lines[2] == "| tacit, majority | 50.0 ± 1.0 |"
    assert lines[4] == "| crowd-kit MajorityVote | **87.5 ± 1.0** |"
    assert lines[-1] == "| crowd-kit MACE | – |"


def test_crowd_that_was_changed_is_refused(data, tmp_path):
    arguments = ("reproduce", "crowd", "--data", data, "--out", tmp_path / "crowd.json")
    tacit(*arguments, "--only", "dogs4", "--only", "tacit, majority")
    cases.crowd(data, "dogs4", seed=9)
    assert "dogs4.npz' is not the file that" in refused(*arguments)
    (data / "crowd" / "dogs4.npz").unlink()
    assert "dogs4.npz' cannot be read" in refused(*arguments)


@pytest.mark.slow
def test_real_process_finds_the_experiments_from_anywhere(data, tmp_path):
    out = tmp_path / "crowd.json"
    arguments = ("reproduce", "crowd", "--data", data, "--out", out, "--only", "tacit, majority")
    code, said, wrong = ended(started(*arguments, cwd=tmp_path))
    assert (code, wrong) == (0, "")
    assert said.endswith(f"{out}: 3 cells; {tmp_path / 'crowd.md'}: this page\n")
