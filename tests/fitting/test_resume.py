from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from tacit.beliefs import Candidates, Categorical
from tacit.evidence import CollectionMass, FixedMass, TrackedMass
from tacit.fitting import (
    CHECKPOINT,
    METRICS,
    CheckpointError,
    Collection,
    Execution,
    load_state,
    save_state,
)
from tacit.fitting._fingerprint import digest
from tacit.objectives import EM, QR, RQ
from tests.fitting.cases import (
    BELIEFS,
    CPU,
    EVERY_STEP,
    N_CLASSES,
    N,
    assert_same,
    candidates,
    collection,
    features,
    linear,
    pairs,
    plan,
    train,
    votes,
)
from tests.fitting.test_engine import Flat, Forgetful, images

COLLAPSING = {"learning_rate": 50.0, "on_collapse": "restart", "epochs": 8, "patience": 0}

SCENARIOS = {
    "plain": lambda: ([plan()], collection()),
    "tracked mass": lambda: ([plan(EM(TrackedMass()), epochs=3)], collection()),
    "mass of the collection": lambda: ([plan(EM(CollectionMass()), epochs=3)], collection()),
    "pairs": lambda: ([plan(epochs=3)], collection(pairs())),
    "warm-up, momentum": lambda: (
        [plan(warm_up=1, epochs=3, optimizer="sgd", schedule="plateau", patience=3)],
        collection(weight=torch.arange(N) % 3.0),
    ),
    "several": lambda: (
        [plan(seed=1), plan(EM(), seed=2, epochs=3, batch_size=33), plan(seed=3, held_out=0.0)],
        collection(),
    ),
    "drawing": lambda: ([plan(predictor=Forgetful), plan(predictor=Forgetful)], collection()),
    "augmented": lambda: (
        [plan(predictor=Flat, augment="shift")],
        Collection(images(), candidates()),
    ),
    "learning along": lambda: (
        [
            plan(update_every=1, epochs=3, held_out=0.0),
            plan(EM(CollectionMass()), warm_up=1, update_every=2, epochs=4, seed=1),
        ],
        collection(pairs() * votes(), weight=torch.arange(N) % 3.0),
    ),
    "restarting": lambda: ([plan(QR(), batch_size=60, **COLLAPSING)], collection()),
}


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)


class InterruptionError(Exception):
    pass


def stopping_after(n_steps):
    """A watch that ends the run when it is told for the n-th time."""
    told = 0

    def watch(progress):
        nonlocal told
        del progress
        told += 1
        if told == n_steps:
            raise InterruptionError

    return watch


def interrupted(plans, of, folder, n_steps, execution=EVERY_STEP, *, resume=False):
    """Whether a run was interrupted so late."""
    try:
        watch = stopping_after(n_steps)
        train(plans, of, execution, folder, watch=watch, resume=resume)
    except InterruptionError:
        return True
    return False


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_interrupted_anywhere_ends_as_if_it_was_not(tmp_path, name):
    plans, of = SCENARIOS[name]()
    whole = train(plans, of, folder=tmp_path)
    metrics = (tmp_path / METRICS).read_text()
    n_steps = 1
    while interrupted(plans, of, tmp_path, n_steps):
        for left, right in zip(whole, resumed(plans, of, tmp_path), strict=True):
            assert_same(left, right)
        assert (tmp_path / METRICS).read_text() == metrics
        n_steps += 1
    assert n_steps > 8


def resumed(plans, of, folder, execution=CPU):
    return train(plans, of, execution, folder, resume=True)


def test_the_restarting_scenario_restarts():
    plans, of = SCENARIOS["restarting"]()
    (fitted,) = train(plans, of)
    assert [record.epoch for record in fitted.history].count(1) == 3


def test_a_run_interrupted_again_and_again_ends_as_if_it_was_not(tmp_path):
    plans, of = SCENARIOS["several"]()
    whole = train(plans, of)
    # The end of an epoch tells of its last step and of three runs before the next is saved.
    interrupted(plans, of, tmp_path, 5)
    while interrupted(plans, of, tmp_path, 5, resume=True):
        pass
    for left, right in zip(whole, resumed(plans, of, tmp_path), strict=True):
        assert_same(left, right)


