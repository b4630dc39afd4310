import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs.orderings import Orderings, count_orderings
from tacit.errors import InvalidInputError
from tests.beliefs.laws import (
    LAWS,
    Case,
    assert_finite_gradient,
    gpu_agrees_with_cpu,
    gradient_passes_gradcheck,
)

SMALL = {"n_classes": 3, "n_instances": 5}


@st.composite
def cases(draw):
    n_classes = draw(st.integers(2, 4))
    strict, descending = draw(st.booleans()), draw(st.booleans())
    longest = n_classes if strict else 4
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=3))
    n_instances = sum(lengths) + draw(st.integers(0, 2))
    instances = iter(draw(st.permutations(range(n_instances))))

    def build(groups, n_instances):
        kind = {"strict": strict, "descending": descending}
        return Orderings(groups, n_classes=n_classes, n_instances=n_instances, **kind)

    def log_prior(_, labels):
        steps = [
            before - after if descending else after - before for before, after in pairwise(labels)
        ]
        return 0.0 if all(step > 0 or (step == 0 and not strict) for step in steps) else -math.inf

    groups = [[next(instances) for _ in range(length)] for length in lengths]
    return Case(build, log_prior, groups, n_instances, n_classes, draw(st.integers(0, 999)))


@pytest.mark.parametrize("law", LAWS)
@given(case=cases())
@settings(max_examples=60)
def test_orderings_obey(law, case):
    law(case)


@given(case=cases())
@settings(max_examples=15)
def test_orderings_obey_gradcheck(case):
    gradient_passes_gradcheck(case)


@pytest.mark.gpu
@given(case=cases())
@settings(max_examples=15)
def test_orderings_on_the_gpu_agree_with_the_cpu(case):
    gpu_agrees_with_cpu(case)


@given(n_classes=st.integers(1, 40), length=st.integers(1, 40), strict=st.booleans())
def test_count_equals_the_binomial(n_classes, length, strict):
    ways = math.comb(n_classes if strict else n_classes + length - 1, length)
    if ways:
        count = count_orderings(torch.tensor([length]), n_classes, strict=strict)
        assert_close(count.exp(), torch.tensor([float(ways)], dtype=torch.float64))


def test_full_strict_list_leaves_one_labeling(generator):
    ranks = Orderings([[2, 0, 1]], n_classes=3, n_instances=3, strict=True)
    log_marginals, log_normaliser = ranks.posterior(torch.randn(3, 3, generator=generator))
    assert_close(log_marginals.exp(), torch.eye(3)[[1, 2, 0]])
    assert torch.isfinite(log_normaliser).all()


def test_weak_list_of_instances_alike_is_binomially_spread():
    # The label of the middle one of three has (l + 1)(L - l) of binom(L + 2, 3) labelings.
    middle = Orderings([[0, 1, 2]], n_classes=4, n_instances=3, strict=False).marginals()[1]
    assert_close(middle, torch.tensor([4.0, 6.0, 6.0, 4.0]) / 20)


def test_long_list_in_float32_agrees_with_float64(generator):
    evidence = 5 * torch.randn(400, 20, generator=generator, dtype=torch.float64) + 1e3
    long = Orderings([range(300), range(300, 390)], n_classes=20, n_instances=400, strict=False)
    exact, rough = long.posterior(evidence), long.posterior(evidence.float())
    assert_close(rough.log_marginals.exp(), exact.log_marginals.exp().float(), rtol=0, atol=5e-3)
    assert_close(rough.log_normaliser, exact.log_normaliser.float(), rtol=1e-6, atol=0)


def test_contradicted_list_is_minus_infinity_and_harms_no_other(generator):
    evidence = torch.randn(5, 3, generator=generator)
    evidence[0, :2], evidence[1, 2] = -torch.inf, -torch.inf  # 0 must be 2, and 1 above it cannot
    evidence.requires_grad_()
    ranks = Orderings([[0, 1], [2, 3]], **SMALL, strict=True)
    posterior = ranks.posterior(evidence)
    assert posterior.log_normaliser.isneginf().tolist() == [True, False, False]
    assert posterior.log_marginals[:2].isneginf().all()
    assert_finite_gradient(posterior, evidence)


def test_lists_may_come_as_tensors_and_arrays():
    lists = [[0, 3], [4, 1]]
    expected = Orderings(lists, **SMALL, strict=True).marginals()
    for same in (torch.tensor(lists), [torch.tensor(row) for row in lists], np.array(lists)):
        assert torch.equal(Orderings(same, **SMALL, strict=True).marginals(), expected)


def test_compiled_posterior_equals_eager(generator):
    ranks = Orderings([[0, 1, 2], [3, 4]], **SMALL, strict=True)
    evidence = torch.randn(5, 3, generator=generator)
    compiled = torch.compile(ranks.posterior, backend="aot_eager")(evidence)
    assert_close(tuple(compiled), tuple(ranks.posterior(evidence)))


@pytest.mark.parametrize(
    ("lists", "changed", "sentence"),
    [
        ([[0], [1, 2, 3, 4]], {}, "`lists` .* n_classes = 3 .* list 1 has 4; pass strict=False"),
        ([], {}, "`lists` must hold at least one list, but it is empty"),
        ([[0, 1], []], {}, "`lists` .* group 1 is empty"),
        ([[0, 1], [2, 2]], {}, "`lists` .* group 1 names instance 2 twice"),
        ([[0, 1], [2, 1]], {}, "`lists` .* instance 1 is in groups 0 and 1"),
        ([[0, 1], [2, 5]], {}, "`lists` .* between 0 and 4, but group 1 names instance 5"),
        ([[0, -1]], {}, "`lists` .* group 0 names instance -1"),
        ([[0, 1.5]], {}, r"`lists` .* group 0 is \[0, 1.5\]"),
        ([[0]], {"n_classes": 1}, "`n_classes` must be at least 2, but it is 1"),
    ],
)
def test_bad_lists_are_refused_with_a_sentence(lists, changed, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Orderings(lists, **(SMALL | changed), strict=True)


def test_evidence_for_other_classes_is_refused():
    with pytest.raises(InvalidInputError, match=r"`log_evidence` .* \(5, 3\)"):
        Orderings([[0, 1]], **SMALL, strict=True).posterior(torch.zeros(5, 4))
