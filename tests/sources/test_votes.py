"""Votes as a matrix, as soft votes and one by one say the same."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInputError
from tacit.sources import Votes


def matrices(n_classes=3):
    row = st.lists(st.integers(-1, n_classes - 1), min_size=4, max_size=4)
    return st.lists(row, min_size=1, max_size=6).map(torch.tensor)


def slow_counts(matrix, n_classes):
    counts = torch.zeros(len(matrix), n_classes, dtype=torch.float64)
    for item, row in enumerate(matrix.tolist()):
        for answer in row:
            if answer >= 0:
                counts[item, answer] += 1
    return counts


@given(matrices())
def test_counts_equal_a_slow_loop(matrix):
    assert torch.equal(Votes.from_matrix(matrix, n_classes=3).counts(), slow_counts(matrix, 3))


@given(matrices(), st.randoms())
def test_order_of_single_votes_does_not_matter(matrix, random):
    item, source = (matrix >= 0).nonzero(as_tuple=True)
    order = torch.tensor(random.sample(range(len(item)), len(item))).long()
    votes = Votes.from_lists(
        item[order],
        source[order],
        matrix[item, source][order],
        n_items=len(matrix),
        n_sources=4,
        n_classes=3,
    )
    assert torch.equal(votes.counts(), slow_counts(matrix, 3))
    assert votes.item.tolist() == sorted(votes.item.tolist())


@given(matrices())
def test_hard_votes_as_soft_ones_are_the_same(matrix):
    shares = torch.nn.functional.one_hot(matrix.clamp(min=0), 3) * (matrix >= 0).unsqueeze(-1)
    soft, hard = Votes.from_soft(shares * 0.5), Votes.from_matrix(matrix, n_classes=3)
    for name in ("item", "source", "answer", "weight"):
        assert torch.equal(getattr(soft, name), getattr(hard, name))


def test_soft_votes_are_scaled_to_one_vote_each(generator):
    shares = torch.rand(5, 3, 4, generator=generator)
    shares[2, 1] = torch.nan
    shares[3, 0] = 0
    counts = Votes.from_soft(shares).counts()
    expected = torch.nan_to_num(shares.double() / shares.double().sum(-1, keepdim=True)).sum(1)
    torch.testing.assert_close(counts, expected)


@given(matrices(), st.data())
def test_votes_on_some_rows_are_those_of_the_rows(matrix, data):
    one = st.integers(0, len(matrix) - 1)  # a row may come again, as in a bootstrap
    rows = torch.tensor(data.draw(st.lists(one, min_size=1, max_size=8)))
    some = Votes.from_matrix(matrix, n_classes=3).on(rows)
    direct = Votes.from_matrix(matrix[rows], n_classes=3)
    for name in ("item", "source", "answer", "weight"):
        assert torch.equal(getattr(some, name), getattr(direct, name))
    assert (some.n_items, some.n_sources, some.n_classes) == (len(rows), 4, 3)


def test_coverage_counts_an_instance_once():
    votes = Votes.from_soft(torch.tensor([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]]]))
    assert votes.coverage().tolist() == [0.5, 1.0]


def test_numpy_does_as_well():
    matrix = np.array([[0, 1], [-1, 2]], np.int8)
    assert Votes.from_matrix(matrix).n_classes == 3


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Votes.from_matrix(torch.rand(2, 3)), "`matrix` must hold whole numbers"),
        (lambda: Votes.from_matrix([[0, 3]], n_classes=3), "vote 1 has 3"),
        (lambda: Votes.from_matrix([[0], [0, 1]]), "`matrix` must hold a row of whole numbers"),
        (lambda: Votes.from_matrix([[0, -2]], n_classes=3), "vote 1 has -2"),
        (lambda: Votes.from_matrix([[-1, -1]]), "`n_classes` must be at least 2"),
        (lambda: Votes.from_soft(torch.ones(2, 3)), "`shares` must have shape"),
        (
            lambda: Votes.from_soft(torch.tensor([[[0.5, -0.5]]])),
            "instance 0, source 0, class 1 holds -0.5",
        ),
        (lambda: Votes.from_lists([0], [0, 1], [1]), "have one entry for each vote, but 1 item"),
        (lambda: Votes.from_lists([0.5], [0], [1]), "`item` must be whole numbers"),
        (lambda: Votes.from_lists([5], [0], [1], n_items=5), "vote 0 has 5"),
        (
            lambda: Votes.from_lists([0], [0], [1], weight=torch.zeros(1)),
            "`weight` must be 1 finite numbers above 0",
        ),
    ],
)
def test_impossible_votes_are_refused(make, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        make()
