"""Real runs that collapse, and what is done about it."""

from __future__ import annotations

import pytest
import torch

from tacit.beliefs import Candidates
from tacit.demo import TASKS, digits, draw
from tacit.diagnostics import vitals
from tacit.evidence import FixedMass
from tacit.fitting import Collection, perceive
from tacit.objectives import QR, RQ, FreeEnergy
from tacit.predictors import Perceptron
from tests.fitting.cases import N_CLASSES, N, collection, features, plan, train, weights

TOO_FAST = {"learning_rate": 50.0, "epochs": 12, "patience": 0}


def weak():
    """Of each label is known only one that it is not."""
    excluded = (torch.arange(N) % 3 + 1 + torch.arange(N) // 3 % 2) % 3
    return Candidates.excluding(excluded.view(-1, 1).tolist(), n_classes=N_CLASSES)


COLLAPSING = {
    "free energy": (FreeEnergy(), TOO_FAST),
    "qr": (QR(), TOO_FAST),
    "mass held fixed": (
        QR(FixedMass.uniform(10), allow_collapse=True),
        {"batch_size": 128, "learning_rate": 2e-3, "epochs": 8, "patience": 0},
    ),
}


def handwriting():
    """Digits of which five candidates are known each: the mass held fixed pushes classes out."""
    data = digits()
    listed = draw(data.truth, TASKS[0], seed=0)
    images = torch.from_numpy(data.images).flatten(1)
    return Collection(images, Candidates(listed.tolist(), n_classes=10))


def reading(generator):
    return Perceptron(64, 10, generator=generator)


def collapsed(name="mass held fixed", **settings):
    objective, given = COLLAPSING[name]
    if name == "mass held fixed":
        (fitted,) = train(plan(objective, reading, **(given | settings)), handwriting())
    else:
        (fitted,) = train(plan(objective, **(given | settings)), collection(weak()))
    return fitted


def kinds(fitted):
    return {alarm.kind for record in fitted.history for alarm in record.alarms}


@pytest.mark.parametrize("name", COLLAPSING)
def test_a_run_that_collapses_says_so(name):
    fitted = collapsed(name)
    assert kinds(fitted) & {"constant", "vanished"}
    assert fitted.ended == "all epochs"
    constant = fitted.history[-1].vitals.information < 0.02
    assert constant or fitted.history[-1].vitals.vanished


def test_a_run_that_does_not_collapse_says_nothing():
    for objective in (RQ(), FreeEnergy(), QR()):
        for belief in (None, weak()):
            (fitted,) = train(plan(objective, epochs=30, patience=0), collection(belief))
            assert not kinds(fitted)


def test_stopping_keeps_the_state_in_which_the_run_stopped():
    fitted = collapsed(on_collapse="stop")
    assert fitted.ended == "collapsed"
    assert fitted.best_epoch == len(fitted.history) < 8
    assert fitted.held_out_evidence is None
    assert any(alarm.degenerate for alarm in fitted.history[-1].alarms)
    # The network is what it was when the run was stopped: it says what its last record says.
    given = handwriting()
    signs, _ = vitals(perceive(fitted.network, given.features), given.belief.marginals())
    assert signs.information == pytest.approx(fitted.history[-1].vitals.information, abs=1e-3)
    assert signs.information < 0.02


def test_restoring_goes_back_to_the_best_state():
    restored, stopped = (collapsed(on_collapse=how) for how in ("restore", "stop"))
    assert restored.ended == "collapsed"
    assert restored.history == stopped.history
    scores = [record.held_out_evidence for record in restored.history]
    assert restored.held_out_evidence == max(scores)
    assert restored.best_epoch == 1 + scores.index(max(scores))
    theirs = weights(stopped)
    assert any(not value.equal(theirs[name]) for name, value in weights(restored).items())


def test_restarting_begins_anew_with_a_longer_warm_up_twice():
    fitted = collapsed("qr", on_collapse="restart", epochs=60)
    starts = [at for at, record in enumerate(fitted.history) if record.epoch == 1]
    assert len(starts) == 3
    attempts = [fitted.history[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
    warm_ups = [sum(record.warming_up for record in attempt) for attempt in attempts]
    assert warm_ups == [0, 10, 20]
    assert fitted.ended == "collapsed"
    assert attempts[0][0].loss != attempts[1][0].loss


def test_warning_changes_nothing():
    warned, quiet = collapsed(on_collapse="warn"), collapsed()
    assert warned.history == quiet.history
    assert len(warned.history) == 8


def test_vital_signs_are_those_of_the_instances_with_weight():
    weight = (torch.arange(N) % 2).float()
    (fitted,) = train(plan(RQ(), epochs=1, held_out=0.0), collection(weight=weight))
    log_q = perceive(fitted.network, features())
    signs, _ = vitals(log_q, collection().belief.marginals(), weight=weight)
    found = fitted.history[0].vitals
    assert found[:-1] == pytest.approx(signs[:-1], abs=1e-6)
