"""What sources do is counted as a slow loop counts it, and what is odd is said."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.sources import Votes, summarised


def slow(matrix, source):
    rows = [row for row in matrix.tolist() if row[source] >= 0]
    others = [
        [answer for other, answer in enumerate(row) if other != source and answer >= 0]
        for row in rows
    ]
    own = [row[source] for row in rows]
    pairs = [(a, b) for a, each in zip(own, others, strict=True) for b in each]
    nan = math.nan
    return {
        "coverage": len(rows) / len(matrix),
        "overlap": sum(map(bool, others)) / len(rows) if rows else nan,
        "conflict": (
            sum(any(b != a for b in each) for a, each in zip(own, others, strict=True)) / len(rows)
            if rows
            else nan
        ),
        "agreement": sum(a == b for a, b in pairs) / len(pairs) if pairs else nan,
    }


@given(st.integers(0, 200))
@settings(max_examples=40)
def test_summary_equals_a_slow_loop(seed):
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randint(-1, 3, (6, 4), generator=generator)
    for source, found in enumerate(summarised(Votes.from_matrix(matrix, n_classes=3))):
        for name, value in slow(matrix, source).items():
            assert getattr(found, name) == pytest.approx(value, nan_ok=True)
        said = {answer for answer in matrix[:, source].tolist() if answer >= 0}
        assert found.answers == tuple(sorted(said))


def test_soft_vote_counts_as_its_likeliest_answer():
    shares = torch.tensor([[[0.2, 0.8], [0.6, 0.4]], [[0.3, 0.7], [0.1, 0.9]]])
    hard = Votes.from_matrix(shares.argmax(-1), n_classes=2)
    assert summarised(Votes.from_soft(shares)) == summarised(hard)


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ([-1, -1, -1, -1], "never votes"),
        ([1, 1, 1, 1], "always says the same"),
        ([1, 0, 1, 0], "contradicts the others"),
        ([0, 1, 0, 1], None),
    ],
)
def test_odd_sources_are_told(column, sentence):
    honest = [0, 1, 0, 1]
    votes = Votes.from_matrix(torch.tensor([honest, honest, column]).T, n_classes=2)
    finding = summarised(votes)[2].finding
    assert finding is None if sentence is None else sentence in finding


def test_source_that_meets_no_other_is_told():
    votes = Votes.from_matrix([[0, -1], [-1, 1], [-1, 0]], n_classes=2)
    assert "nobody else does" in summarised(votes)[0].finding
