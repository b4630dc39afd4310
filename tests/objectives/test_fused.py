"""The fused kernels against the pure torch path, on a GPU."""

from __future__ import annotations

import pytest
import torch

from tacit.beliefs import Candidates, Categorical
from tacit.objectives import EM, QR, RQ, Clustering, FreeEnergy, _closed_form, _fused, _slabs

pytestmark = pytest.mark.gpu

OBJECTIVES = [RQ, QR, FreeEnergy, EM, Clustering]
SHAPES = [(300, 10), (2, 3, 33, 65), (5, 1000), (70000, 6)]


@pytest.fixture
def without_kernels(monkeypatch):
    def switch_off():
        for module in (_closed_form, _slabs):
            monkeypatch.setattr(module, "fits", lambda *_: False)

    return switch_off


def batch(shape, weighting, generator):
    logits = 3 * torch.randn(shape, generator=generator)
    belief = torch.rand(shape, generator=generator)
    belief[belief < 0.3] = 0
    belief[:, 1] += 0.1
    per_instance = (shape[0], *shape[2:])
    extra = {}
    if weighting == "weight":
        extra["weight"] = torch.randint(0, 4, per_instance, generator=generator).double()
        extra["weight"].view(-1)[0] = 1
    if weighting == "mask":
        extra["mask"] = torch.rand(per_instance, generator=generator) > 0.4
        extra["mask"].view(-1)[0] = True
        logits.movedim(1, -1)[~extra["mask"]] = torch.nan
    move = {name: value.cuda() for name, value in extra.items()}
    return logits.cuda(), belief.cuda(), move


def value_and_gradient(objective, logits, belief, extra, *, log_prediction):
    scores = logits.clone().requires_grad_()
    given = {"log_prediction": scores.log_softmax(1)} if log_prediction else {"logits": scores}
    value = objective(belief=belief, **given, **extra)
    upstream = torch.linspace(0.5, 2, value.numel(), device="cuda").view(value.shape)
    (gradient,) = torch.autograd.grad((value * upstream).sum(), scores)
    return value.detach(), gradient.nan_to_num(0)


CASES = [  # every setting of the kernels beside every other at least once, in few compilations
    (0.0, False, None, "mean"),
    (0.0, False, "weight", "none"),
    (0.0, True, "mask", "sum"),
    (1e-3, False, "mask", "mean"),
    (1e-3, True, "weight", "mean"),
    (1e-3, False, None, "none"),
]


@pytest.mark.parametrize(("smoothing", "log_prediction", "weighting", "reduction"), CASES)
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_kernels_agree_with_torch(
    kind, smoothing, log_prediction, weighting, reduction, without_kernels
):
    if smoothing == 0 and kind in (QR, FreeEnergy):
        smoothing = 1e-4
    generator = torch.Generator().manual_seed(0)
    objective = kind(smoothing=smoothing, reduction=reduction)
    batches = [batch(shape, weighting, generator) for shape in SHAPES]
    if kind is Clustering:
        batches = [(logits, None, extra) for logits, _, extra in batches]
    fused = [value_and_gradient(objective, *b, log_prediction=log_prediction) for b in batches]
    assert all(_fused.fits(logits, None, smoothing) for logits, _, _ in batches)
    without_kernels()
    plain = [value_and_gradient(objective, *b, log_prediction=log_prediction) for b in batches]
    for own, other in zip(fused, plain, strict=True):
        for one, two in zip(own, other, strict=True):
            scale = max(float(two.abs().max()), 1.0)
            torch.testing.assert_close(one, two, rtol=2e-4, atol=2e-5 * scale)


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_kernels_are_near_double_precision(kind):
    generator = torch.Generator().manual_seed(1)
    logits, belief, _ = batch((4096, 10), None, generator)
    belief = None if kind is Clustering else belief
    objective = kind()
    _, fused = value_and_gradient(objective, logits, belief, {}, log_prediction=False)
    _, exact = value_and_gradient(objective, logits.double(), belief, {}, log_prediction=False)
    assert (fused - exact).norm() / exact.norm() < 1e-5


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_kernels_take_half_precision(kind):
    generator = torch.Generator().manual_seed(2)
    logits, belief, _ = batch((512, 10), None, generator)
    belief = None if kind is Clustering else belief
    half = logits.bfloat16()
    value, gradient = value_and_gradient(kind(), half, belief, {}, log_prediction=False)
    wide, exact = value_and_gradient(kind(), half.float(), belief, {}, log_prediction=False)
    assert gradient.dtype == torch.bfloat16
    torch.testing.assert_close(value, wide, rtol=1e-5, atol=1e-6)
    assert (gradient.float() - exact).norm() / exact.norm() < 5e-3


@pytest.mark.parametrize("kind", [RQ, QR, FreeEnergy, EM])
def test_kernels_take_logs_and_candidates(kind, without_kernels):
    generator = torch.Generator().manual_seed(4)
    logits, belief, _ = batch((300, 10), None, generator)
    beliefs = [Categorical.from_log(50 + belief.log()), Candidates.from_mask(belief > 0.3)]
    fused = [value_and_gradient(kind(), logits, b, {}, log_prediction=False) for b in beliefs]
    without_kernels()
    plain = [value_and_gradient(kind(), logits, b, {}, log_prediction=False) for b in beliefs]
    for own, other in zip(fused, plain, strict=True):
        for one, two in zip(own, other, strict=True):
            torch.testing.assert_close(one, two, rtol=2e-4, atol=2e-5)


def test_kernels_take_any_layout():
    generator = torch.Generator().manual_seed(3)
    logits, belief, _ = batch((4, 5, 8, 6), None, generator)
    channels_last = logits.to(memory_format=torch.channels_last)
    plain = value_and_gradient(RQ(), logits, belief, {}, log_prediction=False)
    other = value_and_gradient(RQ(), channels_last, belief, {}, log_prediction=False)
    rows = value_and_gradient(RQ(), logits[::2], belief[::2], {}, log_prediction=False)
    picked = value_and_gradient(
        RQ(), logits[::2].contiguous(), belief[::2].contiguous(), {}, log_prediction=False
    )
    for one, two in zip((*plain, *rows), (*other, *picked), strict=True):
        torch.testing.assert_close(one, two)


def test_kernels_survive_extremes():
    logits = torch.tensor([[1e4, -1e4, 0.0], [1e4, 0.0, -1e4]], device="cuda")
    belief = torch.tensor([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]], device="cuda")
    for kind in (RQ, QR, FreeEnergy, EM):
        value, gradient = value_and_gradient(kind(), logits, belief, {}, log_prediction=False)
        assert value.isfinite().all()
        assert gradient.isfinite().all()
