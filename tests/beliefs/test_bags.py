import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs._correlation import log_correlate
from tacit.beliefs._counts import infer_two_classes, infer_vectors
from tacit.beliefs._logspace import LOG_ZERO
from tacit.beliefs._tally import Tally
from tacit.beliefs._tilting import infer_tilted
from tacit.beliefs.bags import Bags
from tacit.beliefs.categorical import Categorical
from tacit.errors import InvalidInputError
from tests.beliefs import laws
from tests.beliefs.laws import LAWS, Case, assert_finite_gradient
from tests.beliefs.referee import enumerate_posterior

APPROXIMATE_LAWS = [
    laws.marginals_are_the_gradient_of_the_normaliser,
    laws.rows_sum_to_one,
    laws.no_evidence_leaves_the_normaliser_at_zero,
    laws.a_constant_per_instance_moves_the_normaliser_alone,
    laws.permuting_instances_permutes_the_posterior,
    laws.whole_groups_are_inferred_alone,
    laws.torn_groups_are_refused,
    laws.zero_belief_gives_zero_posterior,
]

# Counts, and for random evidence of standard deviation 1, 3 and 10 how far off a marginal and the
# log-normaliser per instance are at most in a thousand bags: the table of the class's docstring.
MEASURED = [
    ((50,) * 3, (0.0001, 0.0003, 0.01), (0.0001, 0.0001, 0.0004)),
    ((200, 20, 20, 20), (0.0002, 0.001, 0.05), (0.0001, 0.0001, 0.0006)),
    ((16,) * 4, (0.0003, 0.004, 0.08), (0.0002, 0.0006, 0.004)),
    ((8,) * 5, (0.001, 0.03, 0.13), (0.0005, 0.003, 0.01)),
    ((2,) * 10, (0.03, 0.14, 0.22), (0.005, 0.03, 0.03)),
    ((1,) * 14, (0.06, 0.2, 0.25), (0.02, 0.07, 0.06)),
]


@st.composite
def cases(draw, approximate=False):
    n_classes = draw(st.integers(2, 4))
    longest = {2: 5, 3: 4, 4: 3}[n_classes]
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=3))
    labels = [
        draw(st.lists(st.integers(0, n_classes - 1), min_size=k, max_size=k)) for k in lengths
    ]
    counts = [[row.count(label) for label in range(n_classes)] for row in labels]
    tolerance = draw(st.sampled_from([0.0, 0.0, 0.1, 0.5]))
    n_instances = sum(lengths) + draw(st.integers(0, 2))
    instances = iter(draw(st.permutations(range(n_instances))))

    def build(groups, n_instances):
        if tolerance:
            shares = [[count / sum(row) for count in row] for row in counts]
            belief = Bags.from_proportions(
                groups, shares, n_instances=n_instances, tolerance=tolerance
            )
        else:
            belief = Bags.from_counts(groups, counts, n_instances=n_instances)
        if approximate:
            belief._plan = torch.full_like(belief._plan, -1)
        return belief

    def log_prior(number, labels):
        return log_weight(labels, counts[number], tolerance)

    groups = [[next(instances) for _ in range(length)] for length in lengths]
    return Case(build, log_prior, groups, n_instances, n_classes, draw(st.integers(0, 999)))


def log_weight(labels, expected, tolerance):
    """What `from_counts` and `from_proportions` say of a labeling, up to a constant."""
    size, occurring = len(labels), sum(count > 0 for count in expected)
    counts = [labels.count(label) for label in range(len(expected))]
    if tolerance == 0 or occurring == 1:
        return 0.0 if counts == expected else -math.inf
    if any(expected[label] == 0 for label in labels):
        return -math.inf
    variance = (size * tolerance) ** 2 * occurring / (occurring - 1)
    apart = sum((one - other) ** 2 for one, other in zip(counts, expected, strict=True))
    return sum(math.log(expected[label] / size) for label in labels) - apart / (2 * variance)


