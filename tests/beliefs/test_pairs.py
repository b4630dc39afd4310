import math
import operator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs.categorical import Categorical
from tacit.beliefs.orderings import Orderings
from tacit.beliefs.pairs import Pairs
from tacit.errors import InvalidInputError
from tests.beliefs.laws import (
    LAWS,
    Case,
    assert_finite_gradient,
    gpu_agrees_with_cpu,
    gradient_passes_gradcheck,
)

SMALL = {"n_classes": 3, "n_instances": 5}
RELATIONS = {
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "different": operator.ne,
}


def log_relation(name, labels):
    return 0.0 if RELATIONS[name](*labels) else -math.inf


def tables_with_zeros(n_pairs, n_classes, seed):
    generator = torch.Generator().manual_seed(seed)
    tables = torch.rand(n_pairs, n_classes, n_classes, generator=generator, dtype=torch.float64)
    return tables * ((tables > 0.5) | (tables == tables.amax((1, 2), keepdim=True)))


@st.composite
def relation_cases(draw):
    """Several kinds of pairs in one belief."""
    n_classes = draw(st.integers(2, 4))
    names = draw(st.lists(st.sampled_from(sorted(RELATIONS)), min_size=1, max_size=3))

    def build(groups, n_instances):
        sizes = {"n_classes": n_classes, "n_instances": n_instances}
        kinds = [
            getattr(Pairs, name)([pair], **sizes) for name, pair in zip(names, groups, strict=True)
        ]
        return math.prod(kinds[1:], start=kinds[0])

    def log_prior(number, labels):
        return log_relation(names[number], labels)

    return _case(draw, build, log_prior, len(names), n_classes)


@st.composite
def table_cases(draw):
    """A table for each pair, or one for all."""
    n_classes, n_pairs = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    tables = tables_with_zeros(n_pairs, n_classes, draw(st.integers(0, 999)))
    shared = draw(st.booleans())

    def build(groups, n_instances):
        return Pairs.from_table(groups, tables[0] if shared else tables, n_instances=n_instances)

    def log_prior(number, labels):
        return tables[0 if shared else number][labels].log().item()

    return _case(draw, build, log_prior, n_pairs, n_classes)


def _case(draw, build, log_prior, n_pairs, n_classes):
    n_instances = 2 * n_pairs + draw(st.integers(0, 2))
    instances = draw(st.permutations(range(n_instances)))
    groups = [instances[2 * pair : 2 * pair + 2] for pair in range(n_pairs)]
    return Case(build, log_prior, groups, n_instances, n_classes, draw(st.integers(0, 999)))


@pytest.mark.parametrize("law", LAWS)
@given(case=relation_cases() | table_cases())
@settings(max_examples=60)
def test_pairs_obey(law, case):
    law(case)


@given(case=relation_cases() | table_cases())
@settings(max_examples=15)
def test_pairs_obey_gradcheck(case):
    gradient_passes_gradcheck(case)


@pytest.mark.gpu
@given(case=relation_cases() | table_cases())
@settings(max_examples=15)
def test_pairs_on_the_gpu_agree_with_the_cpu(case):
    gpu_agrees_with_cpu(case)


def test_greater_equal_spreads_ten_digits_over_55_cells():
    first, second = Pairs.greater_equal([[0, 1]], n_classes=10, n_instances=2).marginals()
    assert_close(first, torch.arange(1.0, 11.0) / 55)
    assert_close(second, torch.arange(10.0, 0.0, -1.0) / 55)


@pytest.mark.parametrize(("name", "strict"), [("greater", True), ("greater_equal", False)])
def test_ranked_pair_equals_an_ordering_of_two(name, strict, generator):
    pairs = torch.randperm(40, generator=generator).reshape(20, 2)
    evidence = 3 * torch.randn(40, 7, generator=generator, dtype=torch.float64)
    sizes = {"n_classes": 7, "n_instances": 40}
    ranked = getattr(Pairs, name)(pairs, **sizes)
    ordered = Orderings(pairs, **sizes, strict=strict, descending=True)
    assert_close(tuple(ranked.posterior(evidence)), tuple(ordered.posterior(evidence)))


def test_outer_product_equals_two_independent_distributions(generator):
    probabilities = torch.rand(6, 4, generator=generator, dtype=torch.float64)
    evidence = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    pairs = torch.tensor([[0, 3], [5, 2], [1, 4]])
    first, second = probabilities[pairs].unbind(1)
    joint = Pairs.from_table(pairs, first[:, :, None] * second[:, None, :], n_instances=6)
    alone = Categorical(probabilities).posterior(evidence)
    assert_close(joint.posterior(evidence).log_marginals, alone.log_marginals)
    expected = alone.log_normaliser[pairs].sum(1)
    assert_close(joint.posterior(evidence).log_normaliser, expected)


@given(scale=st.floats(1e-200, 1e200), seed=st.integers(0, 999))
def test_scaling_a_table_changes_nothing(scale, seed):
    table = tables_with_zeros(1, 3, seed)[0]
    evidence = torch.randn(2, 3, generator=torch.Generator().manual_seed(seed)).double()
    scaled, plain = (
        Pairs.from_table([[1, 0]], one, n_instances=2).posterior(evidence)
        for one in (scale * table, table)
    )
    assert_close(tuple(scaled), tuple(plain))


def test_swapping_a_pair_transposes_its_table(generator):
    table = torch.rand(3, 3, generator=generator)
    evidence = torch.randn(2, 3, generator=generator)
    one, other = (
        Pairs.from_table([[0, 1]], table, n_instances=2),
        Pairs.from_table([[1, 0]], table.T, n_instances=2),
    )
    assert_close(tuple(one.posterior(evidence)), tuple(other.posterior(evidence)))


