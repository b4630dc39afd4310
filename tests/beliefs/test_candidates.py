import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs import Candidates, Categorical
from tacit.errors import InvalidInputError


@st.composite
def label_sets(draw, n_instances=None):
    """Sets of labels, and the number of classes; some bytes are full, some are begun."""
    n_classes = draw(st.integers(2, 20))
    one = st.sets(st.integers(0, n_classes - 1), min_size=1)
    size = {"min_size": 1, "max_size": 6} if n_instances is None else {}
    return draw(st.lists(one, **size)), n_classes


def mask_of(sets, n_classes):
    return torch.tensor([[label in each for label in range(n_classes)] for each in sets])


def of_sets(sets, n_classes):
    return Candidates([list(each) for each in sets], n_classes=n_classes)


@given(label_sets())
def test_all_ways_of_stating_sets_agree(case):
    sets, n_classes = case
    mask = mask_of(sets, n_classes)
    others = [[label for label in range(n_classes) if label not in each] for each in sets]
    longest = max(map(len, sets))
    table = torch.tensor([(list(each) * longest)[:longest] for each in sets])
    for belief in (
        of_sets(sets, n_classes),
        Candidates(sets, n_classes=n_classes),
        Candidates([torch.tensor(list(each)) for each in sets], n_classes=n_classes),
        Candidates(table, n_classes=n_classes),
        Candidates(table.int().numpy(), n_classes=n_classes),
        Candidates.from_mask(mask),
        Candidates.from_mask(mask.numpy()),
        Candidates.from_mask(mask.T.contiguous().T),
        Candidates.excluding(others, n_classes=n_classes),
    ):
        assert belief.labels() == [sorted(each) for each in sets]
        assert torch.equal(belief.mask(), mask)
        assert belief.sizes().tolist() == [len(each) for each in sets]
        assert (len(belief), belief.n_classes) == (len(sets), n_classes)


@given(label_sets())
def test_posterior_is_uniform_over_the_set_times_evidence(case):
    belief, mask = of_sets(*case), mask_of(*case)
    evidence = torch.linspace(-3, 4, mask.numel(), dtype=torch.float64).view(mask.shape)
    log_marginals, log_normaliser = belief.posterior(evidence)
    weight = mask * evidence.exp()
    assert_close(log_marginals.exp(), weight / weight.sum(1, keepdim=True))
    assert_close(log_normaliser, (weight.sum(1) / mask.sum(1)).log())
    assert_close(belief.marginals(), mask / mask.sum(1, keepdim=True))


@given(label_sets())
def test_dense_form_is_the_belief_up_to_a_factor(case):
    table, in_logs = of_sets(*case).dense()
    assert not in_logs
    assert table.is_contiguous()
    assert torch.equal(table, mask_of(*case))


@given(label_sets(), st.data())
def test_rows_are_those_of_a_list(case, data):
    sets, n_classes = case
    n = len(sets)
    belief, number = of_sets(sets, n_classes), st.integers(-n, n - 1)
    bound, step = st.none() | st.integers(-n - 1, n + 1), st.sampled_from([None, 1, 2, -1, -2])
    rows = data.draw(st.lists(number))
    assert belief[rows].labels() == [sorted(sets[row]) for row in rows]
    cut = slice(data.draw(bound), data.draw(bound), data.draw(step))
    assert belief[cut].labels() == [sorted(each) for each in sets[cut]]
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    kept = zip(sets, mask.tolist(), strict=True)
    assert belief[mask].labels() == [sorted(each) for each, keep in kept if keep]


@given(st.data())
def test_product_of_sets_is_their_intersection(data):
    sets, n_classes = data.draw(label_sets())
    one = st.sets(st.integers(0, n_classes - 1), min_size=1)
    others = [data.draw(one) for _ in sets]
    both = [sorted(a & b) for a, b in zip(sets, others, strict=True)]
    first, second = of_sets(sets, n_classes), of_sets(others, n_classes)
    if all(both):
        assert (first * second).labels() == both
    else:
        with pytest.raises(InvalidInputError, match=f"`other` .* row {both.index([])} "):
            first * second


@given(st.data())
def test_joined_sets_are_those_of_the_parts_in_turn(data):
    sets, n_classes = data.draw(label_sets())
    cut = data.draw(st.integers(0, len(sets)))
    parts = [of_sets(sets[:cut], n_classes), of_sets(sets[cut:], n_classes)]
    joined = Candidates.joined(iter(parts))
    assert joined.labels() == of_sets(sets, n_classes).labels()
    assert joined.n_classes == n_classes
    assert Candidates.joined(joined[[row]] for row in range(len(sets))).labels() == joined.labels()


def test_product_with_probabilities_equals_that_of_the_dense_belief(generator):
    probabilities = torch.rand(3, 5, generator=generator, dtype=torch.float64)
    sets = Candidates([[0, 4], [1], [0, 1, 2, 3, 4]], n_classes=5)
    expected = probabilities * sets.mask()
    expected = (expected / expected.sum(1, keepdim=True)).log()
    for product in (sets * Categorical(probabilities), Categorical(probabilities) * sets):
        assert_close(product.log_probabilities(torch.float64), expected)


