import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs import Candidates, Categorical, Orderings, Pairs, Product
from tacit.errors import InvalidInputError
from tests.beliefs.laws import (
    LAWS,
    Case,
    gradient_passes_gradcheck,
    permuting_instances_permutes_the_posterior,
)
from tests.beliefs.referee import enumerate_posterior

# It moves the instances of the groups, but would have to move those of the other factor as well.
UNFIT = {permuting_instances_permutes_the_posterior}


@st.composite
def cases(draw):
    """Ascending pairs and triples times probabilities with zeros that leave each a labeling."""
    lengths = draw(st.lists(st.integers(2, 3), min_size=1, max_size=2))
    n_instances = sum(lengths)
    instances = iter(draw(st.permutations(range(n_instances))))
    groups = [[next(instances) for _ in range(length)] for length in lengths]
    seed = draw(st.integers(0, 999))
    table = torch.rand(n_instances, 3, generator=torch.Generator().manual_seed(seed)).double()
    table *= table > 0.3
    for group in groups:
        table[group, range(len(group))] += 0.1  # labels 0, 1, 2 stay possible

    def build(groups, n_instances):
        ascending = Orderings(groups, n_classes=3, n_instances=n_instances, strict=False)
        return ascending * Categorical(table)

    def log_prior(number, labels):
        if list(labels) != sorted(labels):
            return -math.inf
        shares = table[groups[number], labels].tolist()
        return math.fsum(math.log(share) if share else -math.inf for share in shares)

    return Case(build, log_prior, groups, n_instances, 3, seed)


@pytest.mark.parametrize("law", [law for law in LAWS if law not in UNFIT])
@given(case=cases())
@settings(max_examples=25)
def test_products_obey(law, case):
    law(case)


@given(case=cases())
@settings(max_examples=10)
def test_products_obey_gradcheck(case):
    gradient_passes_gradcheck(case)


@given(case=cases())
@settings(max_examples=25)
def test_order_of_the_factors_does_not_matter(case):
    ascending, independent = case.belief().structured, case.belief().independent
    evidence = case.evidence()
    sets = Candidates([[0, 1, 2]] * case.n_instances, n_classes=3)
    expected = tuple((ascending * independent).posterior(evidence))
    assert_close(tuple((independent * ascending).posterior(evidence)), expected)
    assert_close(tuple((ascending * sets * independent).posterior(evidence)), expected)
    assert_close(tuple((ascending * (independent * sets)).posterior(evidence)), expected)


def test_loose_instances_follow_the_independent_belief(generator):
    table = torch.rand(4, 3, generator=generator, dtype=torch.float64)
    evidence = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    product = Pairs.greater([[2, 0]], n_classes=3, n_instances=4) * Categorical(table)
    log_marginals, log_normaliser = product.posterior(evidence)
    alone = Categorical(table).posterior(evidence)
    assert_close(log_marginals[[1, 3]], alone.log_marginals[[1, 3]])
    assert_close(log_normaliser[1:], alone.log_normaliser[[1, 3]])

    def log_prior(labels):
        return table[[2, 0], labels].log().sum().item() if labels[0] > labels[1] else -math.inf

    expected, expected_normaliser = enumerate_posterior(log_prior, evidence[[2, 0]])
    assert_close(log_marginals[[2, 0]], expected)
    assert_close(log_normaliser[0].item(), expected_normaliser)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normaliser_is_exactly_zero_without_evidence(dtype, generator):
    pairs = torch.randperm(40, generator=generator).view(20, 2)
    probabilities = Categorical(torch.rand(40, 5, generator=generator))
    product = Pairs.greater(pairs, n_classes=5, n_instances=40) * probabilities
    log_normaliser = product.posterior(torch.zeros(40, 5, dtype=dtype)).log_normaliser
    assert log_normaliser.dtype == dtype
    assert torch.equal(log_normaliser, torch.zeros(20, dtype=dtype))


