"""The objectives' gradients: closed form, autograd, finite differences, precision, extremes."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs import Categorical
from tacit.errors import InvalidInputError
from tacit.evidence import TrackedMass
from tacit.objectives import EM, QR, RQ, Clustering, FreeEnergy, UnionNLL
from tests.objectives.cases import (
    AS_THEY_ARE,
    COUPLED,
    MASSES,
    N_CLASSES,
    N_INSTANCES,
    OBJECTIVES,
    STRUCTURED,
    WITH_BELIEF,
    batches,
    draw,
    run,
    upstream,
    values_and_gradient,
)
from tests.objectives.referee import Referee

every_objective = pytest.mark.parametrize("kind", OBJECTIVES)
seeds = st.integers(0, 2**32)
TO_THE_DIGIT = {"rtol": 1e-10, "atol": 1e-10}


def arguments(kind, batch):
    return (batch.logits,) if kind is Clustering else (batch.logits, batch.belief)


# Closed form and autograd


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@every_objective
@settings(max_examples=6)
@given(
    batch=batches,
    smoothing=st.sampled_from([0.0, 1e-4, 0.1]),
    extra=st.sampled_from([(), ("weight",), ("mask",), ("weight", "mask")]),
)
def test_closed_form_equals_autograd(kind, reduction, batch, smoothing, extra):
    how = {"smoothing": smoothing, "reduction": reduction} | {n: getattr(batch, n) for n in extra}
    derived = values_and_gradient(kind, batch, by_formula=False, **how)
    assert_close(values_and_gradient(kind, batch, by_formula=True, **how), derived, **TO_THE_DIGIT)


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("kind", COUPLED)
@settings(max_examples=4)
@given(seed=seeds, n_strata=st.integers(1, 2), smoothing=st.sampled_from([0.0, 0.1]))
def test_closed_form_equals_autograd_under_any_mass(kind, mass, seed, n_strata, smoothing):
    batch, other = draw((6, 4), seed), draw((8, 4), seed + 1).logits.log_softmax(1)
    strata = batch.strata if n_strata == 2 else None
    both = []
    for by_formula in (True, False):
        how = {"strata": strata, "weight": batch.weight, "smoothing": smoothing}
        made = MASSES[mass](other, n_strata)
        for reduction in ("mean", "sum", "none"):
            how |= {"by_formula": by_formula, "reduction": reduction}
            both.append(values_and_gradient(kind, batch, mass=made, **how))
    assert_close(both[:3], both[3:], **TO_THE_DIGIT)


@every_objective
def test_closed_form_equals_autograd_beyond_one_slab(kind, seed):
    # 131,072 numbers make a slab; one batch is cut along the first axis, one along the last.
    for shape in [(7000, 20), (2, 3, 50000)]:
        batch = draw(shape, seed)
        how = {"weight": batch.weight, "reduction": "mean", "smoothing": 1e-3}
        derived = values_and_gradient(kind, batch, by_formula=False, **how)
        assert_close(values_and_gradient(kind, batch, **how), derived, **TO_THE_DIGIT)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("by_formula", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in OBJECTIVES if kind is not EM])
def test_gradient_passes_gradcheck(kind, by_formula, reduction, seed):
    # EM holds its posterior fixed: its gradient is not its value's, and has a law of its own.
    batch = draw((2, 3, 2), seed)
    objective = kind(reduction=reduction, by_formula=by_formula, smoothing=0.01)
    logits = batch.logits.requires_grad_()
    rest = arguments(kind, batch)[1:]
    assert torch.autograd.gradcheck(lambda z: objective(z, *rest, weight=batch.weight), (logits,))


@pytest.mark.parametrize("belief", STRUCTURED)
@pytest.mark.parametrize("kind", [RQ, QR, FreeEnergy])
def test_gradient_through_structured_inference_passes_gradcheck(kind, belief, seed):
    logits = draw((N_INSTANCES, N_CLASSES), seed).logits.requires_grad_()
    own, objective = STRUCTURED[belief].build(AS_THEY_ARE), kind()
    assert torch.autograd.gradcheck(lambda z: objective(z, own), (logits,))


@pytest.mark.parametrize("kind", COUPLED)
@pytest.mark.parametrize("flows", [True, False])
@settings(max_examples=3)
@given(seed=seeds)
def test_a_tracked_mass_has_the_gradient_of_the_batch_in_logs(kind, flows, seed):
    mass = TrackedMass(window=10, flows=flows)
    objective = kind(mass, smoothing=0.0, allow_collapse=True)
    for step in range(3):
        batch = draw((6, 4), seed + step)
        loss, gradient = run(objective, batch.logits, batch.belief, weight=batch.weight)
        referee = Referee(
            kind.__name__,
            None if kind is Clustering else batch.belief.numpy(),
            weight=batch.weight.numpy(),
            mass=mass.log_mass.exp().numpy(),
            flows=flows,
            reduction="mean",
        )
        assert_close(loss, torch.as_tensor(referee.loss(batch.logits.numpy())))
        slope = referee.gradient(batch.logits.numpy(), upstream(loss).numpy())
        assert_close(gradient, torch.from_numpy(slope))


# How gradients are asked for


@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("by_formula", [True, False])
@every_objective
def test_a_second_backward_pass_gives_the_same_gradient(kind, by_formula, reduction, seed):
    batch = draw((5, 4), seed)
    logits, *rest = arguments(kind, batch)
    leaf = logits.clone().requires_grad_()
    value = kind(reduction=reduction, by_formula=by_formula)(leaf, *rest, weight=batch.weight).sum()
    passes = [torch.autograd.grad(value, leaf, retain_graph=True)[0] for _ in range(3)]
    assert_close(passes[0], passes[1], rtol=0, atol=0)
    assert_close(passes[0], passes[2], rtol=0, atol=0)


@pytest.mark.parametrize("kind", WITH_BELIEF)
def test_a_belief_that_requires_a_gradient_receives_it(kind, seed):
    batch = draw((5, 4), seed)
    belief = batch.belief.clone().requires_grad_()
    objective = kind(reduction="sum")
    value = objective(batch.logits, belief, weight=batch.weight)
    if value.requires_grad:
        (slope,) = torch.autograd.grad(value, belief)
        step = 1e-6 * torch.randn(belief.shape, generator=torch.Generator().manual_seed(seed))
        ahead, behind = (
            objective(batch.logits, belief.detach() + sign * step, weight=batch.weight)
            for sign in (1, -1)
        )
        expected = torch.zeros(()) if kind is EM else (ahead - behind) / 2e-6
        assert_close((slope * step).sum() / 1e-6, expected.double(), rtol=1e-5, atol=1e-7)
    assert value.requires_grad == (kind.__name__ not in ("EM", "HardCrossEntropy"))


@every_objective
def test_no_graph_is_kept_where_none_is_wanted(kind, seed):
    batch = draw((5, 4), seed)
    assert not kind()(*arguments(kind, batch)).requires_grad
    with torch.no_grad():
        assert not kind()(batch.logits.requires_grad_(), *arguments(kind, batch)[1:]).requires_grad


@every_objective
def test_arguments_are_left_as_they_were(kind, seed):
    batch = draw((3, 4, 5), seed)
    before = [tensor.clone() for tensor in batch[:4]]
    values_and_gradient(kind, batch, weight=batch.weight, mask=batch.mask)
    assert all(torch.equal(*pair) for pair in zip(before, batch[:4], strict=True))


@every_objective
def test_memory_layout_does_not_matter(kind, seed):
    batch = draw((2, 3, 4, 5), seed)
    expected = values_and_gradient(kind, batch)
    last = [t.to(memory_format=torch.channels_last) for t in (batch.logits, batch.belief)]
    assert_close(
        values_and_gradient(kind, batch._replace(logits=last[0], belief=last[1])), expected
    )


# Precision


@pytest.mark.parametrize("shape", [(50, 7), (3, 5, 4, 4)])
@pytest.mark.parametrize("by_formula", [True, False])
@every_objective
def test_float32_stays_near_float64(kind, by_formula, shape, seed):
    batch, objective = draw(shape, seed), kind(by_formula=by_formula)
    single = [tensor.float() for tensor in (batch.logits, batch.belief)]
    loss, gradient = run(objective, *single, weight=batch.weight.float())
    assert loss.dtype == gradient.dtype == torch.float32
    exact = run(objective, *(tensor.double() for tensor in single), weight=batch.weight)
    assert_close((loss, gradient), (exact[0].float(), exact[1].float()), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("reduction", ["mean", "none"])
@every_objective
def test_half_precision_logits_are_widened(kind, dtype, reduction, seed):
    batch, objective = draw((50, 7), seed), kind(reduction=reduction)
    half = batch.logits.to(dtype)
    value, gradient = run(objective, half, batch.belief.float())
    assert (value.dtype, gradient.dtype) == (torch.float32, dtype)
    wide, slope = run(objective, half.float(), batch.belief.float())
    assert_close(value, wide)
    assert_close(gradient, slope.to(dtype))


@every_objective
def test_autocast_stays_near_float32(kind, seed):
    batch, objective = draw((64, 7), seed), kind()
    rest = [tensor.float() for tensor in arguments(kind, batch)[1:]]
    weights = []
    for enabled in (True, False):
        torch_generator = torch.Generator().manual_seed(seed)
        features = torch.randn(64, 5, generator=torch_generator)
        matrix = torch.randn(5, 7, generator=torch_generator).requires_grad_()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            loss = objective(features @ matrix, *rest)
        (slope,) = torch.autograd.grad(loss, matrix)
        assert loss.dtype == torch.float32
        weights.append((loss.detach(), slope))
    # Bfloat16 keeps eight bits, and the network's own rounding is the same for any loss.
    assert_close(weights[0], weights[1], rtol=0.05, atol=0.02)


# Extremes


def _extreme(shape, name, seed):
    batch = draw(shape, seed)
    logits, belief = batch.logits, batch.belief
    if name == "huge logits":
        logits = 1e4 * logits.sign()
    elif name == "a class that has vanished":
        logits = logits.clone()
        logits[:, 1] = -500
    elif name == "tiny beliefs":
        belief = torch.rand_like(belief).mul(-300).mul(2.302).exp()
    elif name == "a class that nobody believes in":
        belief = belief.clone()
        belief[:, 1] = 1e-300
    return batch._replace(logits=logits, belief=belief)


EXTREMES = [
    "huge logits",
    "a class that has vanished",
    "tiny beliefs",
    "a class that nobody believes in",
]


@pytest.mark.parametrize("shape", [(1, 3), (40, 5), (2, 5, 9)])
@pytest.mark.parametrize("extreme", EXTREMES)
@every_objective
def test_extremes_stay_finite_and_the_two_paths_agree(kind, extreme, shape, seed):
    batch = _extreme(shape, extreme, seed)
    results = []
    for by_formula in (True, False):
        value, gradient = values_and_gradient(
            kind, batch, by_formula=by_formula, reduction="mean", smoothing=0.0
        )
        assert value.isfinite()
        assert gradient.isfinite().all()
        results.append((value, gradient))
    assert_close(results[0], results[1], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("extreme", ["huge logits", "a class that has vanished"])
@every_objective
def test_extremes_stay_finite_in_single_precision(kind, extreme, seed):
    batch = _extreme((40, 5), extreme, seed)
    for smoothing in (0.0, 1e-4):
        for belief in (batch.belief.float(), Categorical.from_log(-batch.belief.float() * 1e3)):
            results = []
            for by_formula in (True, False):
                objective = kind(smoothing=smoothing, by_formula=by_formula)
                results.append(run(objective, batch.logits.float(), belief))
                assert all(part.isfinite().all() for part in results[-1])
            # Numbers reach ten thousand, of which single precision resolves 1e-3.
            assert_close(results[0], results[1], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("belief", STRUCTURED)
@pytest.mark.parametrize("extreme", ["huge logits", "a class that has vanished"])
@pytest.mark.parametrize("kind", WITH_BELIEF)
def test_extremes_with_structured_beliefs_are_finite_or_refused(kind, extreme, belief, seed):
    batch = _extreme((N_INSTANCES, N_CLASSES), extreme, seed)
    own = STRUCTURED[belief].build(AS_THEY_ARE)
    with _refusal_of_a_conflict():
        value, gradient = run(kind(), batch.logits, own)
        assert value.isfinite()
        assert gradient.isfinite().all()


@contextmanager
def _refusal_of_a_conflict():
    try:
        yield
    except InvalidInputError as error:
        if "`belief` must leave the prediction somewhere to go" not in str(error):
            raise


@every_objective
def test_a_single_instance_is_finite(kind, seed):
    value, gradient = values_and_gradient(kind, draw((1, 2), seed), reduction="mean")
    assert value.isfinite()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("kind", [RQ, EM, UnionNLL])
def test_a_hard_zero_of_the_belief_moves_nothing_towards_it(kind, seed):
    batch = draw((6, 4), seed)
    belief = batch.belief.clone()
    belief[:, 2] = 0
    _, gradient = values_and_gradient(kind, batch, belief=belief, smoothing=0.0)
    assert gradient.isfinite().all()
    if kind is not RQ:  # whose mass pulls at every class
        assert (gradient[:, 2] > 0).all()


# torch.compile


def compiled_and_eager(objective, batch, **how):
    torch.compiler.reset()
    compiled = torch.compile(objective, fullgraph=True, **how)
    rest = arguments(type(objective), batch)[1:]
    results = []
    for call in (compiled, objective):
        leaf = batch.logits.clone().requires_grad_()
        value = call(leaf, *rest)
        results.append((value.detach(), torch.autograd.grad(value, leaf)[0]))
    return results


@every_objective
def test_compiled_equals_eager(kind, seed):
    compiled, eager = compiled_and_eager(kind(), draw((6, 4), seed), backend="aot_eager")
    assert_close(compiled, eager, **TO_THE_DIGIT)


# The compiler itself still uses torch.jit when it is first loaded.
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
@pytest.mark.slow
@pytest.mark.parametrize("kind", [RQ, EM])
def test_code_of_the_compiler_equals_eager(kind, seed):
    compiled, eager = compiled_and_eager(kind(), draw((64, 10), seed))
    assert_close(compiled, eager, **TO_THE_DIGIT)
