from __future__ import annotations

import torch

from tacit.beliefs import Candidates
from tacit.fitting import Collection
from tacit.fitting._learner import Learner
from tacit.fitting._online import learn_once
from tests.fitting.cases import (
    CPU,
    N_CLASSES,
    N,
    candidates,
    collection,
    features,
    perceptron,
    plan,
)
from tests.fitting.test_engine import Forgetful


def learner(predictor=perceptron, **settings):
    given = plan(predictor=predictor, **settings)
    device = torch.device("cpu")
    return Learner(given.build(0), given.objective, given.settings, CPU, device)


def learned(of, n_parts=1, **how):
    one = learner(**how)
    for number in range(n_parts):
        learn_once([one], of, CPU, number=number)
    return one


def state(one):
    return torch.cat([value.flatten() for value in one.network.state_dict().values()])


def test_learning_once_is_reproducible_and_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    first, second = (learned(collection(), 2, predictor=Forgetful) for _ in range(2))
    assert state(first).equal(state(second))
    assert torch.get_rng_state().equal(before)
    assert not state(first).equal(state(learned(collection(), 1, predictor=Forgetful)))
    assert not first.network.training


def test_each_step_draws_anew():
    """Two steps on the same rows drop other features."""
    drawn = []

    class Watched(Forgetful):
        def forward(self, given):
            kept = self.dropout(torch.ones_like(given)) if self.training else given
            drawn.append(kept)
            return self.map(given * kept)

    learned(collection(), predictor=Watched, batch_size=45)
    assert len(drawn) == 2
    assert not drawn[0].equal(drawn[1])


def test_rows_without_weight_are_as_if_deleted():
    weight = (torch.arange(N) % 3 > 0).float()
    rows = weight.nonzero().squeeze(1)
    kept = Collection(features()[rows], candidates()[rows], weight=weight[rows])
    assert state(learned(collection(weight=weight))).equal(state(learned(kept)))


def test_a_stream_is_learned_from():
    labels = (features()[:, :3]).argmax(1)
    of = Collection(features(), Candidates(labels.view(-1, 1).tolist(), n_classes=N_CLASSES))
    one = learned(of, 30, learning_rate=0.05)
    right = one.network(features()).argmax(1) == labels
    assert float(right.float().mean()) > 0.9