def test_counts_and_probabilities_make_the_same_belief():
    counts = [[3, 0], [1, 4]]
    counted = Pairs.from_table([[0, 1]], counts, n_instances=2)
    stated = Pairs.from_table([[0, 1]], torch.tensor(counts) / 8, n_instances=2)
    assert_close(counted.marginals(), stated.marginals())


def test_shared_table_is_stored_once():
    pairs = torch.arange(2000).reshape(1000, 2)
    belief = Pairs.greater(pairs, n_classes=50, n_instances=2000)[:500]
    stored = [value for value in vars(belief).values() if isinstance(value, torch.Tensor)]
    assert sum(value.numel() for value in stored) < 50 * 50 + 10 * 500


def test_many_pairs_at_once_equal_one_after_the_other(generator, monkeypatch):
    pairs = torch.randperm(20, generator=generator).reshape(10, 2)
    tables = torch.rand(10, 3, 3, generator=generator)
    evidence = torch.randn(20, 3, generator=generator)
    whole = Pairs.from_table(pairs, tables, n_instances=20).posterior(evidence)
    monkeypatch.setattr("tacit.beliefs.pairs._CELLS", 3 * 3 * 4)
    parts = Pairs.from_table(pairs, tables, n_instances=20).posterior(evidence)
    assert_close(tuple(parts), tuple(whole))


def test_contradicted_pair_is_minus_infinity_and_harms_no_other(generator):
    evidence = torch.randn(5, 3, generator=generator)
    evidence[0, 1:], evidence[1, 0] = -torch.inf, -torch.inf  # 0 must be 0, and 1 cannot equal it
    evidence.requires_grad_()
    posterior = Pairs.equal([[0, 1], [2, 3]], **SMALL).posterior(evidence)
    assert posterior.log_normaliser.isneginf().tolist() == [True, False, False]
    assert posterior.log_marginals[:2].isneginf().all()
    assert_finite_gradient(posterior, evidence)


def test_compiled_posterior_equals_eager(generator):
    belief = Pairs.greater([[0, 1], [2, 3]], **SMALL)
    evidence = torch.randn(5, 3, generator=generator)
    compiled = torch.compile(belief.posterior, backend="aot_eager")(evidence)
    assert_close(tuple(compiled), tuple(belief.posterior(evidence)))


@pytest.mark.parametrize(
    ("pairs", "changed", "sentence"),
    [
        ([[0, 1], [2, 2]], {}, "`pairs` .* group 1 names instance 2 twice"),
        ([[0, 1], [2, 1]], {}, "`pairs` .* instance 1 is in groups 0 and 1"),
        ([[0, 1], [2, 5]], {}, "`pairs` .* between 0 and 4, but group 1 names instance 5"),
        ([[0, 1], [2, 3, 4]], {}, "`pairs` must name two instances .* row 1 has 3"),
        (torch.arange(4).reshape(1, 4), {}, r"`pairs` .* row 0 has 4; .* torch.stack"),
        ([], {}, "`pairs` must hold at least one pair, but it is empty"),
        (torch.zeros(2, 2), {}, "`pairs` .* torch.float32"),
        ([[0, 1]], {"n_classes": 1}, "`n_classes` must be at least 2, but it is 1"),
    ],
)
def test_bad_pairs_are_refused_with_a_sentence(pairs, changed, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Pairs.greater(pairs, **(SMALL | changed))


def with_entry(number, n_tables=None):
    """Tables of ones with one other number, at labels (2, 0) of the last."""
    tables = torch.ones(n_tables or 1, 3, 3)
    tables[-1, 2, 0] = number
    return tables if n_tables else tables[0]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (with_entry(math.nan), r"`table` .* the table of all pairs holds nan at labels \(2, 0\)"),
        (with_entry(-1.0, 2), r"`table` .* the table of pair 1 holds -1.0 at labels \(2, 0\)"),
        (with_entry(math.inf, 2), r"the table of pair 1 holds inf .*; pass probabilities"),
        (torch.zeros(3, 3), "`table` .* the table of all pairs is all zero"),
        (
            torch.eye(3) * torch.tensor([1.0, 0.0]).reshape(2, 1, 1),
            "the table of pair 1 is all zero",
        ),
        (torch.ones(3, 2), r"`table` must have shape .* its shape is \(3, 2\)"),
        (torch.ones(3, 3, 3), r"`table` must have shape .* pairs = 2, but .* \(3, 3, 3\)"),
        (torch.ones(3), r"`table` must have shape .* its shape is \(3,\)"),
        (torch.ones(1, 1), "`n_classes` must be at least 2, but it is 1"),
    ],
)
def test_bad_tables_are_refused_with_a_sentence(table, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Pairs.from_table([[0, 1], [2, 3]], table, n_instances=4)


@pytest.mark.parametrize("changed", [{"n_classes": 4}, {"n_instances": 6}])
def test_pairs_of_another_collection_are_not_joined(changed):
    with pytest.raises(InvalidInputError, match="`other` must cover 5 instances and 3 classes"):
        Pairs.equal([[0, 1]], **SMALL) * Pairs.equal([[2, 3]], **(SMALL | changed))


def test_instance_in_joined_pairs_twice_is_refused():
    with pytest.raises(InvalidInputError, match="instance 1 is in groups 0 and 1"):
        Pairs.greater([[0, 1]], **SMALL) * Pairs.greater([[1, 2]], **SMALL)