def posterior_of(counts, evidence, *, infer):
    """Posterior of one bag for each entry of the evidence `(bags, position, class)`."""
    table = torch.tensor([counts] * len(evidence), dtype=torch.float64)
    tally = Tally(table, torch.zeros(len(evidence), dtype=torch.float64))
    log_shares = tally.shares.log().clamp(min=LOG_ZERO).to(evidence)
    log_weights = evidence + log_shares.unsqueeze(1)
    present = torch.ones(evidence.shape[:2], dtype=torch.bool)
    log_marginals, log_normaliser = infer(log_weights, present, tally)
    return log_marginals.softmax(-1), log_normaliser


@pytest.mark.parametrize("law", LAWS)
@given(case=cases())
@settings(max_examples=50)
def test_bags_obey(law, case):
    law(case)


@pytest.mark.parametrize("size", [4, 5, 10, 30])
def test_bags_of_many_classes_are_inferred_together_as_each_alone(size, generator):
    """Bags of as many instances differ in how many count vectors they have."""
    n_bags, n_classes = 40, 10
    labels = torch.randint(n_classes, (n_bags, size), generator=generator)
    counts = torch.stack([(labels == label).sum(1) for label in range(n_classes)], 1)
    members = torch.arange(n_bags * size).view(n_bags, size)
    belief = Bags.from_counts(members, counts, n_instances=n_bags * size)
    evidence = torch.randn(n_bags * size, n_classes, generator=generator, dtype=torch.float64)
    together = belief.posterior(evidence)
    for number, rows in enumerate(members):
        alone = belief[rows].posterior(evidence[rows])
        assert_close(together.log_marginals[rows].exp(), alone.log_marginals.exp())
        assert_close(together.log_normaliser[number], alone.log_normaliser[0])
        assert_close(alone.log_marginals.exp().sum(0), counts[number].double(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("law", APPROXIMATE_LAWS)
@given(case=cases(approximate=True))
@settings(max_examples=25)
def test_approximate_bags_obey(law, case):
    law(case)


@given(case=cases())
@settings(max_examples=15)
def test_bags_obey_gradcheck(case):
    laws.gradient_passes_gradcheck(case)


@pytest.mark.gpu
@given(case=cases(), approximate=cases(approximate=True))
@settings(max_examples=15)
def test_bags_on_the_gpu_agree_with_the_cpu(case, approximate):
    laws.gpu_agrees_with_cpu(case)
    laws.gpu_agrees_with_cpu(approximate)


@given(case=cases())
def test_marginals_add_up_to_the_counts(case):
    belief, evidence = case.belief(), case.evidence()
    table = belief.posterior(evidence).log_marginals.exp()
    for number, group in enumerate(case.groups):
        if belief._variance[number] == 0:
            assert_close(table[group].sum(0), belief._counts[number])


@pytest.mark.parametrize("counts", [(21, 16), (36, 1), (5, 0, 27)])
def test_tree_equals_the_dynamic_programme(counts, generator):
    shape = (3, sum(counts), len(counts))
    evidence = 3 * torch.randn(shape, generator=generator, dtype=torch.float64)
    r, log_normaliser = posterior_of(counts, evidence, infer=infer_two_classes)
    expected, expected_normaliser = posterior_of(counts, evidence, infer=infer_vectors)
    assert_close(r, expected)
    assert_close(log_normaliser, expected_normaliser)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_correlation_equals_a_loop_and_passes_gradcheck(short, more, seed):
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(2, k, generator=generator).double() for k in (short + more - 1, short))
    loop = [(x[:, j : j + short] + y).logsumexp(-1) for j in range(more)]
    assert_close(log_correlate(x, y), torch.stack(loop, -1))
    assert torch.autograd.gradcheck(log_correlate, (x.requires_grad_(), y.requires_grad_()))


def test_correlation_in_slabs_equals_correlation_at_once(monkeypatch, generator):
    x, y = (torch.randn(3, k, generator=generator).requires_grad_() for k in (40, 11))

    def value_and_gradient():
        value = log_correlate(x, y)
        return value, *torch.autograd.grad(value.square().sum(), (x, y))

    at_once = value_and_gradient()
    monkeypatch.setattr("tacit.beliefs._correlation._SLAB", 4 * y.numel())
    assert_close(value_and_gradient(), at_once)


def test_bags_in_slabs_equal_bags_at_once(monkeypatch, generator):
    belief = Bags.from_counts(torch.arange(20).view(4, 5), [[2, 2, 1]] * 4, n_instances=20)
    evidence = torch.randn(20, 3, generator=generator)
    at_once = belief.posterior(evidence)
    monkeypatch.setattr("tacit.beliefs.bags._SLAB", 1)
    assert_close(tuple(belief.posterior(evidence)), tuple(at_once))


@pytest.mark.parametrize("counts", [(190, 10), (100, 100), (7, 180, 13), (60, 70, 70)])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_float32_agrees_with_float64_in_large_bags(counts, scale, generator):
    belief = Bags.from_counts([list(range(200))], [counts], n_instances=200)
    evidence = scale * torch.randn(200, len(counts), generator=generator)
    rough, exact = belief.posterior(evidence), belief.posterior(evidence.double())
    # Float32 resolves the sums of evidence that stand in exponents to so much.
    rounding = 2 * torch.finfo(torch.float32).eps * float(evidence.abs().sum())
    r, expected = rough.log_marginals.exp(), exact.log_marginals.exp().float()
    assert_close(r, expected, rtol=0, atol=rounding / 2)
    assert_close(rough.log_normaliser, exact.log_normaliser.float(), rtol=1e-6, atol=rounding)


@pytest.mark.parametrize("counts", [(1500, 500), (20,) * 100, (1990, 4, 3, 2, 1), (400,) * 5])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_large_bags_are_finite_and_add_up(counts, scale, generator):
    size = sum(counts)
    belief = Bags.from_counts([list(range(size))], [counts], n_instances=size)
    evidence = scale * torch.randn(size, len(counts), generator=generator)
    total = belief.posterior(evidence.double()).log_marginals.exp().sum(0)
    assert_close(total, torch.tensor(counts).double(), rtol=0, atol=1e-6)
    posterior = belief.posterior(evidence.requires_grad_())
    assert torch.isfinite(posterior.log_normaliser).all()
    assert_finite_gradient(posterior, evidence)


@pytest.mark.parametrize(("counts", "worst_marginal", "worst_normaliser"), MEASURED)
def test_approximation_is_as_good_as_measured(counts, worst_marginal, worst_normaliser, generator):
    shape = (3, sum(counts), len(counts))
    for scale, off, normaliser_off in zip(
        (1, 3, 10), worst_marginal, worst_normaliser, strict=True
    ):
        evidence = scale * torch.randn(shape, generator=generator, dtype=torch.float64)
        r, log_normaliser = posterior_of(counts, evidence, infer=infer_tilted)
        exact, exact_normaliser = posterior_of(counts, evidence, infer=infer_vectors)
        assert (r - exact).abs().max() <= off
        assert ((log_normaliser - exact_normaliser) / shape[1]).abs().max() <= normaliser_off


@given(case=cases(approximate=True))
@settings(max_examples=15)
def test_approximate_gradients_are_derivatives(case):
    belief, evidence = case.belief(), 0.5 * case.evidence()
    direction = torch.randn(evidence.shape, generator=case.generator(), dtype=torch.float64)
    step = 1e-5 * direction

    def value(log_evidence):
        return (direction * belief.posterior(log_evidence).log_marginals.exp()).sum()

    evidence.requires_grad_()
    (gradient,) = torch.autograd.grad(value(evidence), evidence)
    slope = (value(evidence + step) - value(evidence - step)) / 2e-5
    assert_close((gradient * direction).sum(), slope.detach(), rtol=1e-4, atol=1e-6)


@given(case=cases(approximate=True))
@settings(max_examples=20)
def test_approximation_knows_what_is_impossible(case):
    evidence = case.evidence().masked_fill(case.ruled_out(), -torch.inf).requires_grad_()
    posterior = case.belief().posterior(evidence)
    for number, group in enumerate(case.groups):
        _, expected = enumerate_posterior(
            lambda labels, number=number: case.log_prior(number, labels), evidence[group]
        )
        assert (posterior.log_normaliser[number] == -torch.inf) == (expected == -math.inf)
    assert_finite_gradient(posterior, evidence)


@pytest.mark.parametrize(
    ("counts", "possible"),
    [
        ((1, 2, 2), False),
        ((2, 1, 2), True),
        ((2, 2, 1), True),
        ((3, 1, 1), True),
        ((3, 2, 0), True),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_approximation_counts_who_must_have_a_label(counts, possible, dtype):
    evidence = torch.zeros(1, 5, 3, dtype=dtype)
    evidence[0, :2, 1:] = LOG_ZERO  # two instances must have label 0
    _, log_normaliser = posterior_of(counts, evidence, infer=infer_tilted)
    assert (log_normaliser > LOG_ZERO / 10) == possible


@pytest.mark.parametrize("shares", [[0.3, 0.7], [0.22, 0.33, 0.45]])
@pytest.mark.parametrize(("scale", "off"), [(0.0, 0.001), (1.0, 0.01), (5.0, 0.02)])
def test_approximation_is_good_with_tolerance(shares, scale, off, generator):
    bags = torch.arange(30).view(3, 10)
    exact, rough = (
        Bags.from_proportions(bags, [shares] * 3, n_instances=30, tolerance=0.1) for _ in range(2)
    )
    rough._plan = torch.full_like(rough._plan, -1)
    evidence = scale * torch.randn(30, len(shares), generator=generator, dtype=torch.float64)
    r, expected = (belief.posterior(evidence).log_marginals.exp() for belief in (rough, exact))
    assert (r - expected).abs().max() <= off


@given(case=cases(approximate=True))
@settings(max_examples=20)
def test_approximation_bears_extremes(case):
    evidence = (1e4 * case.evidence().sign()).requires_grad_()
    posterior = case.belief().posterior(evidence)
    assert torch.isfinite(posterior.log_normaliser).all()
    assert_finite_gradient(posterior, evidence)


def test_much_tolerance_leaves_instances_alone(generator):
    shares = torch.tensor([0.5, 0.3, 0.2])
    bags = torch.arange(12).view(2, 6)
    belief = Bags.from_proportions(bags, shares.expand(2, 3), n_instances=12, tolerance=1e4)
    evidence = torch.randn(12, 3, generator=generator)
    expected = Categorical(shares.expand(12, 3)).posterior(evidence)
    assert_close(belief.posterior(evidence).log_marginals, expected.log_marginals)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.25, 0.5, 0.25]])
