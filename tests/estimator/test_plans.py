"""What settings ask for, what "auto" means, and what is refused before any data are read."""

import contextlib

import numpy as np
import pytest
import torch
from torch import nn

from tacit import EM, RQ, BatchMass, BeliefClassifier, TrackedMass
from tacit.errors import InvalidInputError
from tacit.estimator._automatic import batch_size_for, epochs_for, held_out_for, patience_for
from tacit.estimator._names import MASSES, OBJECTIVES, objective_for
from tacit.estimator._plans import settings_for
from tacit.fitting import Execution
from tests.estimator.cases import N_CLASSES, clouds, quick, same

X, TRUTH, BELIEF = clouds()

REFUSED = {
    "objective='rp'": "perhaps 'rq' is meant",
    "objective='Free-Energy'": "perhaps 'free_energy' is meant",
    "objective='zzz'": "pick one",
    "objective=None": "it is None",
    "objective=RQ": "it is <class",
    "mass='traked'": "perhaps 'tracked' is meant",
    "mass=3": "it is 3",
    "predictor='liner'": "perhaps 'linear' is meant",
    "predictor=None": "it is None",
    "predictor=nn.Linear": "it is the class Linear",
    "predictor=lambda: None": "does not take one argument",
    "predictor=lambda a, b: None": "does not take one argument",
    "n_members=0": "whole number of at least 1, but it is 0",
    "n_members=-1": "it is -1",
    "n_members=2.0": "it is 2.0",
    "n_members=True": "it is True",
    "n_members='3'": "it is '3'",
    "tempering=-0.5": "at least 0, but it is -0.5",
    "tempering=float('nan')": "it is nan",
    "tempering=float('inf')": "it is inf",
    "tempering='auto'": "be a number, but it is 'auto'",
    "tempering=None": "it is None",
    "scale='no'": "True or False, but it is 'no'",
    "verbose=2": "True or False, but it is 2",
    "epochs=0": "at least 1",
    "epochs=1.5": "a whole number",
    "epochs='5'": "a whole number, but it is '5'",
    "epochs=np.array([1, 2])": "a whole number",
    "batch_size=0": "at least 1",
    "batch_size='Auto'": "a whole number, but it is 'Auto'",
    "learning_rate=0": "above 0",
    "learning_rate=float('nan')": "it is nan",
    "learning_rate='fast'": "a number",
    "optimizer='adan'": "one of 'adam', 'adamw', 'sgd', but it is 'adan'",
    "weight_decay=-1": "at least 0",
    "schedule='linear'": "one of 'constant', 'plateau', 'cosine'",
    "warm_up=-1": "at least 0",
    "warm_up=6": "below the number of epochs, but it is 6 of 6",
    "update_every=-1": "at least 0",
    "update_every=6": "epochs after the warm-up, but it is 6 of 6",
    "update_every='auto'": "a whole number, but it is 'auto'",
    "held_out=0.6": "at most 0.5",
    "held_out=-0.1": "at least 0",
    "held_out='some'": "a number",
    "patience=-1": "at least 0",
    "augment='flip'": "one of 'none', 'shift', 'shift_mirror'",
    "on_collapse='ignore'": "one of 'warn', 'stop', 'restore', 'restart'",
    "device='gpu'": "one that torch knows",
    "device=0": "be a text",
    "execution={}": "a tacit.fitting.Execution, but it is {}",
    "random_state=-1": "at least 0 and below 2\\^63, but it is -1",
    "random_state=2**64": "at least 0 and below 2\\^63",
}


@pytest.mark.parametrize(("given", "sentence"), REFUSED.items(), ids=REFUSED)
def test_setting_that_cannot_be_meant_is_refused(given, sentence):
    name = given.split("=")[0]
    settings = eval(f"dict({given})", {"np": np, "nn": nn, "RQ": RQ})
    with pytest.raises(InvalidInputError, match=f"`{name}` must .*{sentence}"):
        quick(**settings).fit(X, BELIEF)


@pytest.mark.parametrize("seed", ["a", 1.5, np.random.default_rng(0)])
def test_seed_is_refused_in_the_words_of_scikit_learn(seed):
    with pytest.raises(ValueError, match="cannot be used to seed"):
        quick(random_state=seed).check()


def test_settings_are_looked_at_before_the_data():
    with pytest.raises(InvalidInputError, match="`epochs`"):
        quick(epochs=0).fit(None, None)