def test_what_is_only_execution_may_change(tmp_path):
    plans, of = SCENARIOS["several"]()
    whole = train(plans, of)
    interrupted(plans, of, tmp_path, 5)
    streamed = Execution(device="cpu", hold="no", together="no")
    for left, right in zip(whole, resumed(plans, of, tmp_path, streamed), strict=True):
        assert_same(left, right)


def test_without_a_checkpoint_a_resumed_run_begins(tmp_path):
    (fitted,) = train(plan(), folder=tmp_path, resume=True)
    assert_same(fitted, *train(plan(), resume=True))


def test_a_finished_run_is_left_as_it_is(tmp_path):
    (fitted,) = train(plan(), folder=tmp_path)
    told = []
    (again,) = train(plan(), folder=tmp_path, resume=True, watch=told.append)
    assert_same(fitted, again)
    assert told == []


def test_a_new_run_leaves_nothing_of_an_old_one(tmp_path):
    train(plan(seed=1), folder=tmp_path)
    (tmp_path / f".{CHECKPOINT}.12345678.partial").write_bytes(b"half")
    assert interrupted(plan(), collection(), tmp_path, 1, CPU)
    assert [path.name for path in tmp_path.iterdir()] == [METRICS]
    (fitted,) = resumed(plan(), collection(), tmp_path)
    assert_same(fitted, *train(plan()))


OTHERS = {
    "settings": lambda: (plan(learning_rate=0.03), collection()),
    "objectives": lambda: (plan(EM()), collection()),
    "predictors": lambda: (plan(predictor=linear), collection()),
    "features": lambda: (plan(), Collection(features() + 1, candidates())),
    "beliefs": lambda: (plan(), collection(BELIEFS["categorical"]())),
    "weights": lambda: (plan(), collection(weight=torch.ones(N))),
    "strata": lambda: (plan(), collection(strata=torch.arange(N) % 2)),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, what):
    interrupted(plan(), collection(), tmp_path, 3)
    with pytest.raises(CheckpointError, match=f"a run with other {what}; resume with those"):
        resumed(*OTHERS[what](), tmp_path)


def changed(table, row):
    table = table.clone()
    table[row] += 1
    return table


@pytest.mark.parametrize("row", [0, 1, 47, N - 1])
def test_a_change_of_a_single_number_is_noticed(tmp_path, row):
    log_prior = torch.zeros(N, N_CLASSES)
    given = (plan(), Collection(features(), pairs() * Categorical.from_log(log_prior)))
    interrupted(*given, tmp_path, 3)
    other = changed(features(), (row, 1))
    with pytest.raises(CheckpointError, match="other features"):
        resumed(plan(), Collection(other, given[1].belief), tmp_path)
    other = pairs() * Categorical.from_log(changed(log_prior, (row, 1)))
    with pytest.raises(CheckpointError, match="other beliefs"):
        resumed(plan(), Collection(features(), other), tmp_path)


@pytest.mark.parametrize("kind", ["scipy", "torch", "array"])
def test_a_change_in_features_of_any_kind_is_noticed(tmp_path, kind):
    def of(table):
        forms = {"scipy": csr_matrix, "torch": torch.from_numpy, "array": np.asfortranarray}
        given = forms[kind](table)
        return Collection(given.to_sparse() if kind == "torch" else given, candidates())

    dense = features().numpy() * (np.arange(4 * N).reshape(N, 4) % 3 > 0)
    interrupted(plan(), of(dense), tmp_path, 3)
    assert_same(*resumed(plan(), of(dense), tmp_path), *train(plan(), of(dense)))
    dense[41] *= 1.001
    with pytest.raises(CheckpointError, match="other features"):
        resumed(plan(), of(dense), tmp_path)


def test_large_features_are_looked_at_all_over(monkeypatch):
    """A table of more than 256 parts: of each part the first bytes are read."""
    monkeypatch.setattr("tacit.fitting._fingerprint._PART", 16)
    table = torch.randn(3000, 4)
    whole = digest(table)
    noticed = sum(digest(changed(table, row)) != whole for row in range(0, 3000, 10))
    assert 15 < noticed < 60
    assert digest(changed(table, slice(1000, 1020))) != whole


def test_another_fixed_mass_is_noticed(tmp_path):
    masses = [FixedMass(torch.tensor(shares)) for shares in ([0.2, 0.3, 0.5], [0.3, 0.2, 0.5])]
    interrupted(plan(EM(masses[0])), collection(), tmp_path, 3)
    with pytest.raises(CheckpointError, match="other objectives"):
        resumed(plan(EM(masses[1])), collection(), tmp_path)