@pytest.mark.parametrize(
    ("allowed", "sentence"),
    [
        ([[0, 1, 2]] * 4 + [[0], [1, 2]], r"`other` must agree .* group 1 \(instances \[4, 5\]\)"),
        ([[0], [0, 1, 2], [1, 2], [2], [1], [0]], r"`other` .* group 0 \(instances \[0, 2\]\)"),
    ],
)
def test_beliefs_that_exclude_each_other_are_refused(allowed, sentence):
    ranked = Pairs.greater([[0, 2], [4, 5]], n_classes=3, n_instances=6)
    product = ranked * Candidates(allowed, n_classes=3)
    for use in (product.marginals, lambda: product.posterior(torch.zeros(6, 3))):
        with pytest.raises(InvalidInputError, match=sentence):
            use()


def test_hopeless_instance_in_no_group_is_named():
    table = torch.tensor([[1.0, 1.0], [1.0, 1.0], [-torch.inf, -torch.inf]])
    ruled_out = Categorical.from_log(table, validate=False)
    product = Pairs.equal([[0, 1]], n_classes=2, n_instances=3) * ruled_out
    with pytest.raises(InvalidInputError, match=r"`other` .* group 1 \(instance 2\)"):
        product.marginals()


@pytest.mark.parametrize("other", [torch.ones(3), [0.2, 0.3, 0.5], 2.0])
def test_what_is_no_belief_is_refused(other):
    words = r"`other` must be a belief, .* wrap it, as in Categorical"
    for belief in (
        Candidates([[0], [1]], n_classes=3),
        Pairs.equal([[0, 1]], n_classes=3, n_instances=2),
    ):
        with pytest.raises(InvalidInputError, match=words):
            belief * other


def test_two_structured_beliefs_are_refused():
    pair = {"n_classes": 3, "n_instances": 3}
    with pytest.raises(InvalidInputError, match=r"`other` must be an independent belief .* both"):
        Pairs.equal([[0, 1]], **pair) * Orderings([[0, 2]], **pair, strict=True)


@pytest.mark.parametrize("other", [torch.ones(3, 3), torch.ones(2, 4)])
@pytest.mark.parametrize(
    "belief",
    [
        Categorical(torch.ones(2, 3)),
        Candidates([[0], [1]], n_classes=3),
        Pairs.equal([[0, 1]], n_classes=3, n_instances=2),
    ],
    ids=repr,
)
def test_beliefs_of_other_collections_are_refused(belief, other):
    words = f"`other` must cover 2 instances and 3 classes, but it covers {len(other)} and"
    for independent in (Categorical(other), Candidates.from_mask(other > 0)):
        with pytest.raises(InvalidInputError, match=words):
            belief * independent


def test_product_moves_with_all_it_holds():
    product = Pairs.equal([[0, 1]], n_classes=3, n_instances=3) * Categorical(torch.ones(3, 3))
    marginals = product.marginals()
    assert torch.equal(product.to("cpu").marginals(), marginals)
    there = product.to("meta")
    assert there.independent.device.type == there.structured.device.type == "meta"
    assert there.device.type == "meta"


def test_both_factors_are_updated():
    class Counting(Categorical):
        def updated(self, log_prediction, **_):
            return Categorical(log_prediction.exp())

    product = Pairs.equal([[0, 1]], n_classes=2, n_instances=2) * Counting(torch.ones(2, 2))
    updated = product.updated(torch.tensor([[0.75, 0.25], [0.5, 0.5]]).log())
    assert isinstance(updated, Product)
    assert_close(updated.marginals(), torch.tensor([[0.75, 0.25]] * 2))


def test_repr_tells_the_sizes():
    product = Pairs.equal([[0, 1]], n_classes=3, n_instances=3) * Categorical(torch.ones(3, 3))
    assert repr(product) == "Product(n_instances=3, n_classes=3, n_groups=2)"