def test_little_tolerance_equals_counts(shares, generator):
    evidence = torch.randn(8, len(shares), generator=generator)
    rough, exact = (
        Bags.from_proportions([range(8)], [shares], n_instances=8, tolerance=tolerance)
        for tolerance in (1e-4, 0.0)
    )
    assert_close(tuple(rough.posterior(evidence)), tuple(exact.posterior(evidence)))


@pytest.mark.parametrize(
    ("shares", "counts"),
    [
        ([0.7, 0.2, 0.1], [7, 2, 1]),
        ([0.46, 0.46, 0.08], [5, 4, 1]),
        ([0.0, 0.96, 0.04], [0, 10, 0]),
        ([1 / 3, 1 / 3, 1 / 3], [4, 3, 3]),
    ],
)
def test_proportions_become_the_nearest_counts(shares, counts):
    belief = Bags.from_proportions([range(10)], torch.tensor([shares]), n_instances=10)
    assert_close(belief.marginals()[0], torch.tensor(counts) / 10)


def test_exact_is_told_for_each_group():
    sizes = [(300, 200), (2, 2, 1), (50, 50, 50), (4,) * 10]
    counts = [[*row, *[0] * (10 - len(row))] for row in sizes]
    instances = iter(range(1000))
    bags = [[next(instances) for _ in range(sum(row))] for row in counts]
    belief = Bags.from_counts(bags, counts, n_instances=next(instances) + 1)
    assert belief.exact.tolist() == [True, True, False, False, True]
    assert "exact=2 of 4 bags" in repr(belief)
    assert belief[torch.arange(505)].exact.tolist() == [True, True]


