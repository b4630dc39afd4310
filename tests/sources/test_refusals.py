"""What cannot be meant is refused in a sentence that names the argument, and never a traceback."""

from contextlib import suppress

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInputError
from tacit.sources import (
    Taxonomy,
    Votes,
    cooccurrence,
    count_cooccurrence,
    learned_out_of_fold,
    majority,
    noisy_labels,
    transition_from_anchors,
    transition_from_trusted,
    with_accuracies,
)

SOUND = [[0.9, 0.1], [0.1, 0.9]]
VOTES = Votes.from_matrix([[0, 1], [1, -1]], n_classes=2)
TREE = Taxonomy.from_tree({"s": ["a", "b"]})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: noisy_labels([0], [[0.9, 0.2], [0.1, 0.9]]), "`transition` .* row 0 is"),
        (lambda: noisy_labels([0], [[1.0, 0.0], [float("nan"), 1.0]]), "`transition` .* row 1 is"),
        (lambda: noisy_labels([0], [[1.0], [0.5, 0.5]]), "`transition` .* torch says"),
        (lambda: noisy_labels([0, 5], SOUND), "`labels` .* instance 1 has 5"),
        (lambda: noisy_labels(["a"], SOUND), "`labels` .* torch says"),
        (lambda: transition_from_trusted([9], [0], n_classes=2), "`written` .* instance 0 has 9"),
        (lambda: transition_from_anchors(torch.full((3, 2), 0.9)), "row 0 is"),
        (lambda: transition_from_anchors(torch.ones(0, 2)), "its shape is"),
        (lambda: with_accuracies(VOTES, ["a", "b"]), "`accuracies` .* torch says"),
        (lambda: Votes.from_matrix([[None, 1]]), "`matrix` .* torch says"),
        (lambda: Votes.from_soft([[["x"]]]), "`shares` .* torch says"),
        (lambda: TREE.belief(["s"], weights={"a": "x", "b": 1}), "`weights` .* 'a' has none"),
        (lambda: cooccurrence([0], [[-1, 2]]), "`table` .* it holds -1"),
        (lambda: cooccurrence([0], [[]]), "`table` .* its shape is"),
        (
            lambda: count_cooccurrence([0, 1], [0, 1], n_observed=2, n_classes=2, part=[0]),
            "`part` must have one entry for each of the 2",
        ),
        (lambda: learned_out_of_fold(torch.ones(3, 1), [0, 1, 0], n_classes=2), "try 3"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, sentence):
    with pytest.raises(InvalidInputError, match=sentence) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_singular_transition_tells_nothing():
    p = noisy_labels([0, 1], [[0.3, 0.7], [0.3, 0.7]], balance=[0.2, 0.8]).marginals()
    assert torch.allclose(p, torch.tensor([[0.2, 0.8]]).expand(2, 2))


def test_size_of_cooccurrences_does_not_matter():
    p = cooccurrence([0, 1], [[1e308, 1e307], [1e-300, 1e-301]]).marginals()
    assert torch.allclose(p, torch.tensor([[10 / 11, 1 / 11]]).expand(2, 2))


ANYTHING = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.floats(width=32), st.text(max_size=2)
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=9,
)


@given(values=ANYTHING, more=ANYTHING)
@settings(max_examples=200)
@pytest.mark.parametrize(
    "call",
    [
        lambda values, more: noisy_labels(values, more).marginals(),
        lambda values, _: noisy_labels([0, 1], values).marginals(),
        lambda values, more: cooccurrence(values, more).marginals(),
        lambda values, _: majority(Votes.from_matrix(values)).marginals(),
        lambda values, _: with_accuracies(VOTES, values).marginals(),
        lambda values, _: transition_from_anchors(values),
        lambda values, more: transition_from_trusted(values, more, n_classes=2),
    ],
)
def test_random_values_are_read_or_refused(call, values, more):
    with suppress(InvalidInputError):
        assert not call(values, more).isnan().any()