def test_check_gives_the_model_back():
    model = quick()
    assert model.check() is model


@pytest.mark.parametrize("share", [0.001, 0.02])
def test_too_few_to_judge_by_are_refused(share):
    with pytest.raises(InvalidInputError, match=f"at least 2 instances .* but {share} of 60 are"):
        quick(held_out=share).fit(X[:60], BELIEF[:60])


@pytest.mark.parametrize(
    "settings", [{"schedule": "plateau"}, {"on_collapse": "restore"}], ids=["plateau", "restore"]
)
def test_what_needs_held_out_evidence_is_refused_without(settings):
    with pytest.raises(InvalidInputError, match="larger `held_out`"):
        quick(**settings).fit(X, BELIEF)


def test_rows_cannot_be_shifted():
    with pytest.raises(InvalidInputError, match=r"`augment` must be 'none' where .* no images"):
        quick(augment="shift").fit(X, BELIEF)


def test_automatic_settings_follow_from_the_collection():
    assert [batch_size_for(n) for n in (2, 16, 17, 512, 9999)] == [128, 128, 136, 4096, 4096]
    assert [epochs_for(n, 128) for n in (1, 1280, 12_800, 10**9)] == [300, 60, 20, 20]
    assert [held_out_for(n) for n in (1, 199, 200, 10**6)] == [0, 0, 0.1, 0.1]
    assert [patience_for(n) for n in (1, 25, 300)] == [5, 5, 60]


def test_automatic_settings_are_filled_in():
    settings = settings_for(BeliefClassifier(), 210, N_CLASSES, seed=7)
    assert (settings.batch_size, settings.epochs, settings.patience) == (128, 300, 60)
    assert (settings.held_out, settings.seed) == (0.1, 7)


def test_automatic_settings_are_those_that_would_be_written_out():
    X, _, belief = clouds(210)
    auto = BeliefClassifier(epochs=12, n_members=1, random_state=0).fit(X, belief)
    spelt = BeliefClassifier(
        *("perceptron", "rq"),
        mass="batch",
        batch_size=128,
        epochs=12,
        held_out=0.1,
        patience=5,
        n_members=1,
        random_state=0,
    )
    assert same(auto, spelt.fit(X, belief))
    assert auto.held_out_evidence_ == max(record.held_out_evidence for record in auto.history_[0])


def test_nothing_is_held_out_of_few():
    assert quick().fit(X, BELIEF).held_out_evidence_ is None


@pytest.mark.parametrize(
    ("batch_size", "kind"), [(N_CLASSES * 4, "BatchMass"), (N_CLASSES * 4 - 1, "TrackedMass")]
)
def test_mass_is_the_batch_s_own_where_each_class_occurs_often(batch_size, kind):
    objective = objective_for("rq", "auto", batch_size=batch_size, n_classes=N_CLASSES)
    assert type(objective.mass).__name__ == kind


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_name_stands_for_the_objective(name, mass):
    objective = objective_for(name, mass, batch_size=64, n_classes=N_CLASSES)
    assert type(objective) is OBJECTIVES[name]
    assert type(objective.mass) is MASSES[mass]


@pytest.mark.filterwarnings("ignore::tacit.errors.CollapseWarning")  # few epochs, some unsuitable
@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_can_be_asked_for(name):
    model = quick(objective=name, epochs=3).fit(X, BELIEF)
    np.testing.assert_allclose(model.posterior_.sum(1), 1, rtol=1e-6)


def test_objective_brings_its_own_mass():
    named = quick(objective="em", mass="tracked").fit(X, BELIEF)
    passed = quick(objective=EM(TrackedMass()), mass="batch").fit(X, BELIEF)
    assert same(passed, named)


def test_mass_by_name_is_the_mass_itself():
    assert same(quick(mass="batch").fit(X, BELIEF), quick(mass=BatchMass()).fit(X, BELIEF))


@pytest.mark.parametrize("random_state", [3, np.int64(3), np.random.RandomState(3)])
def test_seed_gives_the_same_model_again(random_state):
    first = quick(random_state=random_state).fit(X, BELIEF)
    state = np.random.RandomState(3) if not np.isscalar(random_state) else 3
    assert same(first, quick(random_state=state).fit(X, BELIEF))


def test_other_seed_gives_another_model():
    model = quick(random_state=0).fit(X, BELIEF)
    assert not same(model, quick(random_state=1).fit(X, BELIEF))