@pytest.mark.parametrize(
    ("bags", "counts", "words"),
    [
        ([], [], "`bags` must hold at least one bag"),
        ([[0, 1], []], [[1, 1], [0, 0]], "`bags` .* group 1 is empty"),
        ([[0, 1], [1, 2]], [[1, 1], [1, 1]], "`bags` .* instance 1 is in groups 0 and 1"),
        ([[0, 5]], [[1, 1]], "`bags` .* group 0 names instance 5"),
        ([[0, 1], [2]], [[1, 1], [1, 1]], "`counts` .* size .* bag 1 has 1 instances .* for 2"),
        ([[0, 1]], [[3, -1]], "`counts` .* bag 0 has -1 of class 1"),
        ([[0, 1]], [[1.5, 0.5]], "`counts` .* whole numbers .* bag 0 has 1.5 of class 0"),
        ([[0, 1]], [[2, math.nan]], "`counts` .* bag 0 has nan of class 1"),
        ([[0, 1]], [[2, math.inf]], "`counts` .* bag 0 has inf of class 1"),
        ([[0, 1]], [[1, 1], [1, 1]], r"`counts` .* \(bags, class\) with 1 bags"),
        ([[0, 1]], [1, 1], r"`counts` .* shape is \(2,\)"),
        ([[0, 1]], [[2]], "`n_classes` must be at least 2"),
    ],
)
def test_wrong_counts_are_refused(bags, counts, words):
    with pytest.raises(InvalidInputError, match=words):
        Bags.from_counts(bags, counts, n_instances=3)


