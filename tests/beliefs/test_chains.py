import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs.categorical import Categorical
from tacit.beliefs.chains import Chains
from tacit.errors import InvalidInputError
from tests.beliefs.laws import (
    LAWS,
    Case,
    assert_finite_gradient,
    gpu_agrees_with_cpu,
    gradient_passes_gradcheck,
)

WEATHER = [[8.0, 2.0, 0.0], [1.0, 4.0, 5.0], [3.0, 3.0, 4.0]]


@st.composite
def cases(draw):
    n_classes = draw(st.integers(2, 4))
    weights = st.lists(st.sampled_from([0, 1, 2, 5]), min_size=n_classes, max_size=n_classes)
    rows = weights.filter(any)
    transition = draw(st.lists(rows, min_size=n_classes, max_size=n_classes))
    initial = draw(st.none() | rows)
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    n_instances = sum(lengths) + draw(st.integers(0, 2))
    instances = iter(draw(st.permutations(range(n_instances))))

    def build(groups, n_instances):
        return Chains(groups, transition, initial=initial, n_instances=n_instances)

    def log_prior(_, labels):
        start = [1] * n_classes if initial is None else initial
        shares = [start[labels[0]]]
        for before, after in pairwise(labels):
            shares.append(transition[before][after] / sum(transition[before]))
        return math.log(math.prod(shares)) if all(shares) else -math.inf

    groups = [[next(instances) for _ in range(length)] for length in lengths]
    return Case(build, log_prior, groups, n_instances, n_classes, draw(st.integers(0, 999)))


@pytest.mark.parametrize("law", LAWS)
@given(case=cases())
@settings(max_examples=60)
def test_chains_obey(law, case):
    law(case)


@given(case=cases())
@settings(max_examples=15)
def test_chains_obey_gradcheck(case):
    gradient_passes_gradcheck(case)


@pytest.mark.gpu
@given(case=cases())
@settings(max_examples=15)
def test_chains_on_the_gpu_agree_with_the_cpu(case):
    gpu_agrees_with_cpu(case)


def test_chain_that_forgets_equals_independent_beliefs(generator):
    shares = torch.tensor([0.2, 0.5, 0.3])
    evidence = torch.randn(9, 3, generator=generator)
    sequences = [[3, 1, 8], [0, 2, 4, 5, 6, 7]]
    chains = Chains(sequences, shares.expand(3, 3), initial=shares, n_instances=9)
    alone = Categorical(shares.expand(9, 3)).posterior(evidence)
    log_marginals, log_normaliser = chains.posterior(evidence)
    assert_close(log_marginals, alone.log_marginals)
    sums = [alone.log_normaliser[sequence].sum() for sequence in sequences]
    assert_close(log_normaliser, torch.stack(sums))


def test_reversed_chain_of_a_symmetric_transition_reverses_the_posterior(generator):
    transition = torch.tensor([[3.0, 2.0, 1.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]])
    evidence = torch.randn(7, 3, generator=generator, dtype=torch.float64)
    there, back = (
        Chains([sequence], transition, n_instances=7).posterior(evidence)
        for sequence in ([*range(7)], [*reversed(range(7))])
    )
    assert_close(tuple(back), tuple(there))


def test_marginals_before_evidence_are_powers_of_the_transition():
    transition = torch.tensor(WEATHER, dtype=torch.float64) / 10
    initial = torch.tensor([0.1, 0.9, 0.0], dtype=torch.float64)
    belief = Chains([range(40)], WEATHER, initial=initial, n_instances=40)
    expected = torch.stack([initial @ transition.matrix_power(step) for step in range(40)])
    assert_close(belief.marginals(), expected.float())


def test_counts_and_probabilities_mean_the_same(generator):
    evidence = torch.randn(5, 3, generator=generator)
    counts = Chains([range(5)], WEATHER, initial=[2, 2, 4], n_instances=5)
    shares = Chains(
        [range(5)], torch.tensor(WEATHER) / 10, initial=[0.25, 0.25, 0.5], n_instances=5
    )
    assert_close(tuple(counts.posterior(evidence)), tuple(shares.posterior(evidence)))


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_float32_agrees_with_float64_in_long_chains(scale, generator):
    belief = Chains([range(500), range(500, 900)], WEATHER, n_instances=900)
    evidence = scale * torch.randn(900, 3, generator=generator)
    rough, exact = belief.posterior(evidence), belief.posterior(evidence.double())
    assert_close(rough.log_marginals, exact.log_marginals.float(), rtol=1e-5, atol=1e-4)
    assert_close(rough.log_normaliser, exact.log_normaliser.float(), rtol=1e-6, atol=1e-3)


