from __future__ import annotations

import pytest
import torch
from torch import nn

from tacit.errors import InvalidInputError
from tacit.fitting import perceive, posterior
from tests.fitting.cases import BELIEFS, N, candidates, features, perceptron


@pytest.fixture
def network():
    return perceptron(torch.Generator().manual_seed(3))


def test_what_is_perceived_is_the_log_softmax(network):
    expected = network(features()).log_softmax(1).detach()
    torch.testing.assert_close(perceive(network, features()), expected)


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_no_row_depends_on_how_many_there_are(network, batch_size):
    whole = perceive(network, features(), batch_size=batch_size)
    assert whole.shape == (N, 3)
    rows = torch.tensor([8, 3, 88])
    assert perceive(network, features(), rows=rows).equal(perceive(network, features())[rows])
    torch.testing.assert_close(whole, perceive(network, features()), rtol=1e-6, atol=1e-6)


def test_perceiving_leaves_the_mode_and_draws_nothing():
    network = nn.Sequential(nn.Dropout(0.5), perceptron(torch.Generator())).train()
    assert perceive(network, features()).equal(perceive(network, features()))
    assert network.training


def test_progress_is_told(network):
    told = []
    perceive(network, features(), batch_size=40, watch=told.append)
    assert told == [40, 80, N]


@pytest.mark.parametrize("name", BELIEFS)
def test_posterior_is_the_beliefs_own_of_tempered_evidence(network, name):
    belief, log_q = BELIEFS[name](), perceive(network, features())
    log_mass = torch.tensor([0.5, 0.3, 0.2]).log()
    expected = belief.posterior(0.7 * (log_q - log_mass)).log_marginals
    found = posterior(log_q, belief, log_mass=log_mass, tempering=0.7)
    torch.testing.assert_close(found, expected)


def test_posterior_in_parts_is_that_of_the_whole(network, monkeypatch):
    log_q, strata = perceive(network, features()), torch.arange(N) % 2
    log_mass = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]).log()
    whole = posterior(log_q, candidates(), log_mass=log_mass, strata=strata)
    monkeypatch.setattr("tacit.fitting._perceive._ROWS", 13)
    assert posterior(log_q, candidates(), log_mass=log_mass, strata=strata).equal(whole)


@pytest.mark.parametrize("tempering", [-0.1, float("inf"), float("nan")])
def test_a_tempering_that_is_none_is_refused(network, tempering):
    log_q = perceive(network, features())
    with pytest.raises(InvalidInputError, match="`tempering` must be finite and at least 0"):
        posterior(log_q, candidates(), log_mass=torch.zeros(3), tempering=tempering)
