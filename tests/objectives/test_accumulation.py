"""Accumulated parts against the joined batch."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tacit.beliefs.pairs import Pairs
from tacit.errors import InvalidInputError
from tacit.evidence import TrackedMass
from tacit.objectives import RQ, Clustering, backward_in_parts
from tests.objectives.cases import OBJECTIVES, WITH_BELIEF, draw

N, N_CLASSES = 10, 4
SIZES = [3, 1, 4, 2]
EXACT = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(autouse=True)
def _own_random_state():
    with torch.random.fork_rng(devices=[]):
        yield


def network(dropout=0.5):
    torch.manual_seed(1)
    layers = [nn.Linear(3, 16), nn.Tanh(), nn.Dropout(dropout), nn.Linear(16, N_CLASSES)]
    return nn.Sequential(*layers).double()


def features(seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(N, 3, generator=generator, dtype=torch.float64)


def gradients(predict):
    return [parameter.grad for parameter in predict.parameters()]


def joined(objective, predict, parts, belief, state, **extra):
    """Loss, gradients and final random state of one backward pass over all parts."""
    torch.manual_seed(state)
    given = {} if belief is None else {"belief": belief}
    loss = objective(torch.cat([predict(part) for part in parts]), **given, **extra)
    loss.backward()
    return loss.detach(), gradients(predict), torch.get_rng_state()


def accumulated(objective, predict, parts, belief, state, **extra):
    torch.manual_seed(state)
    loss = backward_in_parts(objective, predict, parts, belief, **extra)
    return loss, gradients(predict), torch.get_rng_state()


def both(kind, belief, seed, state=5, mass=None, **extra):
    parts = features(seed).split(SIZES)
    results = []
    for compute in (joined, accumulated):
        objective = kind(mass, smoothing=1e-3) if mass is None else kind(mass(), smoothing=1e-3)
        results.append(compute(objective, network(), parts, belief, state, **extra))
    return results


@pytest.mark.parametrize("names", [(), ("weight",), ("mask",), ("weight", "mask")])
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_parts_equal_the_joined_batch(kind, names, seed):
    batch = draw((N, N_CLASSES), seed)
    extra = {name: getattr(batch, name) for name in names}
    belief = None if kind is Clustering else batch.belief
    expected, own = both(kind, belief, seed, **extra)
    assert_close(own[:2], expected[:2], **EXACT)
    assert torch.equal(own[2], expected[2])


@pytest.mark.parametrize("kind", WITH_BELIEF)
def test_parts_may_tear_the_groups_of_a_belief(kind, seed):
    belief = Pairs.greater([[0, 9], [2, 3]], n_classes=N_CLASSES, n_instances=N)
    mask = torch.arange(N) != 3
    expected, own = both(kind, belief, seed, mask=mask)
    assert_close(own[:2], expected[:2], **EXACT)


def test_strata_belong_to_the_joined_batch(seed):
    batch = draw((N, N_CLASSES), seed)
    strata = batch.strata
    expected, own = both(
        RQ, batch.belief, seed, mass=lambda: TrackedMass(n_strata=2), strata=strata
    )
    assert_close(own[:2], expected[:2], **EXACT)


def test_the_comparison_would_notice_other_dropout(seed):
    belief = draw((N, N_CLASSES), seed).belief
    first, second = (both(RQ, belief, seed, state=state)[1] for state in (5, 6))
    assert not torch.allclose(first[0], second[0])
    assert not torch.allclose(first[1][0], second[1][0])


def test_a_batch_of_parts_is_not_the_mean_of_its_parts(seed):
    belief, parts = draw((N, N_CLASSES), seed).belief, features(seed).split(SIZES)
    predict = network(dropout=0)
    whole = backward_in_parts(RQ(), predict, parts, belief)
    pieces = zip(parts, belief.split(SIZES), strict=True)
    apart = sum(len(p) * RQ()(predict(x), p).detach() for x, p in pieces) / N
    assert not torch.allclose(whole, apart)


def test_gradients_are_added_to_those_that_are_there(seed):
    belief, parts = draw((N, N_CLASSES), seed).belief, features(seed).split(SIZES)
    once, twice = network(dropout=0), network(dropout=0)
    backward_in_parts(RQ(), once, parts, belief)
    for _ in range(2):
        backward_in_parts(RQ(), twice, parts, belief)
    assert_close(gradients(twice), [2 * gradient for gradient in gradients(once)])


def test_a_tracked_mass_moves_once(seed):
    belief, parts = draw((N, N_CLASSES), seed).belief, features(seed).split(SIZES)
    objective = RQ(TrackedMass())
    backward_in_parts(objective, network(), parts, belief)
    assert_close(objective.mass.seen, torch.tensor([N], dtype=torch.float64))


def test_the_loss_has_no_graph(seed):
    belief, parts = draw((N, N_CLASSES), seed).belief, features(seed).split(SIZES)
    assert not backward_in_parts(RQ(), network(), parts, belief).requires_grad


def test_no_parts_are_refused():
    with pytest.raises(InvalidInputError, match="`parts` must hold at least one part"):
        backward_in_parts(RQ(), network(), [], torch.ones(1, 4))
