"""Classes that beliefs cannot tell apart are found, and only those."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tacit.beliefs import Candidates, Categorical, Pairs
from tacit.diagnostics import indistinct


def table(seed, n=40, n_classes=5):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, n_classes, generator=generator, dtype=torch.float64) + 0.01


@given(st.integers(0, 99))
def test_classes_that_differ_are_told_apart(seed):
    assert indistinct(Categorical(table(seed))) == []


@given(st.integers(0, 99), st.permutations(range(5)))
def test_equal_columns_are_found_wherever_they_stand(seed, order):
    p = table(seed)
    p[:, 3] = p[:, 1]
    (found,) = indistinct(Categorical(p[:, list(order)]))
    assert found.classes == tuple(sorted((order.index(1), order.index(3))))
    assert found.kind == "equal"


@given(st.integers(0, 99), st.floats(1.01, 50))
def test_proportional_columns_are_told_from_equal_ones(seed, factor):
    p = table(seed)
    p[:, 4] = factor * p[:, 0]
    (found,) = indistinct(Categorical(p))
    assert (found.classes, found.kind) == ((0, 4), "proportional")


def test_nearly_alike_classes_come_with_their_angle(seed):
    p = table(seed)
    p[:, 2] = p[:, 0] * (1 + 0.01 * torch.randn(40, generator=torch.Generator().manual_seed(1)))
    (found,) = indistinct(Categorical(p))
    q = p / p.sum(1, keepdim=True)
    cosine = torch.cosine_similarity(q[:, 0], q[:, 2], dim=0)
    assert (found.classes, found.kind) == ((0, 2), "nearly")
    assert found.apart == pytest.approx(float(cosine.arccos()), rel=1e-5)
    assert indistinct(Categorical(p), nearly=found.apart / 2) == []


def test_classes_are_joined_through_others():
    sets = Candidates([[0, 1, 2], [0, 1, 2], [3], [3, 4], [4, 5, 6], [5, 6]], n_classes=7)
    assert [found.classes for found in indistinct(sets)] == [(0, 1, 2), (5, 6)]


def test_pairs_of_equals_tell_no_class_from_another():
    pairs = Pairs.equal([[0, 1], [2, 3]], n_classes=3, n_instances=4)
    assert [(each.classes, each.kind) for each in indistinct(pairs)] == [((0, 1, 2), "equal")]
    assert indistinct(Pairs.greater([[0, 1]], n_classes=3, n_instances=2)) == []


def test_classes_that_never_occur_are_not_said_to_be_alike():
    assert indistinct(Candidates([[0], [1], [0, 1]], n_classes=4)) == []


def test_sample_of_many_rows_finds_the_same():
    p = table(0, n=3000)
    p[:, 3] = p[:, 1]
    few, all_rows = (indistinct(Categorical(p), most_rows=most) for most in (100, 5000))
    assert few == all_rows