@pytest.mark.parametrize(("n_classes", "n_bytes"), [(2, 1), (8, 1), (9, 2), (1000, 125)])
def test_sets_take_a_bit_per_class(n_classes, n_bytes):
    belief = Candidates(torch.ones(40, 1).long(), n_classes=n_classes)
    stored = [value for value in vars(belief).values() if isinstance(value, torch.Tensor)]
    assert sum(value.nbytes for value in stored) == 40 * n_bytes


def test_a_million_classes_work():
    labels = [[999_999, 0], [123_456, 123_456], [7]]
    belief = Candidates(labels, n_classes=1_000_000)
    assert belief.labels() == [[0, 999_999], [123_456], [7]]
    assert belief.sizes().tolist() == [2, 1, 1]
    without = Candidates.excluding(labels, n_classes=1_000_000)
    assert without.sizes().tolist() == [999_998, 999_999, 999_999]
    assert_close(belief.marginals().sum(1), torch.ones(3))


def test_slabs_do_not_show(monkeypatch, generator):
    mask = torch.rand(50, 11, generator=generator) < 0.5
    mask[:, 3] = True
    labels = [row.nonzero().squeeze(1).tolist() for row in mask]
    table = torch.randint(0, 11, (50, 4), generator=generator)
    at_once = Candidates(table, n_classes=11).labels()
    monkeypatch.setattr("tacit.beliefs.candidates._SLAB", 40)
    monkeypatch.setattr("tacit.beliefs.candidates._ROWS", 7)
    assert Candidates.from_mask(mask).labels() == labels
    assert Candidates(labels, n_classes=11).labels() == labels
    assert Candidates(labels, n_classes=11).sizes().tolist() == list(map(len, labels))
    assert Candidates(table, n_classes=11).labels() == at_once


def test_single_labels_come_as_a_flat_tensor():
    assert Candidates(torch.tensor([2, 0]), n_classes=3).labels() == [[2], [0]]
    assert Candidates.excluding(np.array([2, 0]), n_classes=3).labels() == [[0, 1], [1, 2]]


def test_nothing_excluded_allows_all():
    assert Candidates.excluding([[], [1]], n_classes=3).labels() == [[0, 1, 2], [0, 2]]


@pytest.mark.parametrize("labels", [[], torch.zeros(0, 2).long()])
def test_no_instances_make_an_empty_belief(labels):
    belief = Candidates(labels, n_classes=3)
    assert belief.labels() == belief.sizes().tolist() == []
    assert belief.posterior(torch.zeros(0, 3)).log_marginals.shape == (0, 3)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([[0], [1, 3]], "`labels` must lie between 0 and 2, but row 1 holds 3; .* n_classes"),
        ([[0], [-1]], "`labels` .* row 1 holds -1"),
        ([[0], []], "`labels` must leave .* at least one label, but row 1 leaves none"),
        ([[0], [1.5]], r"`labels` must be lists of whole numbers, but row 1 is \[1.5\]"),
        ([[0], [0, True]], r"`labels` .* row 1 is \[0, True\]"),
        ([[0], "ab"], "`labels` .* row 1 is 'ab'"),
        ([0, 1], "`labels` .* row 0 is 0"),
        ([[0], [2**80]], "`labels` .* row 1 is"),
        (torch.ones(2, 2), r"`labels` .* torch.float32 with shape \(2, 2\)"),
        (torch.ones(2, 2).bool(), "`labels` .* torch.bool .* Candidates.from_mask"),
        (torch.ones(2, 2, 2).long(), r"`labels` .* shape \(2, 2, 2\)"),
        (np.ones((2, 2)), "`labels` .* torch.float64"),
        (np.array([["a"]]), "`labels` must be numbers in a form that torch can read"),
    ],
)
def test_wrong_labels_are_refused(labels, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Candidates(labels, n_classes=3)


def test_wrong_row_is_named_beyond_the_first_slab(monkeypatch):
    monkeypatch.setattr("tacit.beliefs.candidates._ROWS", 2)
    for wrong in (9, "x"):
        with pytest.raises(InvalidInputError, match=r"`labels` .* row 5 "):
            Candidates([[0]] * 5 + [[wrong]], n_classes=3)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Candidates([[0]], n_classes=1), "`n_classes` .* at least 2 .* it speaks of 1"),
        (lambda: Candidates.excluding([[0]], n_classes=1), "`n_classes` .* at least 2"),
        (lambda: Candidates.excluding([[0], [1, 0]], n_classes=2), "`labels` .* row 1 leaves none"),
        (lambda: Candidates.from_mask(torch.ones(2, 1).bool()), "`mask` .* at least 2 classes"),
        (lambda: Candidates.from_mask(torch.eye(3).bool()[:, :2]), "`mask` .* row 2 leaves none"),
        (lambda: Candidates.from_mask(torch.ones(2, 3)), "`mask` .* torch.float32"),
        (lambda: Candidates.from_mask(torch.ones(3).bool()), r"`mask` .* shape \(3,\)"),
        (lambda: Candidates.from_mask([[True, False]]), "`mask` .* it is a list"),
        (lambda: Candidates.joined([]), "`parts` must hold at least one belief, .* it is empty"),
        (
            lambda: Candidates.joined([Candidates([[0]], n_classes=n) for n in (3, 2)]),
            "`parts` must be about the same number of classes, but they have 3 and 2",
        ),
    ],
)
def test_impossible_sets_are_refused(make, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        make()


def test_repr_tells_the_sizes():
    assert repr(Candidates([[0]], n_classes=3)) == "Candidates(n_instances=1, n_classes=3)"
