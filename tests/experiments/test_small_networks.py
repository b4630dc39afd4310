"""The experiments on images, in miniature: scikit-learn's digits in the place of MNIST's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from experiments import Means, experiment, reproduce
from experiments import batch_size as batch_size_module
from experiments import negative_labels as negative_labels_module
from experiments import partial_labels as partial_labels_module
from experiments import rankings as rankings_module
from experiments._data import images
from experiments.batch_size import KEPT, thinned
from experiments.negative_labels import excluded
from experiments.partial_labels import flipped, wrong_chances
from experiments.rankings import KNOWN, groups

N_TRAIN = 1200
QUICK = {"epochs": 6, "batch_size": 64, "learning_rate": 5e-3}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Folders laid out like those of the real sets."""
    folder = tmp_path_factory.mktemp("data")
    x, y = load_digits(return_X_y=True)
    x = (255 / 16 * x.reshape(-1, 8, 8)).astype(np.uint8)
    for name in ("mnist", "fashion_mnist", "cifar10"):
        shown = np.repeat(x[..., None], 3, axis=3) if name == "cifar10" else x
        (folder / name).mkdir()
        np.savez(
            folder / name / f"{name}.npz",
            x_train=shown[:N_TRAIN],
            y_train=y[:N_TRAIN],
            x_test=shown[N_TRAIN:],
            y_test=y[N_TRAIN:],
        )
    return folder


def measured(name, data, out, only, **options):
    record = out / f"{name}.json"
    return reproduce(
        experiment(name), Means(data, "cpu"), out=record, only=only, seeds=[0], **options
    )


@pytest.fixture
def truth():
    return torch.arange(6000) % 10


@pytest.mark.parametrize("k", [1, 4, 9])
def test_labels_that_are_excluded_are_wrong_differ_and_are_all_as_likely(truth, k):
    told = excluded(truth, k, seed=3)
    assert told.shape == (6000, k)
    assert not bool((told == truth.unsqueeze(1)).any())
    assert all(len(set(row)) == k for row in told[:200].tolist())
    share = torch.bincount((told - truth.unsqueeze(1)).remainder(10).flatten(), minlength=10) / 6000
    assert share[0] == 0
    assert torch.allclose(share[1:], torch.full((9,), k / 9), atol=0.03)
    assert told.equal(excluded(truth, k, seed=3))


def test_candidates_hold_the_truth_and_others_by_their_chance(truth):
    chances = torch.linspace(0.1, 1.0, 10).expand(6000, 10)
    mask = flipped(truth, chances, seed=1)
    assert bool(mask[torch.arange(6000), truth].all())
    others = mask.scatter(1, truth.unsqueeze(1), False).float()
    assert torch.allclose(others.sum(0) / 5400, chances[0], atol=0.03)


def test_the_likeliest_wrong_label_is_always_a_candidate():
    q = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    chances = wrong_chances(q, torch.tensor([0, 2]))
    assert torch.allclose(chances, torch.tensor([[0.0, 1.0, 0.5], [1.0, 1.0, 0.0]]))


def test_five_classes_are_thinned_in_both_parts(data):
    whole = images("mnist", data)
    less = thinned(whole, seed=0)
    for before, after in ((whole.y_train, less.y_train), (whole.y_test, less.y_test)):
        shares = torch.bincount(after, minlength=10) / torch.bincount(before, minlength=10)
        assert int((shares == 1).sum()) == 5
        assert float(shares[shares < 1].mean()) == pytest.approx(KEPT, abs=0.07)
    assert len(less.x_train) == len(less.y_train)


@pytest.mark.parametrize("known", KNOWN)
def test_what_is_told_of_groups_is_true(truth, known):
    """The true labels are possible, and some that contradict what is told are not."""
    some = truth[torch.randperm(600, generator=torch.Generator().manual_seed(0))]
    belief = KNOWN[known](some, 0)
    certain = torch.full((600, 10), -1e3).scatter_(1, some.unsqueeze(1), 0.0)
    assert bool(belief.posterior(certain).log_normaliser.isfinite().all())
    shifted = certain[torch.randperm(600, generator=torch.Generator().manual_seed(1))]
    assert float(belief.posterior(shifted).log_normaliser.sum()) < float(
        belief.posterior(certain).log_normaliser.sum()
    )


