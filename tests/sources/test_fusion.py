"""Fused beliefs: their formulas by hand, what each source contributed, and weights by evidence."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs import Candidates, Categorical, Pairs
from tacit.diagnostics import held_out_evidence
from tacit.errors import InvalidInputError
from tacit.sources import fuse, weights_by_evidence


def parts(seed, n=4, n_classes=3):
    generator = torch.Generator().manual_seed(seed)
    return {
        name: Categorical(torch.rand(n, n_classes, generator=generator, dtype=torch.float64) + 0.05)
        for name in ("one", "two", "three")
    }


@given(st.integers(0, 99), st.floats(0, 3), st.floats(0, 1))
@settings(max_examples=25)
def test_product_equals_the_formula(seed, weight, share):
    given_parts = parts(seed)
    fused = fuse(given_parts, weights={"two": weight}, abstaining={"three": share})
    tables = {name: part.marginals(torch.float64) for name, part in given_parts.items()}
    tables["three"] = (1 - share) * tables["three"] + share / 3
    expected = tables["one"] * tables["two"] ** weight * tables["three"]
    assert_close(fused.marginals(torch.float64), expected / expected.sum(1, keepdim=True))


@given(st.integers(0, 99), st.floats(0, 3))
@settings(max_examples=25)
def test_linear_pool_equals_the_formula(seed, weight):
    given_parts = parts(seed)
    fused = fuse(given_parts, how="linear", weights={"two": weight})
    tables = [part.marginals(torch.float64) for part in given_parts.values()]
    expected = (tables[0] + weight * tables[1] + tables[2]) / (2 + weight)
    assert_close(fused.marginals(torch.float64), expected)


def test_product_of_two_is_their_product():
    one, two = list(parts(0).values())[:2]
    assert_close(fuse({"a": one, "b": two}).marginals(), (one * two).marginals())


def test_contributions_add_up_to_the_belief(seed):
    fused = fuse(parts(seed), weights={"one": 0.5}, abstaining=0.1)
    told = fused.contributions(torch.float64)
    assert_close(told.sum(0).log_softmax(-1), fused.log_probabilities(torch.float64))
    shares = fuse(parts(seed), how="linear").contributions(torch.float64)
    assert_close(shares.sum(0), torch.ones(4, 3).double())


def test_source_without_weight_excludes_nothing():
    known, other = Candidates([[0]], n_classes=2), Categorical(torch.tensor([[0.3, 0.7]]))
    fused = fuse({"known": known, "other": other}, weights={"known": 0.0})
    assert_close(fused.marginals(), other.marginals())
    assert fused.contributions()[0].tolist() == [[0.0, 0.0]]


def test_rows_of_a_fused_belief_are_fused_rows():
    fused = fuse(parts(1), weights={"two": 2.0})
    rows = torch.tensor([2, 0])
    for taken in (fused[rows], fused.rows_at(rows)):
        assert_close(taken.marginals(), fused.marginals()[rows])


@pytest.mark.parametrize("how", ["product", "linear"])
def test_weights_by_evidence_beat_others(how, seed):
    generator = torch.Generator().manual_seed(seed)
    truth = torch.randint(3, (300,), generator=generator)
    log_q = (torch.randn(300, 3, generator=generator) + 3 * torch.eye(3)[truth]).log_softmax(1)
    sources = {
        "good": Categorical(
            (torch.randn(300, 3, generator=generator) + 2 * torch.eye(3)[truth]).softmax(1)
        ),
        "noise": Categorical((2 * torch.randn(300, 3, generator=generator)).softmax(1)),
    }

    def evidence_of(weights):
        return held_out_evidence(log_q, fuse(sources, how=how, weights=weights, abstaining=0.01))

    chosen = weights_by_evidence(sources, log_q, how=how, abstaining=0.01)
    assert chosen["good"] > 3 * chosen["noise"]
    for other in ({}, {"good": 0.0}, {"noise": 0.0}, {"good": 3.0}, {"noise": 0.1}):
        assert evidence_of(chosen) >= evidence_of(other) - 1e-6


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: fuse({}), "`parts` must hold at least one belief"),
        (lambda: fuse(parts(0), how="sum"), "`how` must be 'product' or 'linear'"),
        (lambda: fuse(parts(0), weights={"tow": 1}), "`weights` must name the sources"),
        (lambda: fuse(parts(0), weights={"two": -1}), "'two' has -1"),
        (lambda: fuse(parts(0), weights=dict.fromkeys(parts(0), 0)), "leave a source"),
        (lambda: fuse(parts(0), abstaining=2), "`abstaining` must be from 0 to 1"),
        (lambda: fuse(parts(0), abstaining="x"), "`abstaining` must be a number, or one by name"),
        (lambda: fuse(parts(0), weights={"two": "x"}), "`weights` must be a number"),
        (lambda: weights_by_evidence(parts(0), torch.zeros(5, 3)), r"`log_prediction` .*\(4, 3\)"),
        (lambda: fuse({**parts(0), "x": Categorical(torch.ones(4, 2))}), "cover 4 instances and 3"),
        (
            lambda: fuse({"p": Pairs.equal([[0, 1]], n_classes=3, n_instances=4)}),
            "'p' is a Pairs; multiply",
        ),
        (
            lambda: fuse(
                {"a": Candidates([[0]], n_classes=2), "b": Candidates([[1]], n_classes=2)}
            ),
            "row 0 is left none; let some of each source abstain",
        ),
    ],
)
def test_impossible_fusions_are_refused(make, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        make()
