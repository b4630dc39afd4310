import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs import Candidates, Categorical
from tacit.errors import InvalidInputError
from tests.beliefs.laws import assert_finite_gradient


@st.composite
def tables(draw, shape=None):
    """Probabilities with zeros, never a whole row of them."""
    shape = shape or (draw(st.integers(1, 5)), draw(st.integers(2, 6)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    table = torch.rand(shape, generator=generator, dtype=torch.float64)
    return table * ((table > 0.4) | (table == table.amax(1, keepdim=True)))


def evidence_like(table, scale=3.0):
    generator = torch.Generator().manual_seed(table.numel())
    return scale * torch.randn(table.shape, generator=generator, dtype=torch.float64)


def slow_posterior(table, evidence):
    """The posterior of one row after the other, one class after the other."""
    rows, totals = [], []
    for p, a in zip(table.tolist(), evidence.tolist(), strict=True):
        weight = [share * math.exp(log_weight) for share, log_weight in zip(p, a, strict=True)]
        rows.append([share / math.fsum(weight) for share in weight])
        totals.append(math.log(math.fsum(weight) / math.fsum(p)))
    return torch.tensor(rows).to(table), torch.tensor(totals).to(table)


@given(tables())
def test_posterior_equals_a_slow_loop(table):
    evidence = evidence_like(table)
    expected, expected_normaliser = slow_posterior(table, evidence)
    for belief in (Categorical(table), Categorical.from_log(table.log())):
        log_marginals, log_normaliser = belief.posterior(evidence)
        assert_close(log_marginals.exp(), expected)
        assert_close(log_normaliser, expected_normaliser)


@given(tables())
def test_marginals_are_the_gradient_of_the_normaliser(table):
    evidence = evidence_like(table).requires_grad_()
    log_marginals, log_normaliser = Categorical(table).posterior(evidence)
    (gradient,) = torch.autograd.grad(log_normaliser.sum(), evidence)
    assert_close(gradient, log_marginals.exp())


@given(tables())
def test_posterior_passes_gradcheck(table):
    evidence = evidence_like(table).requires_grad_()

    def posterior(log_evidence):
        log_marginals, log_normaliser = Categorical(table).posterior(log_evidence)
        return log_marginals.exp(), log_normaliser

    assert torch.autograd.gradcheck(posterior, (evidence,))


@given(tables(), st.floats(-300, 300))
def test_scaling_a_row_changes_nothing(table, exponent):
    plain, scaled = Categorical(table), Categorical(table * 10**exponent)
    assert_close(scaled.log_probabilities(torch.float64), plain.log_probabilities(torch.float64))
    in_logs = Categorical.from_log(table.log() + exponent)
    assert_close(in_logs.log_probabilities(torch.float64), plain.log_probabilities(torch.float64))


def test_rows_near_the_limits_of_their_precision_are_kept():
    table = torch.tensor([[3e38, 3e38], [1e-44, 1e-44]])
    assert_close(Categorical(table).marginals(), torch.full((2, 2), 0.5))
    tiny = torch.tensor([[1.0, 1e-100]], dtype=torch.float64)
    log_tiny = Categorical(tiny).log_probabilities()
    assert_close(log_tiny, torch.tensor([[0.0, -100 * math.log(10)]]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_result_has_the_precision_of_the_evidence(dtype, generator):
    table = torch.rand(4, 3, generator=generator, dtype=torch.float64)
    evidence = torch.randn(4, 3, generator=generator).to(dtype)
    rough = Categorical(table).posterior(evidence)
    exact = Categorical(table).posterior(evidence.double())
    assert rough.log_marginals.dtype == rough.log_normaliser.dtype == dtype
    tolerance = 8 * torch.finfo(dtype).eps
    for one, other in zip(rough, exact, strict=True):
        assert_close(one.double(), other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_excluded_row_is_minus_infinity_and_harms_no_other(dtype):
    belief = Candidates([[0], [0, 1]], n_classes=3)
    evidence = torch.tensor([[-torch.inf, 0.0, 0.0], [0.0, 1.0, -torch.inf]], dtype=dtype)
    posterior = belief.posterior(evidence.requires_grad_())
    assert posterior.log_normaliser.isneginf().tolist() == [True, False]
    assert posterior.log_marginals.isneginf().tolist() == [[True] * 3, [False, False, True]]
    assert_finite_gradient(posterior, evidence)


def test_nan_evidence_stays_in_sight():
    evidence = torch.tensor([[math.nan, 0.0], [0.0, 0.0]])
    log_marginals, log_normaliser = Categorical(torch.ones(2, 2)).posterior(evidence)
    assert log_normaliser.isnan().tolist() == [True, False]
    assert log_marginals.isnan().any(1).tolist() == [True, False]


@given(tables(), st.data())
def test_product_is_elementwise_in_any_order(table, data):
    other = data.draw(tables(table.shape))
    product = table * other
    hopeless = (product == 0).all(1)
    first, second = Categorical(table), Categorical.from_log(other.log())
    if hopeless.any():
        with pytest.raises(InvalidInputError, match=f"`other` .* row {hopeless.int().argmax()} "):
            first * second
    else:
        expected = (product / product.sum(1, keepdim=True)).log()
        for both in (first * second, second * first):
            assert_close(both.log_probabilities(torch.float64), expected)


def test_each_instance_is_its_own_group():
    belief = Categorical(torch.ones(4, 2))
    assert belief.n_groups == 4
    assert belief.group_of.tolist() == [0, 1, 2, 3]


def test_table_is_kept_without_a_copy():
    table, array = torch.rand(3, 2) + 0.1, np.full((3, 2), 0.5)
    assert Categorical(table).dense()[0].data_ptr() == table.data_ptr()
    assert Categorical(table)[1:].dense()[0].data_ptr() == table[1:].data_ptr()
    assert Categorical(array).dense()[0].data_ptr() == array.__array_interface__["data"][0]


def test_numpy_arrays_do_as_well(generator):
    table = torch.rand(3, 4, generator=generator)
    assert_close(Categorical(table.numpy()).marginals(), Categorical(table).marginals())
    assert_close(Categorical.from_log(table.numpy()).marginals(), table.softmax(1))


@given(tables(), st.data())
def test_rows_are_those_of_the_table(table, data):
    n = len(table)
    rows = data.draw(st.lists(st.integers(-n, n - 1)))
    belief, expected = Categorical(table), Categorical(table).marginals()
    assert torch.equal(belief[rows].marginals(), expected[rows])
    assert torch.equal(belief[torch.tensor(rows).long()].marginals(), expected[rows])
    assert torch.equal(belief[np.array(rows, dtype=int)].marginals(), expected[rows])
    assert torch.equal(belief[::-1].marginals(), expected.flip(0))
    assert torch.equal(belief[expected[:, 0] > 0].marginals(), expected[expected[:, 0] > 0])
    assert_close(Categorical.from_log(table.log())[rows].marginals(), expected[rows])


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([0, 3], "`rows` must lie between -3 and 2, but entry 1 is out of that range"),
        ([-4], "`rows` .* entry 0 is out"),
        (1, "`rows` .* a slice even for a single row"),
        ([0.5], "`rows` .* torch.float32"),
        (torch.ones(2).bool(), r"`rows` must be a mask of 3 entries, but its shape is \(2,\)"),
    ],
)
def test_wrong_rows_are_refused(rows, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Categorical(torch.ones(3, 2))[rows]


def with_entry(number):
    table = torch.ones(3, 4)
    table[1, 2] = number
    return table


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Categorical(with_entry(math.nan)), "`probabilities` .* row 1, class 2 holds nan"),
        (lambda: Categorical(with_entry(math.inf)), "`probabilities` .* row 1, class 2 holds inf"),
        (lambda: Categorical(with_entry(-1.0)), "`probabilities` .* row 1, class 2 holds -1.0"),
        (lambda: Categorical(torch.eye(3)[:, :2]), "`probabilities` .* row 2 is all zero"),
        (
            lambda: Categorical.from_log(torch.eye(3)[:, :2].log()),
            "`log_probabilities` .* row 2 is all minus infinity",
        ),
        (
            lambda: Categorical.from_log(with_entry(math.inf)),
            "`log_probabilities` must be below infinity .* row 1, class 2 holds inf",
        ),
        (lambda: Categorical.from_log(with_entry(math.nan)), "`log_prob.* row 1, class 2 .* nan"),
        (lambda: Categorical(torch.ones(3)), r"`probabilities` .* shape \(3,\)"),
        (lambda: Categorical(torch.ones(3, 2).long()), "`probabilities` .* torch.int64"),
        (lambda: Categorical(np.ones((3, 2), dtype=int)), "`probabilities` .* torch.int64"),
        (lambda: Categorical([[0.5, 0.5]]), "`probabilities` .* it is a list; .*as_tensor"),
        (lambda: Categorical(torch.ones(3, 1)), "`probabilities` .* at least 2 classes, .* 1"),
    ],
)
def test_what_is_no_belief_is_refused(make, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        make()


def test_values_are_not_looked_at_without_validation():
    belief = Categorical(with_entry(math.nan), validate=False)
    assert belief.marginals().isnan().any(1).tolist() == [False, True, False]
    with pytest.raises(InvalidInputError, match="`probabilities`"):
        Categorical(torch.ones(3), validate=False)


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        (torch.zeros(3, 4), r"`log_evidence` .* \(3, 2\), but its shape is \(3, 4\)"),
        (torch.zeros(2, 2), r"`log_evidence` .* its shape is \(2, 2\)"),
        (torch.zeros(3, 2).long(), "`log_evidence` .* torch.int64"),
    ],
)
def test_wrong_evidence_is_refused(evidence, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Categorical(torch.ones(3, 2)).posterior(evidence)


def test_prediction_teaches_it_nothing():
    belief = Categorical(torch.ones(3, 2))
    assert belief.updated(torch.zeros(3, 2)) is belief


def test_repr_tells_the_sizes():
    assert repr(Categorical(torch.ones(3, 2))) == "Categorical(n_instances=3, n_classes=2)"
