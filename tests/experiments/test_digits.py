"""The digits as an experiment: cells of their own processes, and the page of a record."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from experiments import Means, digits, reproduce
from experiments._store import Store
from experiments.digits_page import chance, drawn, mass_table
from tacit import demo

WHERE = dict.fromkeys(("device", "threads", "python", "torch", "commit"), "some")


def test_unbalanced_collection_loses_most_of_five_classes():
    truth = demo.digits().truth
    for seed in range(3):
        left = np.bincount(truth[digits.thinned(truth, seed)]) / np.bincount(truth)
        assert (left == 1).sum() == 5
        assert np.sort(left)[4] < 0.3
    assert len(digits.collection("all", 0).truth) == len(truth)


def test_belief_says_what_is_listed():
    truth = demo.digits().truth[:50]
    for task in demo.TASKS:
        allowed = digits.belief_of(task, demo.draw(truth, task, 0)).marginals() > 0
        assert allowed.sum(1).tolist() == [round(1 / task.chance)] * 50
        assert bool(allowed[range(50), truth].all())
        assert chance(task.name) == task.chance


@pytest.fixture
def short(monkeypatch):
    """Fits of one epoch, in threads."""
    quick = {"epochs": 1, "n_members": 1}
    monkeypatch.setattr(digits, "OBJECTIVES", {"RQ": quick, "EM": {"objective": "em"} | quick})
    monkeypatch.setattr(digits, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))


@pytest.mark.usefixtures("short")
def test_cells_have_figures_and_those_of_the_picture_its_digits(tmp_path):
    means, out = Means(tmp_path, "cpu"), tmp_path / "r.json"
    only = ["all", "one-wrong-label"]
    store = reproduce(digits.EXPERIMENT, means, out=out, seeds=[0], only=only)
    assert len(store) == 2
    for cell, figures in store.matching():
        assert 0.05 < figures["worst class"] + figures["r"] <= 2
        assert figures["instances"] == 1797
        assert ("digits" in figures) == (cell["objective"] == "RQ")
    cell = {"collection": "all", "task": only[1], "objective": "RQ", "seed": 0}
    for number, shown in enumerate(store[cell]["digits"]):
        assert shown["truth"] == demo.digits().truth[number]
        assert shown["truth"] not in shown["listed"]
        assert np.shape(shown["ink"]) == (8, 8)
    (found,) = store.circumstances
    assert found["threads"] == 1
    assert "1,797 digits." in digits.EXPERIMENT.page(store)


@pytest.mark.usefixtures("short")
def test_cell_is_given_as_soon_as_it_is_done(monkeypatch):
    received = Event()

    def figures(cell):
        assert cell["seed"] == 0 or received.wait(30), "the first cell was held back"
        return {"seed": cell["seed"]}

    monkeypatch.setattr(digits, "figures", figures)
    given = digits.measure([{"seed": 0}, {"seed": 1}], None)
    assert next(given) == ({"seed": 0}, {"seed": 0})
    received.set()
    assert next(given) == ({"seed": 1}, {"seed": 1})


@pytest.fixture
def record(tmp_path):
    """Two draws of two objectives on one task."""
    store = Store(tmp_path / "r.json", "digits")
    store.begin(WHERE | {"versions": {}}, data={})
    for objective, base in (("EM", 0.5), ("RQ", 0.75)):
        for seed, off in ((0, 0.0), (1, 0.125)):
            names = {"collection": "unbalanced", "task": "five-candidates"}
            figures = dict.fromkeys(("r", "q", "worst class", "held-out evidence"), base + off)
            figures["instances"] = 1000 + seed
            store.add(names | {"objective": objective, "seed": seed}, figures)
    return store


def test_draws_are_summed_up_with_the_error_of_their_mean(record):
    found = drawn(record, "unbalanced", "five-candidates", "EM", "r")
    assert found.values == [0.5, 0.625]
    assert (found.mean, found.error) == (0.5625, 0.0625)  # 0.125 / sqrt(2) / sqrt(2)


def test_page_has_what_is_measured_in_the_order_of_the_objectives(record):
    page = digits.EXPERIMENT.page(record)
    assert "## All digits" not in page
    assert "1,000 to 1,001 digits." in page
    assert "One wrong label" not in page
    first, second = (page.index(f"| {name} | ") for name in ("RQ", "EM"))
    assert first < second
    assert "| EM | 56.2 ± 6.2 | 56.2 ± 6.2 | 56.2 ± 6.2 | 0.562 |" in page
    assert "| any of the five | 20.0 |" in page


def test_masses_show_their_mean_and_worst_draw():
    path = Path(digits.__file__).with_name("results") / "digits.json"
    lines = mass_table(Store(path, "digits")).splitlines()
    assert len(lines) == 7
    assert lines[2] == "| `RQ`, `BatchMass` | 99.3 | 99.3 |"
