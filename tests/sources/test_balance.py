"""How often each class occurs, told by beliefs alone."""

from __future__ import annotations

import pytest
import torch
from scipy.optimize import minimize
from torch.testing import assert_close

from tacit.beliefs import Candidates, Categorical, Pairs
from tacit.errors import InvalidInputError
from tacit.sources import balance_of, with_balance
from tacit.sources._balance import _likeliest

RARE = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64)


def drawn(shares, n, seed, chance=0.4):
    """Labels by their shares, and candidates added at random."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.multinomial(shares.float(), n, replacement=True, generator=generator)
    mask = torch.rand(n, len(shares), generator=generator) < chance
    return Candidates.from_mask(mask.scatter_(1, truth.unsqueeze(1), value=True))


def test_the_likeliest_balance_is_that_of_a_general_optimiser():
    belief = drawn(RARE, 300, seed=1)
    p = belief.marginals(torch.float64)

    def unlikely(logits):
        shares = torch.as_tensor(logits).softmax(0)
        return -float((p @ shares).log().sum())

    expected = torch.as_tensor(minimize(unlikely, [0.0] * 4, tol=1e-10).x).softmax(0)
    assert_close(_likeliest(belief, torch.full((4,), 0.25).double()), expected, atol=1e-4, rtol=0)


def test_many_instances_tell_their_balance():
    assert_close(balance_of(drawn(RARE, 20_000, seed=2)), RARE, atol=0.02, rtol=0)


def test_equal_classes_stay_equal_nineteen_times_in_twenty():
    equal = torch.full((4,), 0.25, dtype=torch.float64)
    kept = [balance_of(drawn(equal, 400, seed)).equal(equal) for seed in range(200)]
    assert 0.90 <= sum(kept) / len(kept) <= 0.99


def test_beliefs_that_tell_nothing_leave_classes_equal():
    belief = Candidates.from_mask(torch.ones(50, 3, dtype=torch.bool))
    assert_close(balance_of(belief), torch.full((3,), 1 / 3, dtype=torch.float64))


def test_certain_labels_are_counted():
    labels = torch.tensor([0] * 900 + [1] * 100)
    shares = balance_of(Candidates(labels, n_classes=2))
    assert_close(shares, torch.tensor([0.89, 0.11], dtype=torch.float64), atol=0.01, rtol=0)


def test_classes_and_instances_are_permuted_with_their_balance():
    belief, order = drawn(RARE, 500, seed=3), torch.tensor([2, 0, 3, 1])
    mask = belief.mask()
    turned = Candidates.from_mask(mask.flip(0)[:, order])
    assert_close(balance_of(turned), balance_of(belief)[order])


def test_a_known_balance_multiplies_the_belief():
    belief = Categorical(torch.tensor([[0.5, 0.5], [0.9, 0.1]]))
    expected = torch.tensor([[0.25, 0.75], [0.75, 0.25]])
    assert_close(with_balance(belief, [1, 3]).marginals(), expected)


def test_a_known_balance_goes_into_groups():
    pairs = Pairs.equal([[0, 1]], n_classes=2, n_instances=2)
    expected = torch.tensor([[0.1, 0.9]] * 2)  # 1 : 9, since both have the label
    assert_close(with_balance(pairs, [1, 3]).marginals(), expected)


@pytest.mark.parametrize("balance", [[1, 2, 3], [0, 1], [float("nan"), 1], [[1, 1]]])
def test_what_is_no_balance_is_refused(balance):
    with pytest.raises(InvalidInputError, match="`balance` must be 2 finite numbers above 0"):
        with_balance(Categorical(torch.tensor([[0.5, 0.5]])), balance)


@pytest.mark.parametrize("confidence", [-0.1, 1.0, float("nan"), "sure", True])
def test_confidence_is_a_probability(confidence):
    with pytest.raises(InvalidInputError, match="`confidence` must be at least 0 and below 1"):
        balance_of(Categorical(torch.tensor([[0.5, 0.5]])), confidence=confidence)


def test_words_are_no_balance():
    with pytest.raises(InvalidInputError, match="`balance` must be numbers"):
        with_balance(Categorical(torch.tensor([[0.5, 0.5]])), "rare")


@pytest.mark.parametrize("call", [balance_of, lambda table: with_balance(table, [1, 1])])
def test_a_bare_table_is_no_belief(call):
    with pytest.raises(InvalidInputError, match=r"`belief` must be one of tacit\.beliefs"):
        call(torch.tensor([[0.5, 0.5]]))