def test_long_chains_of_extremes_have_finite_gradients(generator):
    belief = Chains([range(300), range(300, 450)], WEATHER, n_instances=450)
    evidence = 1e4 * torch.randn(450, 3, generator=generator).sign()
    evidence.requires_grad_()
    posterior = belief.posterior(evidence)
    assert torch.isfinite(posterior.log_normaliser).all()
    assert_finite_gradient(posterior, evidence)


def test_steps_in_slabs_equal_steps_at_once(monkeypatch, generator):
    belief = Chains(torch.arange(20).view(5, 4), WEATHER, n_instances=20)
    evidence = torch.randn(20, 3, generator=generator, requires_grad=True)

    def value_and_gradient():
        log_marginals, log_normaliser = belief.posterior(evidence)
        total = log_marginals.exp()[::3].square().sum() + log_normaliser.sum()
        return log_marginals, *torch.autograd.grad(total, evidence)

    at_once = value_and_gradient()
    monkeypatch.setattr("tacit.beliefs.chains._CELLS", 9)
    assert_close(value_and_gradient(), at_once)


def test_impossible_chain_has_no_normaliser():
    belief = Chains([[0, 1], [2, 3]], [[1, 0], [0, 1]], n_instances=4)
    never = torch.tensor([[0.0, -math.inf], [-math.inf, 0.0], [0.0, 0.0], [0.0, 0.0]])
    log_marginals, log_normaliser = belief.posterior(never)
    assert log_normaliser.tolist() == [-math.inf, 0.0]
    assert (log_marginals[:2] == -math.inf).all()
    assert torch.isfinite(log_marginals[2:]).all()


@pytest.mark.parametrize(
    ("sequences", "transition", "words"),
    [
        ([], WEATHER, "`sequences` must hold at least one sequence"),
        ([[0, 1], []], WEATHER, "`sequences` .* group 1 is empty"),
        ([[0, 1], [1, 2]], WEATHER, "`sequences` .* instance 1 is in groups 0 and 1"),
        ([[0, 3]], WEATHER, "`sequences` .* group 0 names instance 3"),
        ([[0, 1]], WEATHER[:2], r"`transition` .* square .* shape is \(2, 3\)"),
        ([[0, 1]], [1.0, 1.0], r"`transition` .* square .* shape is \(2,\)"),
        ([[0, 1]], [], r"`transition` .* square .* shape is \(0,\)"),
        ([[0, 1]], [[1.0]], "`n_classes` must be at least 2"),
        ([[0, 1]], [[1, 1], [0, 0]], "`transition` .* row 1 is all zero"),
        ([[0, 1]], [[1, -1], [0, 1]], "`transition` .* row 0, class 1 holds -1"),
        ([[0, 1]], [[1, 1], [math.nan, 1]], "`transition` .* row 1, class 0 holds nan"),
        ([[0, 1]], [[1, math.inf], [1, 1]], "`transition` .* row 0, class 1 holds inf"),
    ],
)
def test_wrong_chains_are_refused(sequences, transition, words):
    with pytest.raises(InvalidInputError, match=words):
        Chains(sequences, transition, n_instances=3)


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        ([0.5, 0.5], r"`initial` .* 3 classes .* shape is \(2,\)"),
        ([0.0, 0.0, 0.0], "`initial` .* all zero"),
        ([1.0, math.nan, 0.0], "`initial` .* class 1 holds nan"),
        ([1.0, 0.5, -0.5], "`initial` .* class 2 holds -0.5"),
    ],
)
def test_wrong_initial_weights_are_refused(initial, words):
    with pytest.raises(InvalidInputError, match=words):
        Chains([[0, 1]], WEATHER, initial=initial, n_instances=2)