def test_another_precision_is_noticed(tmp_path):
    interrupted(plan(), collection(), tmp_path, 3)
    double = plan(predictor=lambda generator: linear(generator).double())
    with pytest.raises(CheckpointError, match="other"):
        resumed(double, Collection(features().double(), candidates()), tmp_path)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.99])
def test_a_truncated_checkpoint_is_refused(tmp_path, part):
    interrupted(plan(), collection(), tmp_path, 3)
    content = (tmp_path / CHECKPOINT).read_bytes()
    (tmp_path / CHECKPOINT).write_bytes(content[: int(part * len(content))])
    with pytest.raises(CheckpointError, match=r"cannot be read .* truncated or no file of tacit"):
        resumed(plan(), collection(), tmp_path)


def test_a_checkpoint_with_a_flipped_bit_is_refused(tmp_path):
    """Wherever it is: in the length, the names, the numbers or the weights."""
    interrupted(plan(), collection(), tmp_path, 3)
    content = (tmp_path / CHECKPOINT).read_bytes()
    for at in [*range(0, len(content), 97), len(content) - 1]:
        spoilt = bytearray(content)
        spoilt[at] ^= 1 << at % 8
        (tmp_path / CHECKPOINT).write_bytes(bytes(spoilt))
        with pytest.raises(CheckpointError):
            resumed(plan(), collection(), tmp_path)


def test_a_checkpoint_of_another_version_or_kind_is_refused(tmp_path, monkeypatch):
    path = tmp_path / CHECKPOINT
    monkeypatch.setattr("tacit.fitting._checkpoint.VERSION", 2)
    save_state(path, {}, kind="run")
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match="has version 2 and this tacit reads 1"):
        resumed(plan(), collection(), tmp_path)
    save_state(path, {}, kind="model")
    with pytest.raises(CheckpointError, match="holds a model where a run was expected"):
        resumed(plan(), collection(), tmp_path)
    path.write_bytes((8).to_bytes(8, "little") + b"{      }")
    with pytest.raises(CheckpointError, match="was not written by tacit"):
        resumed(plan(), collection(), tmp_path)


def test_states_of_every_shape_come_back(tmp_path):
    state = {
        "tensors": [torch.arange(6.0).view(2, 3).T, torch.empty(0), torch.tensor(1.5)],
        "kinds": {"bool": torch.tensor([True]), "half": torch.ones(2, dtype=torch.bfloat16)},
        7: {"none": None, "text": "ä", "number": 0.1 + 0.2, "infinite": float("inf")},
    }
    save_state(tmp_path / "state", state, kind="test")
    found = load_state(tmp_path / "state", kind="test")
    for left, right in zip(state["tensors"], found["tensors"], strict=True):
        assert left.equal(right)
        assert left.dtype == right.dtype
    assert all(found["kinds"][name].equal(value) for name, value in state["kinds"].items())
    assert found[7] == state[7]


def test_a_missing_state_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match=r"'.*nothing' is not there"):
        load_state(tmp_path / "nothing", kind="run")


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    interrupted(plan(), collection(), tmp_path, 3)
    before = (tmp_path / CHECKPOINT).read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tacit._files.os.fsync", full)
    with pytest.raises(CheckpointError, match="the disk is full"):
        save_state(tmp_path / CHECKPOINT, {"some": "thing"}, kind="run")
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [CHECKPOINT, METRICS]


def test_a_checkpoint_is_written_as_often_as_asked(tmp_path):
    def written(every):
        numbers = []
        path = tmp_path / CHECKPOINT

        def watch(progress):
            del progress
            numbers.append(path.stat().st_mtime_ns if path.exists() else 0)

        train(
            plan(epochs=3),
            execution=replace(CPU, checkpoint_every=every),
            folder=tmp_path,
            watch=watch,
        )
        return len(set(numbers))

    assert written(1e6) == 1
    assert written(0.0) > 10


def test_another_set_of_candidates_is_noticed(tmp_path):
    sets = [[i % 3] for i in range(N)]
    given = Candidates(sets, n_classes=N_CLASSES)
    interrupted(plan(), collection(given), tmp_path, 3)
    sets[40] = [0, 1]
    with pytest.raises(CheckpointError, match="other beliefs"):
        resumed(plan(RQ()), collection(Candidates(sets, n_classes=N_CLASSES)), tmp_path)