def test_each_image_is_in_one_group_at_the_most():
    found = groups(103, 5, seed=2)
    assert found.shape == (20, 5)
    assert len(found.unique()) == 100


def test_little_knowledge_is_sharpened(data, tmp_path, monkeypatch):
    monkeypatch.setattr(negative_labels_module, "SETTINGS", negative_labels_module.SETTINGS | QUICK)
    store = measured("negative-labels", data, tmp_path, ["mnist", "3"])
    found = {cell["objective"]: figures for cell, figures in store.matching()}
    assert found["RQ"]["test"] > 0.8
    assert found["EM, tracked mass"]["test"] > 0.8
    for figures in found.values():
        assert len(figures["curve"]) == QUICK["epochs"]
        assert figures["peak test"] == max(figures["curve"]) >= figures["test"]
    chosen = experiment("negative-labels")
    assert "| RQ | " in chosen.page(store)
    assert chosen.pictures(store)["negative-labels.svg"].startswith("<svg ")


def test_pairs_order_the_digits(data, tmp_path, monkeypatch):
    quick = {"epochs": 30, "batch_size": 128, "learning_rate": 5e-3}
    monkeypatch.setattr(rankings_module, "SETTINGS", rankings_module.SETTINGS | quick)
    store = measured("rankings", data, tmp_path, ["pairs"])
    ((_, figures),) = store.matching(known="pairs")
    last = torch.tensor(figures["confusions"]["30"])
    apart = (torch.arange(10).unsqueeze(1) - torch.arange(10)).abs()
    assert float((apart * last).sum() / last.sum()) < 1.0  # by chance it is 3.3
    assert figures["test"] > 0.35
    assert int(last.sum()) == 1797 - N_TRAIN
    assert float(last.trace() / last.sum()) == pytest.approx(figures["test"], abs=1e-4)
    chosen = experiment("rankings")
    assert "| pairs | " in chosen.page(store)
    assert "epoch 30" in chosen.pictures(store)["rankings.svg"]


def test_a_tracked_mass_bears_small_batches(data, tmp_path, monkeypatch):
    rows = {name: batch_size_module.ROWS[name] for name in ("EM", "EM, tracked mass")}
    monkeypatch.setattr(batch_size_module, "ROWS", rows)
    monkeypatch.setattr(batch_size_module, "EPOCHS", {2: 3})
    monkeypatch.setattr(batch_size_module, "SIZES", (2,))
    monkeypatch.setattr(batch_size_module, "STEPS", (1e-3,))
    monkeypatch.setattr(batch_size_module, "excluded", lambda y, _, seed: excluded(y, 3, seed))
    store = measured("batch-size", data, tmp_path, ["all"])
    found = {cell["row"]: figures["test"] for cell, figures in store.matching()}
    assert found["EM, tracked mass"] > found["EM"] + 0.05
    assert found["EM, tracked mass"] > 0.7
    assert "| RQ in the paper, best epoch | 89.0 |" in experiment("batch-size").page(store)


def test_rivals_learn_from_the_same_candidates(data, tmp_path, monkeypatch):
    monkeypatch.setattr(
        partial_labels_module,
        "SETTINGS",
        partial_labels_module.SETTINGS | {"epochs": 6, "batch_size": 64},
    )
    monkeypatch.setattr(partial_labels_module, "STEPS", (5e-3,))
    monkeypatch.setattr(partial_labels_module, "SETS", ("mnist",))
    monkeypatch.setattr(partial_labels_module, "FLIPS", ("0.3", "instance"))
    store = measured("partial-labels", data, tmp_path, [])
    found = {(c["flips"], c["row"]): f for c, f in store.matching()}
    assert found["0.3", "RQ"]["test"] > 0.8
    assert found["0.3", "PRODEN (RC)"]["test"] > 0.8
    assert found["0.3", "RQ"]["candidates"] == pytest.approx(1 + 0.3 * 9, abs=0.1)
    assert (data / "teachers" / "mnist-0.safetensors").exists()
    assert "## MNIST" in experiment("partial-labels").page(store)
