"""Beliefs that learn along with the predictor."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from tacit.diagnostics import held_out_evidence
from tacit.errors import InvalidInputError
from tacit.evidence import TrackedMass
from tacit.fitting import CHECKPOINT, Collection, Execution, load_state, perceive
from tacit.fitting._rows import split
from tacit.fitting._run import Run
from tacit.objectives import EM, RQ
from tacit.sources import Voted, dawid_skene, with_accuracies
from tests.fitting.cases import (
    CPU,
    N_CLASSES,
    N,
    assert_near,
    assert_same,
    candidates,
    collection,
    features,
    plan,
    train,
    truth,
    votes,
    weights,
)
from tests.fitting.test_resume import interrupted

ALONG = {"update_every": 1, "epochs": 4}


class Constant(nn.Module):
    """Says the same of all instances."""

    def __init__(self, generator):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(N_CLASSES, generator=generator))

    def forward(self, features):
        return self.bias.expand(len(features), -1)


def run_of(given, of):
    return Run(given, of, number=0, execution=CPU, device=torch.device("cpu"))


def learned_at(run, epoch):
    """What the belief has learned when an epoch begins, so many being done."""
    run.epoch = epoch
    run.begin_epoch()
    return run.belief.learned()


@pytest.mark.parametrize("objective", [RQ(), EM(TrackedMass())], ids=repr)
def test_without_updates_a_belief_that_could_learn_stays_as_it_is(objective):
    stated = votes()
    fixed = Voted(stated.votes, stated.reliability, stated.balance, learns=False)
    (left,) = train(plan(objective), collection(stated))
    assert_same(left, *train(plan(objective), collection(fixed)))
    (along,) = train(plan(objective, epochs=2, update_every=1), collection(stated))
    assert not torch.equal(weights(along)["maps.0.weight"], weights(left)["maps.0.weight"])


def test_updates_come_when_they_are_due():
    run = run_of(plan(warm_up=2, update_every=3, epochs=20), collection(votes()))
    due = []
    for epoch in range(12):
        run.belief = run._collection.belief
        learned_at(run, epoch)
        if run.belief is not run._collection.belief:
            due.append(epoch)
    assert due == [5, 8, 11]


def test_a_constant_prediction_leaves_what_votes_alone_tell():
    stated = dawid_skene(votes().votes)
    found = learned_at(run_of(plan(predictor=Constant, **ALONG), collection(stated)), 1)
    for name, value in stated.learned().items():
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-4)


def test_one_update_is_a_step_of_em_from_the_stated_belief():
    stated = votes()
    run = run_of(plan(**ALONG), collection(stated))
    expected = stated.updated(perceive(run.learner.network, features()))
    for epoch in (1, 2):
        assert learned_at(run, epoch)["reliability"].equal(expected.reliability)


def test_a_restarted_run_begins_with_the_stated_belief():
    run = run_of(plan(on_collapse="restart", **ALONG), collection(votes()))
    learned_at(run, 1)
    assert run.belief is not run._collection.belief
    run.restarts = 1
    run.begin()
    assert run.belief is run._collection.belief


def test_instances_without_weight_are_as_if_deleted():
    weight = 0.5 + torch.arange(N) % 4
    weight[torch.arange(N) % 5 == 0] = 0.0
    rows = weight.nonzero().squeeze(1)
    spoilt = features()
    spoilt[weight == 0] = torch.nan
    whole = Collection(spoilt, votes(), weight=weight)
    kept = Collection(features()[rows], votes()[rows], weight=weight[rows])
    for objective in (RQ(), EM(TrackedMass())):
        given = plan(objective, **ALONG)
        assert_same(*train(given, whole), *train(given, kept))


@pytest.mark.parametrize("how", ["yes", "no"])
def test_runs_with_beliefs_of_their_own_step_together(how):
    plans = [plan(seed=1, **ALONG), plan(seed=2, **ALONG), plan(seed=3, epochs=4)]
    together = train(plans, collection(votes()), Execution(device="cpu", together=how))
    for given, found in zip(plans, together, strict=True):
        (alone,) = train(given, collection(votes()), Execution(device="cpu", together=how))
        (assert_same if how == "no" else assert_near)(found, alone)


def test_streamed_equals_held():
    given = plan(**ALONG)
    streamed = replace(CPU, hold="no")
    (one,) = train(given, collection(votes()))
    assert_same(one, *train(given, collection(votes()), streamed))


def test_held_out_evidence_is_that_against_the_stated_belief():
    given = plan(held_out=0.3, patience=0, **ALONG)
    (fitted,) = train(given, collection(votes()))
    rows = split(torch.arange(N), None, 0.3, 0).held_out
    log_q = perceive(fitted.network, features(), rows=rows)
    assert fitted.held_out_evidence == held_out_evidence(log_q, votes()[rows])


def test_what_is_learned_is_in_the_checkpoint(tmp_path):
    stated = votes()
    interrupted(plan(**ALONG), collection(stated), tmp_path, 7)
    (state,) = load_state(tmp_path / CHECKPOINT, kind="run")["runs"]
    assert state["epoch"] == 1
    assert not torch.equal(state["learned"]["reliability"], stated.reliability)
    interrupted(plan(**ALONG), collection(stated), tmp_path, 3)
    assert load_state(tmp_path / CHECKPOINT, kind="run")["runs"][0]["learned"] is None


@pytest.mark.parametrize(
    "belief", [candidates(), with_accuracies(votes().votes, [0.9, 0.6, 0.6])], ids=["sets", "known"]
)
def test_a_belief_that_has_nothing_to_learn_is_not_updated(belief):
    with pytest.raises(InvalidInputError, match=r"must be 0 for .* nothing to learn"):
        train(plan(**ALONG), collection(belief))


def test_the_predictor_tells_the_sources_apart():
    """Workers are taken for alike; the first is right in nine of ten, the others in half."""
    stated = votes()
    given = plan(EM(TrackedMass()), epochs=20, update_every=1, held_out=0.0)
    run = run_of(given, collection(stated))
    run.learner.network = train(given, collection(stated))[0].network
    learned_at(run, 1)
    right = (stated.votes.answer.view(N, 3) == truth().unsqueeze(1)).double().mean(0)
    assert float((stated.accuracy() - right).abs().max()) > 0.25
    torch.testing.assert_close(run.belief.accuracy(), right, rtol=0, atol=0.1)
