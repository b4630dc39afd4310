"""Noisy labels, co-occurrence and taxonomies."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.errors import InvalidInputError
from tacit.sources import (
    Taxonomy,
    cooccurrence,
    count_cooccurrence,
    noisy_labels,
    transition_from_anchors,
    transition_from_trusted,
)


def noisy(seed, n, transition):
    generator = torch.Generator().manual_seed(seed)
    truth = torch.randint(len(transition), (n,), generator=generator)
    written = torch.multinomial(transition[truth], 1, generator=generator).squeeze(1)
    return truth, written


T = torch.tensor([[0.8, 0.2, 0.0], [0.1, 0.7, 0.2], [0.0, 0.3, 0.7]])


def test_noisy_label_follows_bayes(seed):
    truth, written = noisy(seed, 20_000, T)
    belief = noisy_labels(written, T).marginals()
    for said in range(3):
        share = torch.bincount(truth[written == said], minlength=3) / (written == said).sum()
        assert_close(belief[written == said][0], share, rtol=0, atol=0.02)


def test_certain_labels_are_one_hot():
    assert torch.equal(noisy_labels([2, 0], torch.eye(3)).marginals(), torch.eye(3)[[2, 0]])


def test_trusted_labels_tell_the_transition(seed):
    truth, written = noisy(seed, 20_000, T)
    found = transition_from_trusted(written, truth, n_classes=3)
    assert_close(found.float(), T, rtol=0, atol=0.02)


def test_anchors_tell_the_transition(seed):
    generator = torch.Generator().manual_seed(seed)
    sure = torch.distributions.Dirichlet(torch.full((3,), 0.05))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        labels = sure.sample((5000,))
    del generator
    found = transition_from_anchors(labels.double() @ T.double())
    assert_close(found.float(), T, rtol=0, atol=0.02)


def test_learned_transition_comes_from_the_predictor(seed):
    truth, written = noisy(seed, 4000, T)
    evident = torch.full((4000, 3), 0.01).scatter_(1, truth.unsqueeze(1), 0.98).log()
    belief = noisy_labels(written, torch.eye(3) * 0.4 + 0.2, learns=True)
    assert_close(belief.updated(evident).reliability[0].float(), T, rtol=0, atol=0.04)


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 3)), min_size=1, max_size=12))
def test_counted_table_equals_a_slow_loop(pairs):
    observed, labels = (torch.tensor(column) for column in zip(*pairs, strict=True))
    table = count_cooccurrence(observed, labels, n_observed=3, n_classes=4)
    for seen in range(3):
        with_it = [label for each, label in pairs if each == seen and label >= 0]
        for label in range(4):
            share = with_it.count(label) / len(with_it) if with_it else 0.0
            assert float(table[seen, label]) == pytest.approx(share)


def test_parts_count_the_same_however_large():
    observed, labels = torch.zeros(5).long(), torch.tensor([0, 0, 0, 0, 1])
    part = torch.tensor([7, 7, 7, 7, 9])
    table = count_cooccurrence(observed, labels, n_observed=1, n_classes=2, part=part)
    assert table.tolist() == [[0.5, 0.5]]


def test_cooccurrence_takes_rows_and_knows_nothing_of_the_unseen():
    table = [[2.0, 6.0], [0.0, 0.0]]
    belief = cooccurrence([0, 1, -1], table).marginals()
    assert belief.tolist() == [[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]]


TREE = {"animal": {"cat": None, "dog": ["poodle", "boxer"]}, "plant": ["oak"], "stone": None}


def test_labels_of_any_level_allow_the_leaves_below():
    tree = Taxonomy.from_tree(TREE)
    assert tree.classes == ("cat", "poodle", "boxer", "oak", "stone")
    assert tree.leaves_below("animal") == ("cat", "poodle", "boxer")
    belief = tree.belief(["animal", "dog", "oak", "stone", None])
    assert belief.labels() == [[0, 1, 2], [1, 2], [3], [4], [0, 1, 2, 3, 4]]


def test_edges_in_any_order_say_the_same_as_the_tree():
    edges = [("cat", "animal"), ("dog", "animal"), ("poodle", "dog"), ("boxer", "dog")]
    tree = Taxonomy.from_edges([*reversed(edges), ("animal", "")])
    assert set(tree.classes) == {"cat", "poodle", "boxer"}
    assert set(tree.leaves_below("animal")) == {"cat", "poodle", "boxer"}
    assert tree.leaves_below("dog") == tuple(n for n in tree.classes if n != "cat")


def test_weights_divide_what_is_above():
    tree = Taxonomy.from_tree({"a": ["x", "y"], "b": ["z"]})
    belief = tree.belief(["a", None], weights={"x": 1, "y": 3, "z": 4}).marginals()
    assert_close(belief, torch.tensor([[0.25, 0.75, 0.0], [0.125, 0.375, 0.5]]))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Taxonomy.from_edges([("a", "b"), ("b", "c"), ("c", "a")]), "'a' is below 'b' is"),
        (lambda: Taxonomy.from_edges([("a", "a"), ("b", None)]), "'a' is below 'a'; take"),
        (lambda: Taxonomy.from_edges([("a", "b"), ("a", "c")]), "'a' comes twice"),
        (lambda: Taxonomy.from_tree({"a": ["x"], "b": ["x"]}), "'x' comes twice"),
        (lambda: Taxonomy.from_tree(["only"]), "at least 2 leaves, but it has 1"),
        (lambda: Taxonomy({"cat": "anmal", "animal": None}), "perhaps 'animal' is meant"),
        (
            lambda: Taxonomy.from_tree(TREE).belief(["anmal"]),
            "row 0 holds 'anmal'; perhaps 'animal",
        ),
        (
            lambda: Taxonomy.from_tree(TREE).belief(["cat"], weights={"cat": 1}),
            "'poodle' has none; pass one for each",
        ),
        (lambda: noisy_labels([0], torch.ones(2, 3) / 3), "`transition` must be a square table"),
        (
            lambda: noisy_labels([0], torch.ones(2, 2)),
            "`transition` must hold rows of shares",
        ),
        (lambda: noisy_labels([3], torch.eye(2)), "`labels` must lie between 0 and 1"),
        (lambda: transition_from_anchors(torch.ones(2, 2)), "must be probabilities"),
        (lambda: transition_from_anchors([[1.5, -0.5], [0.5, 0.5]]), "must be probabilities"),
        (lambda: transition_from_trusted([0.2], [0], n_classes=2), "`written` must be whole"),
        (lambda: noisy_labels([0.5, 1.0], torch.eye(2)), "`labels` must be whole numbers"),
        (lambda: transition_from_anchors(torch.ones(2, 2) / 2, quantile=0), "`quantile` must be"),
        (lambda: transition_from_trusted([0, 1], [0, 2], n_classes=2), "`true` must be 2 labels"),
        (lambda: cooccurrence([3], torch.ones(3, 2)), "instance 0 has 3"),
        (lambda: cooccurrence([0], [[-1.0, 2.0]]), "`table` must hold finite numbers"),
        (
            lambda: count_cooccurrence([0, 1], [0], n_observed=2, n_classes=2),
            "`labels` must have one entry for each of the 2",
        ),
    ],
)
def test_impossible_tables_are_refused(make, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        make()
