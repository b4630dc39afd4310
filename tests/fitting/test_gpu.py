"""A captured step does what a plain one does, what it reads and moves included."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tacit.evidence import CollectionMass, TrackedMass
from tacit.fitting import Collection, Execution
from tacit.objectives import EM, RQ
from tests.fitting.cases import (
    CPU,
    assert_near,
    assert_same,
    candidates,
    collection,
    linear,
    plan,
    train,
    votes,
)
from tests.fitting.test_engine import Flat, images
from tests.fitting.test_resume import interrupted

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
PLAIN = Execution(device="cuda", cuda_graph="no")
CAPTURED = Execution(device="cuda", cuda_graph="yes")
CLOSE = {"rtol": 1e-3, "atol": 1e-4}

PLANS = {
    "batch mass": plan(RQ(), epochs=12),
    "tracked mass": plan(EM(TrackedMass()), epochs=12, warm_up=2),
    "mass of the collection": plan(EM(CollectionMass()), epochs=12),
    "momentum": plan(RQ(), epochs=12, optimizer="sgd", learning_rate=0.01),
    "plateau": plan(RQ(), epochs=12, schedule="plateau", patience=3),
}


@pytest.mark.parametrize("name", PLANS)
def test_captured_equals_plain(name):
    (captured,) = train(PLANS[name], execution=CAPTURED)
    (plain,) = train(PLANS[name], execution=PLAIN)
    assert_near(captured, plain, **CLOSE)
    assert len(captured.history) == len(plain.history)
    assert captured.history[-1].loss == pytest.approx(plain.history[-1].loss, rel=1e-3)


@pytest.mark.parametrize("name", PLANS)
def test_a_gpu_is_near_the_cpu(name):
    (there,) = train(PLANS[name], execution=PLAIN)
    (here,) = train(PLANS[name], execution=CPU)
    for one, other in zip(there.history, here.history, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=0.01, abs=1e-3)


def test_augmentation_is_captured_with_its_random_state():
    given = plan(RQ(), Flat, epochs=12, augment="shift")
    of = Collection(images(), candidates())
    (captured,) = train(given, of, execution=CAPTURED)
    assert_near(captured, *train(given, of, execution=PLAIN), **CLOSE)
    assert_same(captured, *train(given, of, execution=CAPTURED))


def test_several_runs_are_captured_together():
    plans = [plan(RQ(), epochs=12, seed=seed) for seed in range(4)]
    for captured, given in zip(train(plans, execution=CAPTURED), plans, strict=True):
        assert_near(captured, *train(given, execution=PLAIN), **CLOSE)


@pytest.mark.parametrize("name", PLANS)
def test_a_captured_run_goes_on_with_its_learning_rate(tmp_path, name):
    """The rate lies on the GPU, where the graph reads it, after a resume too."""
    every = Execution(device="cuda", cuda_graph="yes", checkpoint_every=0.0)
    (whole,) = train(PLANS[name], execution=CAPTURED)
    assert interrupted(PLANS[name], collection(), tmp_path, 23, every)
    for execution in (CAPTURED, PLAIN):
        (resumed,) = train(PLANS[name], collection(), execution, tmp_path, resume=True)
        assert resumed.history[-1].learning_rate == whole.history[-1].learning_rate
        # The first of these ended the run, and the other found it ended.
        assert_near(resumed, whole, **CLOSE)


@pytest.mark.parametrize("later", [PLAIN, CPU, CAPTURED], ids=["plain", "cpu", "captured"])
def test_a_run_may_be_resumed_on_another_device(tmp_path, later):
    given = plan(RQ(), linear, epochs=12)
    every = Execution(
        device="cuda", cuda_graph="no" if later is CAPTURED else "yes", checkpoint_every=0.0
    )
    assert interrupted(given, collection(), tmp_path, 23, every)
    (resumed,) = train(given, collection(), later, tmp_path, resume=True)
    (whole,) = train(given, execution=later)
    assert_near(resumed, whole, rtol=1e-2, atol=1e-3)


def test_own_predictors_are_captured_unless_told_otherwise():
    given = plan(EM(TrackedMass()), epochs=12)
    (captured,) = train(given, execution=Execution(device="cuda"))
    assert_same(captured, *train(given, execution=CAPTURED))


@pytest.mark.parametrize("execution", [CAPTURED, PLAIN], ids=["asked to capture", "plain"])
def test_beliefs_that_learn_along_learn_the_same_there(tmp_path, execution):
    """Nothing is captured, since a graph would go on reading the belief that it has seen."""
    plans = [plan(EM(TrackedMass()), epochs=12, update_every=every) for every in (1, 3)]
    found = train(plans, collection(votes()), execution=execution)
    for there, here in zip(found, train(plans, collection(votes())), strict=True):
        for one, other in zip(there.history, here.history, strict=True):
            assert one.loss == pytest.approx(other.loss, rel=0.01, abs=1e-3)
    every_step = replace(execution, checkpoint_every=0.0)
    assert interrupted(plans, collection(votes()), tmp_path, 37, every_step)
    resumed = train(plans, collection(votes()), execution, tmp_path, resume=True)
    for one, other in zip(resumed, found, strict=True):
        assert_same(one, other)
