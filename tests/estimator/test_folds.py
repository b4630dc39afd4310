"""Folds cover each row once and keep groups whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import BeliefKFold
from tacit.beliefs import Bags, Candidates, Pairs
from tacit.errors import InvalidInputError
from tests.estimator.cases import clouds


@st.composite
def groups(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=4, max_size=20))
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner[draw(st.permutations(range(len(owner))))], draw(st.integers(2, 4))


@given(groups())
def test_folds_cover_each_row_once_and_keep_groups_whole(drawn):
    owner, n_splits = drawn
    splits = list(BeliefKFold(n_splits, random_state=0).split(owner[:, None], groups=owner))
    tested = np.concatenate([test for _, test in splits])
    assert sorted(tested) == list(range(len(owner)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(owner)))
        assert not set(owner[train]) & set(owner[test])
        assert len(test)


@given(groups())
def test_folds_differ_by_at_most_the_largest_group(drawn):
    owner, n_splits = drawn
    splits = BeliefKFold(n_splits, random_state=0).split(owner[:, None], groups=owner)
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= np.bincount(owner).max()


def test_groups_are_those_of_the_belief():
    pairs = Pairs.greater([[0, 8], [1, 7], [2, 5]], n_classes=3, n_instances=9)
    for train, test in BeliefKFold(3, random_state=0).split(np.zeros((9, 1)), pairs):
        assert len(pairs[train]) + len(pairs[test]) == 9


def test_bags_of_a_belief_stay_whole():
    bags = Bags.from_counts([[0, 1, 2], [3, 4], [5, 6, 7]], [[2, 1], [1, 1], [0, 3]], n_instances=8)
    folds = [len(bags[test]) for _, test in BeliefKFold(3).split(np.zeros((8, 1)), bags)]
    assert sorted(folds) == [2, 3, 3]


@pytest.mark.parametrize("y", [None, np.arange(10) % 2, Candidates([[0, 1]] * 10, n_classes=2)])
def test_rows_that_stand_alone_make_folds_of_equal_size(y):
    splits = BeliefKFold(3, random_state=0).split(np.zeros((10, 2)), y)
    assert sorted(len(test) for _, test in splits) == [3, 3, 4]


def test_seed_decides_the_folds():
    X = np.zeros((30, 1))
    first, again, other = (
        [test.tolist() for _, test in BeliefKFold(3, random_state=seed).split(X)]
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_number_of_folds_is_told():
    assert BeliefKFold(7).get_n_splits() == 7


@pytest.mark.parametrize("n_splits", [1, 0, -2, 46, 2.5, "3", None])
def test_folds_that_cannot_be_made_are_refused(n_splits):
    X, _, _ = clouds()
    pairs = Pairs.different(np.arange(90).reshape(45, 2), n_classes=3, n_instances=90)
    with pytest.raises(InvalidInputError, match=r"`n_splits` must be a whole .* groups, 45"):
        list(BeliefKFold(n_splits).split(X, pairs))
