from __future__ import annotations

import math

import pytest
import torch

from tacit.diagnostics import judged, reliability
from tacit.errors import InvalidInputError


def test_counts_equal_a_slow_loop(generator):
    q = torch.rand(60, 4, generator=generator).softmax(1)
    truth = torch.randint(-1, 4, (60,), generator=generator)
    q[[3, 7]] = 0
    counts = [[0] * 4 for _ in range(4)]
    for row, label in zip(q.tolist(), truth.tolist(), strict=True):
        if label >= 0 and any(row):
            counts[label][row.index(max(row))] += 1
    found = judged(q, truth)
    assert found.confusion.tolist() == counts
    right, n = sum(counts[label][label] for label in range(4)), sum(map(sum, counts))
    assert (found.n, found.accuracy) == (n, pytest.approx(right / n))
    # The spread of a mean of n zeros and ones.
    values = torch.tensor([1.0] * right + [0.0] * (n - right))
    expected = float(values.std(correction=0)) / math.sqrt(n)
    assert found.standard_error == pytest.approx(expected, rel=1e-5)
    known = (truth >= 0) & q.any(1)
    assert found.reliability.error == reliability(q[known], truth[known]).error


def test_nothing_known_says_nothing():
    found = judged(torch.ones(3, 2) / 2, torch.full((3,), -1))
    assert found.n == 0
    assert math.isnan(found.accuracy)
    assert math.isnan(found.standard_error)


@pytest.mark.parametrize("truth", [[0], [0, 2]])
def test_labels_of_other_instances_or_classes_are_refused(truth):
    with pytest.raises(InvalidInputError, match="`truth` must"):
        judged(torch.ones(2, 2) / 2, torch.tensor(truth))
