"""Intersection over union, against sets of pixels."""

import math

import pytest
import torch

from tacit.diagnostics import merged, scored
from tacit.errors import InvalidInputError


def drawn(generator, n_classes=4, n=200):
    """True and found classes, of which the third is never true and the last is nowhere."""
    true = torch.tensor([0, 1, 3])[torch.randint(3, (n,), generator=generator)]
    found = torch.randint(n_classes, (n,), generator=generator)
    return true, found


def counted(true, found, n_classes):
    table = torch.zeros(n_classes, n_classes, dtype=torch.long)
    for t, f in zip(true.tolist(), found.tolist(), strict=True):
        table[t, f] += 1
    return table


def test_scores_equal_those_of_sets(generator):
    true, found = drawn(generator)
    scores = scored(counted(true, found, 5))
    shares = []
    for label in range(5):
        one = {i for i, t in enumerate(true.tolist()) if t == label}
        other = {i for i, f in enumerate(found.tolist()) if f == label}
        share = len(one & other) / len(one | other) if one | other else math.nan
        assert float(scores.iou[label]) == pytest.approx(share, nan_ok=True)
        shares += [share] if one else []
    assert scores.mean_iou == pytest.approx(sum(shares) / 3)
    assert scores.accuracy == pytest.approx(float((true == found).double().mean()))
    assert scores.present.tolist() == [True, True, False, True, False]


def test_merging_equals_counting_merged_labels(generator):
    true, found = drawn(generator)
    names = ["water", "road", "barren", "tree"]
    table, left = merged(counted(true, found, 4), names, {"barren": "hard", "road": "hard"})
    assert left == ("water", "hard", "tree")
    to = torch.tensor([0, 1, 1, 2])
    assert torch.equal(table, counted(to[true], to[found], 3))


def test_nothing_counted_says_nothing():
    scores = scored(torch.zeros(2, 2).long())
    assert scores.n == 0
    assert math.isnan(scores.accuracy)
    assert math.isnan(scores.mean_iou)


def test_impossible_tables_are_refused():
    with pytest.raises(InvalidInputError, match="`confusion` must be a square table"):
        scored(torch.zeros(2, 3))
    with pytest.raises(InvalidInputError, match="'soil' is none; name some of a, b"):
        merged(torch.zeros(2, 2), ["a", "b"], {"soil": "a"})
    with pytest.raises(InvalidInputError, match="'b' goes into 'c', and others into it"):
        merged(torch.zeros(3, 3), ["a", "b", "c"], {"a": "b", "b": "c"})
