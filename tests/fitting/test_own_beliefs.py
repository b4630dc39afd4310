"""Runs that are told different things of one collection."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.fitting import CheckpointError, fit
from tests.fitting.cases import BELIEFS, CPU, assert_same, candidates, collection, plan, train


@pytest.mark.parametrize("name", BELIEFS)
def test_a_run_learns_from_its_own_belief_as_from_the_collections(name):
    belief = BELIEFS[name]()
    (own,) = train(replace(plan(), belief=belief), collection())
    (given,) = train(plan(), collection(belief))
    assert_same(own, given)
    assert own.history == given.history


def test_runs_with_different_beliefs_do_not_meddle():
    plans = [plan(), *(replace(plan(), belief=BELIEFS[name]()) for name in ("pairs", "votes"))]
    alone = [train(each, collection())[0] for each in plans]
    for together, single in zip(train(plans, collection()), alone, strict=True):
        assert_same(together, single)


def test_a_belief_of_its_own_covers_the_collection():
    short = replace(plan(), belief=candidates(60))
    with pytest.raises(InvalidInputError, match="`belief` must cover the 90 instances"):
        train(short, collection())


def test_a_run_goes_on_with_the_belief_of_its_own_alone(tmp_path):
    def told(name):
        return [replace(plan(), belief=BELIEFS[name]())]

    fit(told("votes"), collection(), execution=CPU, folder=tmp_path)
    with pytest.raises(CheckpointError, match="other beliefs of their own"):
        fit(told("categorical"), collection(), execution=CPU, folder=tmp_path, resume=True)


def test_the_network_of_each_record_is_told():
    seen = []

    def watch(progress):
        if progress.record is not None:
            weights = [p.detach().clone() for p in progress.network.parameters()]
            seen.append((progress.record.run, progress.record.epoch, weights))

    plans = [plan(seed=seed, held_out=0.0) for seed in (0, 1)]
    runs = fit(plans, collection(), execution=CPU, watch=watch)
    assert [each[:2] for each in seen] == [(0, 1), (1, 1), (0, 2), (1, 2)]
    for number, run in enumerate(runs):
        last = next(weights for which, epoch, weights in seen if (which, epoch) == (number, 2))
        assert all(torch.equal(a, b) for a, b in zip(last, run.network.parameters(), strict=True))