def test_no_seed_gives_another_model_each_time():
    model = quick(random_state=None)
    assert not same(model.fit(X, BELIEF), quick(random_state=None).fit(X, BELIEF))


def test_global_random_state_is_neither_used_nor_moved():
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    first = quick().fit(X, BELIEF)
    assert torch.equal(torch_before, torch.get_rng_state())
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1234)
        assert same(first, quick().fit(X, BELIEF))


def test_members_have_weights_of_their_own_and_the_first_is_as_alone():
    three, one = quick(n_members=3).fit(X, BELIEF), quick().fit(X, BELIEF)
    weights = [network.state_dict()["predictor.maps.0.weight"] for network in three.networks_]
    # Several perceptrons may be multiplied at once, which rounds otherwise.
    torch.testing.assert_close(weights[0], one.networks_[0].state_dict()["predictor.maps.0.weight"])
    assert all(float((weights[i] - weights[i - 1]).abs().max()) > 0.01 for i in range(3))
    assert len(three.history_) == len(three.ended_) == 3


def test_execution_says_how_but_not_where():
    streamed = quick(execution=Execution(device="cuda", hold="no"), device="cpu").fit(X, BELIEF)
    assert same(streamed, quick().fit(X, BELIEF))


def test_progress_is_watched():
    seen = []
    quick(epochs=4).fit(X, BELIEF, watch=seen.append)
    assert seen[-1].done == seen[-1].epochs == 4
    assert [told.record.epoch for told in seen if told.record] == [1, 2, 3, 4]


@pytest.mark.parametrize("verbose", [False, True])
def test_progress_is_shown_where_asked(verbose, monkeypatch):
    seen = []

    @contextlib.contextmanager
    def bar():
        yield seen.append

    monkeypatch.setattr("tacit.estimator._classifier.progress_bar", bar)
    quick(epochs=2, verbose=verbose).fit(X, BELIEF)
    assert bool(seen) is verbose


class StopError(Exception):
    """What ends a run in its middle."""


def stop_at(epoch):
    def watch(progress):
        if progress.done >= epoch:
            raise StopError

    return watch


def test_resumed_fit_ends_as_if_it_had_not_stopped(tmp_path):
    often = Execution(checkpoint_every=0)
    with pytest.raises(StopError):
        quick(execution=often).fit(X, BELIEF, folder=tmp_path, watch=stop_at(3.5))
    resumed = quick().fit(X, BELIEF, folder=tmp_path, resume=True)
    whole = quick().fit(X, BELIEF)
    assert same(resumed, whole)
    np.testing.assert_array_equal(resumed.posterior_, whole.posterior_)
    assert (tmp_path / "metrics.jsonl").read_text("utf-8").count("\n") == 6


def test_fit_that_is_complete_is_not_begun_again(tmp_path):
    first = quick().fit(X, BELIEF, folder=tmp_path)
    steps = []
    again = quick().fit(X, BELIEF, folder=tmp_path, resume=True, watch=steps.append)
    assert same(first, again)
    assert steps == []


def test_resume_without_a_folder_is_refused():
    with pytest.raises(InvalidInputError, match="`folder` must be given to resume from"):
        quick().fit(X, BELIEF, resume=True)


def test_resume_without_a_seed_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="`random_state` must be a number to resume by"):
        quick(random_state=None).fit(X, BELIEF, folder=tmp_path, resume=True)


@pytest.mark.gpu
@pytest.mark.parametrize("as_", [np.asarray, torch.as_tensor, lambda x: torch.as_tensor(x).cuda()])
def test_gpu_resolves_what_the_cpu_does(as_, tmp_path):
    single = X.astype(np.float32)
    on_cpu = quick(epochs=20, device="cpu").fit(single, BELIEF)
    on_gpu = quick(epochs=20).fit(as_(single), BELIEF)
    np.testing.assert_allclose(on_gpu.posterior_, on_cpu.posterior_, atol=0.01)
    on_gpu.save(tmp_path / "model")
    loaded = BeliefClassifier.load(tmp_path / "model", device="cpu")
    np.testing.assert_allclose(loaded.predict_proba(single), on_gpu.prediction_, atol=1e-5)
    parts = quick().partial_fit(as_(single), BELIEF).partial_fit(as_(single), BELIEF)
    np.testing.assert_allclose(parts.posterior(as_(single), BELIEF).sum(1), 1, rtol=1e-5)
