"""A run whose beliefs have sources keeps who spoke for what, of what its report lists."""

import json

import numpy as np
import pytest
import torch

from tacit.report import write_report
from tacit.sources import advocates
from tacit.table import Recipe, read_beliefs, resolve
from tests.report.cases import Page
from tests.table.cases import save

N, WORKERS = 90, ("ann", "ben", "cem", "dan")


@pytest.fixture(scope="module", params=["dawid_skene", "majority", "matrix"])
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("argued")
    rng = np.random.default_rng(0)
    truth = np.arange(N) % 2
    np.save(folder / "x.npy", 2 * np.eye(2)[truth] + rng.normal(size=(N, 2)))
    said = np.where(rng.random((N, 4)) < (0.9, 0.8, 0.7, 0.5), truth[:, None], 1 - truth[:, None])
    said[rng.random((N, 4)) < 0.3] = -1
    if request.param == "matrix":
        columns = {f"lf_{name}": said[:, place] for place, name in enumerate(WORKERS)}
    else:
        places = np.argwhere(said >= 0).T
        worker = [WORKERS[place] for place in places[1]]
        columns = {"task": places[0], "worker": worker, "label": said[tuple(places)]}
    votes = save(folder / "votes.csv", columns)
    way = None if request.param == "matrix" else request.param
    recipe = Recipe(data=str(folder / "x.npy"), beliefs=str(votes), votes=way, learning=QUICK)
    resolve(recipe, folder / "run")
    return folder / "run", read_beliefs(votes, ids=None, n_rows=N, votes=way)


QUICK = {"epochs": 30, "n_members": 1}


def test_all_that_the_report_lists_is_kept(run):
    page = Page(write_report(run[0]).read_text("utf-8"))
    said = page.column("conflict-list", "p, r, q")
    assert len(said) > 10
    assert all(" for " in each for each in said)


def test_what_is_kept_is_what_the_votes_say(run):
    folder, beliefs = run
    kept = json.loads((folder / "advocates.json").read_text())["rows"]
    rows = np.array([*map(int, kept)])
    for label, name in enumerate(beliefs.classes):
        asked = beliefs.belief if beliefs.voted is not None else beliefs.votes
        found = advocates(asked, torch.full((N,), label))
        for row in rows:
            if name in kept[str(row)]:
                first = [(who, much) for who, much, _ in kept[str(row)][name]["first"]]
                expected = [(beliefs.sources[s], round(much, 4)) for s, much, _ in found[row]]
                assert first == expected
                assert kept[str(row)][name]["n"] == len(expected)


def test_what_is_believed_has_a_side(run):
    folder, beliefs = run
    p = beliefs.belief.marginals()
    for row, sides in json.loads((folder / "advocates.json").read_text())["rows"].items():
        believed = beliefs.classes[int(p[int(row)].argmax())]
        assert believed in sides


def test_runs_without_sources_keep_nothing(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(30, 2)))
    np.save(tmp_path / "p.npy", np.full((30, 2), 0.5))
    recipe = Recipe(data=str(tmp_path / "x.npy"), beliefs=str(tmp_path / "p.npy"), learning=QUICK)
    resolve(recipe, tmp_path / "run")
    assert not (tmp_path / "run" / "advocates.json").exists()


def test_rows_without_votes_are_no_conflicts(tmp_path):
    rng = np.random.default_rng(1)
    truth = (rng.random(N) < 0.15).astype(int)
    np.save(tmp_path / "x.npy", 4 * np.eye(2)[truth] + rng.normal(size=(N, 2)))
    said = np.where(rng.random(N) < 0.1, 1 - truth, truth)
    said[::3] = -1
    votes = save(tmp_path / "votes.csv", {"lf_a": said, "lf_b": np.full(N, -1)})
    recipe = Recipe(data=str(tmp_path / "x.npy"), beliefs=str(votes), learning=QUICK)
    resolve(recipe, tmp_path / "run")
    kept = json.loads((tmp_path / "run" / "advocates.json").read_text())["rows"]
    assert kept
    assert not {*map(int, kept)} & {*range(0, N, 3)}
    page = Page(write_report(tmp_path / "run").read_text("utf-8"))
    listed = [int(each) for each in page.column("conflict-list", "id")]
    assert listed
    assert all(row % 3 for row in listed)
