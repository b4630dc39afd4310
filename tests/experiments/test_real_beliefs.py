"""Real collections in miniature: all cells appear, and rows are picked without labels."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from experiments import Means, real_beliefs, real_beliefs_page, reproduce
from experiments._store import Store
from experiments.real_beliefs_page import OURS, picked, verdicts
from tacit import diagnostics
from tests.experiments import cases

VOTED = ("PRODEN", "majority vote, classifier", "Dawid-Skene (tacit), classifier")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Sets in miniature and short runs; the labels of one of the label models are kept."""
    for name in ("youtube", "sms"):
        cases.wrench(tmp_path, name)
    for name in ("lost", "msrcv2"):
        cases.table(tmp_path, name)
    cases.images(tmp_path)
    kept = tmp_path / "label_models"
    kept.mkdir()
    np.savez(kept / "youtube-snorkel-0.npz", probabilities=np.full((60, 2), 0.5, np.float32))
    for name, setup in real_beliefs.SETS.items():
        settings = setup.settings | {"epochs": 2, "batch_size": 16}
        short = dataclasses.replace(setup, settings=settings)
        monkeypatch.setitem(real_beliefs.SETS, name, short)
    return tmp_path


def measured(data, *only):
    means = Means(data, "cpu")
    out = data / "record.json"
    return reproduce(real_beliefs.EXPERIMENT, means, out=out, seeds=[0], only=only)


def methods(store, name):
    return {cell["method"] for cell, _ in store.matching(set=name)}


def test_each_method_is_measured_where_it_has_what_it_needs(data):
    store = measured(data)
    everywhere = {*OURS, "union NLL", "PRODEN"}
    assert methods(store, "lost") == methods(store, "msrcv2") == everywhere
    assert methods(store, "sms") == methods(store, "cifar10n") == everywhere | {*VOTED}
    snorkel = "label model (snorkel), classifier"
    assert methods(store, "youtube") == everywhere | {*VOTED, snorkel}
    for cell, figures in store.matching():
        assert cell["step"] in real_beliefs.SETS[cell["set"]].steps
        assert 0 <= figures["test"] <= 1
        assert 1 <= figures["best epoch"] <= 2
        assert ("calibration error" in figures) == (cell["set"] == "cifar10n")
    page = real_beliefs.EXPERIMENT.page(store)
    assert "nan" not in page
    row = next(line for line in page.splitlines() if line.startswith(f"| {snorkel} |"))
    assert row.endswith("| – | – | – | – |")
    assert verdicts(store).keys() == real_beliefs.SETS.keys()


def test_criteria_are_taken_on_what_was_held_out(data, monkeypatch):
    def evidence(log_q, belief):
        assert len(belief) == len(log_q) < 10
        return diagnostics.held_out_evidence(log_q, belief)

    monkeypatch.setattr(real_beliefs.diagnostics, "covering_rate", evidence)
    for name in ("youtube", "lost"):
        for _, figures in measured(data, name, "EM").matching(set=name):
            assert figures["covering rate"] == pytest.approx(figures["held-out evidence"], abs=2e-5)


def test_scores_are_the_share_of_right_labels_or_f1():
    log_table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    truth = torch.tensor([1, 1, 1, 0])
    assert real_beliefs._score(log_table, truth, "accuracy") == 0.5
    assert real_beliefs._score(log_table, truth, "F1") == pytest.approx(2 / 3)
    assert real_beliefs._score(log_table[:1], 0 * truth[:1], "F1") == 0.0


def figures(test, evidence, **more):
    names = ("r", "q", "belief", "covering rate", "approximated accuracy")
    return dict.fromkeys(names, 0.5) | {"test": test, "held-out evidence": evidence} | more


@pytest.fixture
def record(tmp_path):
    """Two draws of four methods: RQ is best on the test, EM by evidence, at one of its steps."""
    store = Store(tmp_path / "r.json", "real-beliefs")
    where = dict.fromkeys(("device", "threads", "python", "torch", "commit"), "some")
    store.begin(where | {"versions": {"numpy": "2"}}, data={})
    rows = {
        ("union NLL", 0.01): (0.875, 0.9),  # its evidence is highest of all, but it is not ours
        ("PRODEN", 0.01): (0.5, 0.1),
        ("EM", 0.002): (0.99, 0.1),
        ("EM", 0.01): (0.75, 0.4),
        ("RQ", 0.002): (0.25, 0.2),
        ("RQ", 0.01): (0.9375, 0.3),
    }
    for (method, step), (test, evidence) in rows.items():
        for seed, off in ((0, -0.0625), (1, 0.0625)):
            cell = {"set": "lost", "method": method, "step": step, "seed": seed}
            store.add(cell, figures(test + off, evidence + off))
    return store


def test_row_with_the_highest_evidence_is_picked_and_not_the_best_on_the_test(record):
    (found,) = verdicts(record).values()
    assert (found.ours, found.score) == ("EM", 0.75)
    assert (found.rival, found.best) == ("union NLL", 0.875)
    assert found.deviation == pytest.approx(0.0625 * 2**0.5)


def test_criterion_picks_among_the_rows_that_it_is_given(record):
    assert picked(record, "lost", "held-out evidence", OURS) == "EM"
    assert picked(record, "lost", "held-out evidence", ("RQ", "union NLL")) == "union NLL"
    assert picked(record, "lost", "held-out evidence", ("QR", "RQ")) == "RQ"


def test_page_marks_the_pick_and_the_best_of_the_others(record):
    page = real_beliefs_page.page(record)
    scores = page[: page.index("Beside the best")]
    assert scores.count("**") == 4
    assert "| tacit, EM | **75.0 ± 8.8** |" in scores
    assert "| union NLL | **87.5 ± 8.8** |" in scores
    assert "| tacit, RQ | 93.8 ± 8.8 |" in scores
    assert "| lost (faces, names in captions) | EM 75.0 | union NLL 87.5 | -12.5 | 8.8 |" in page
    # Among the rows with the same belief evidence picks union NLL, and RQ would have been best.
    assert "| held-out evidence | union NLL, 6.2 | 6.2 |" in page


@pytest.mark.parametrize("methods", [["EM"], ["union NLL"], ["PRODEN"], ["QR", "PRODEN"]])
def test_page_of_a_part_shows_what_there_is(tmp_path, methods):
    store = Store(tmp_path / "r.json", "real-beliefs")
    where = dict.fromkeys(("device", "threads", "python", "torch", "commit"), "some")
    store.begin(where | {"versions": {}}, data={})
    people = {"cross-entropy of people": 1.0, "calibration error": 0.25}
    for method in methods:
        cell = {"set": "cifar10n", "method": method, "step": 0.002, "seed": 0}
        store.add(cell, figures(0.5, 0.25, **people))
    page = real_beliefs_page.page(Store(store.path, "real-beliefs"))
    assert "nan" not in page
    assert len(verdicts(store)) == (len(methods) > 1)
    for method in methods:
        assert f"| {method} | 1.000 | 0.250 |" in page
    assert json.loads(store.path.read_text())["data"] == {}