@pytest.mark.parametrize(
    ("proportions", "tolerance", "words"),
    [
        ([[0.5, 0.6]], 0.0, "`proportions` must add up to 1 .* bag 0 add up to 1.1"),
        ([[1.5, -0.5]], 0.0, "`proportions` .* bag 0 has -0.5 of class 1"),
        ([[1.0, math.nan]], 0.0, "`proportions` .* bag 0 has nan of class 1"),
        ([[1.0]], 0.0, "`n_classes` must be at least 2"),
        ([[0.5, 0.5]], -0.1, "`tolerance` must be at least 0 .* -0.1"),
        ([[0.5, 0.5]], math.nan, "`tolerance` must be at least 0 .* nan"),
    ],
)
def test_wrong_proportions_are_refused(proportions, tolerance, words):
    with pytest.raises(InvalidInputError, match=words):
        Bags.from_proportions([[0, 1]], proportions, n_instances=2, tolerance=tolerance)


def test_evidence_that_is_nan_shows_in_its_bag():
    belief = Bags.from_counts([[0, 1], [2, 3]], [[1, 1], [1, 1]], n_instances=4)
    evidence = torch.zeros(4, 2)
    evidence[0, 0] = math.nan
    log_marginals, log_normaliser = belief.posterior(evidence)
    assert log_marginals[:2].isnan().all()
    assert log_normaliser.isnan().tolist() == [True, False]
    assert log_marginals[2:].isfinite().all()


def test_autocast_leaves_inference_in_the_precision_of_its_evidence():
    belief = Bags.from_proportions([range(32)], [[0.2] * 5], n_instances=32, tolerance=0.1)
    assert not belief.exact.any()
    evidence = torch.randn(32, 5, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        log_marginals = belief.posterior(evidence).log_marginals
    assert torch.equal(log_marginals, belief.posterior(evidence).log_marginals)


def test_evidence_of_another_class_count_is_refused():
    belief = Bags.from_counts([[0, 1]], [[1, 1]], n_instances=2)
    with pytest.raises(InvalidInputError, match=r"`log_evidence` .*class"):
        belief.posterior(torch.zeros(2, 3))
