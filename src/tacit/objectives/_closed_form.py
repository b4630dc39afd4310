"""The objectives' gradients in closed form, in one autograd function that keeps little.

With L_i the value of instance i, c_i its share in the loss and w_i / W its share in the class mass,

    dL/dlog q_ik = c_i dL_i/dlog q_ik + (w_i / W) (q_ik / S_k) G_k,  G_k = sum_i c_i dL_i/dlog S_k

so that the instances are coupled by one small sum for S and one for G. A batch is read three times:
for S, for the values with G, and for the gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tacit._processes import joint_sum, n_processes
from tacit.objectives._border import compute_dtype
from tacit.objectives._formula import CLASS, Terms
from tacit.objectives._fused import FUSED, fits, fused_closed_form
from tacit.objectives._slabs import (
    Problem,
    Slab,
    beside,
    filled,
    log_prediction_of,
    scores_of,
    slabs,
    smoothed,
    terms_of,
)
from tacit.objectives._softmax import softmax

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["closed_form"]


def closed_form(scores: Tensor, problem: Problem) -> Tensor:
    """Value of an objective with its gradient in closed form.

    Args:
        scores: Logits or log q, `(N, class)` or `(N, class, M)`.
        problem: The rest of the batch.

    Returns:
        The loss of the joined batch of all processes; with reduction "none" a value per instance.
    """
    if problem.formula.name in FUSED and fits(scores, problem.strata, problem.smoothing):
        return fused_closed_form(scores, problem)
    return _apply(scores, problem)


class _Half(NamedTuple):
    """The gradient but for the part through the class mass.

    Attributes:
        direct: c_i dL_i / dlog q_ik, shaped like the scores.
        coupling: G, `(strata, class)`; `None` where the mass is held still.
    """

    direct: Tensor
    coupling: Tensor | None


class _ClosedForm(torch.autograd.Function):
    """Keeps the scores, and half of the gradient where the loss is a known sum."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, problem: Problem) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.problem, ctx.half = problem, None
        if problem.reduction == "none":
            return _values(scores, problem)
        coefficient = problem.coefficient()
        if not ctx.needs_input_grad[0]:
            return joint_sum((_values(scores, problem) * coefficient).sum(), problem.group)
        total, ctx.half = _half_gradient(scores, problem, coefficient)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        problem: Problem = ctx.problem
        if problem.reduction == "none":
            _, half = _half_gradient(scores, problem, _present(upstream, problem))
            return _whole_gradient(scores, problem, half, None), None
        # A second backward pass over the same graph finds the buffer used up and makes it again.
        half, ctx.half = ctx.half, None
        if half is None:
            _, half = _half_gradient(scores, problem, problem.coefficient())
        factor = upstream * n_processes(problem.group)
        return _whole_gradient(scores, problem, half, factor), None


_apply = cast("Callable[[Tensor, Problem], Tensor]", _ClosedForm.apply)


def _present(values: Tensor, problem: Problem) -> Tensor:
    """Per-instance values with 0 for absent instances."""
    return values if problem.weight is None else values.masked_fill(problem.weight == 0, 0.0)


def _terms(scores: Tensor, problem: Problem, slab: Slab) -> Terms:
    z = scores_of(scores, problem, slab)
    log_q = log_prediction_of(z, are_logits=problem.are_logits, smoothing=problem.smoothing)
    return terms_of(log_q, problem, slab)


def _values(scores: Tensor, problem: Problem) -> Tensor:
    """L_i of every instance; 0 where it is absent."""
    shape = (scores.shape[0], *scores.shape[2:])
    out = scores.new_empty(shape, dtype=compute_dtype(scores))
    for slab in slabs(scores):
        slab.instances(out).copy_(problem.formula.value(_terms(scores, problem, slab)))
    return _present(out, problem)


def _half_gradient(scores: Tensor, problem: Problem, coefficient: Tensor) -> tuple[Tensor, _Half]:
    """The loss of the joined batch, and all of its gradient that does not need G."""
    direct = torch.empty_like(scores, dtype=compute_dtype(scores))
    coupling = torch.zeros_like(problem.log_mass)
    total = coupling.new_zeros(())
    coupled = False
    for slab in slabs(scores):
        value, own, through = problem.formula.gradient(_terms(scores, problem, slab))
        c = slab.instances(coefficient)
        total += (value * c).sum()
        c = c if c.ndim == 0 else c.unsqueeze(CLASS)
        torch.mul(own, c, out=slab.scores(direct))
        coupled = problem.flows and through is not None
        if coupled and through is not None:
            _accumulate(coupling, through, c, problem, slab)
    joint = joint_sum(torch.cat([coupling.flatten(), total.reshape(1)]), problem.group)
    return joint[-1].clone(), _Half(direct, joint[:-1].view_as(coupling) if coupled else None)


def _accumulate(
    coupling: Tensor, through: Tensor, coefficient: Tensor, problem: Problem, slab: Slab
) -> None:
    """Add a slab's part of G, stratum by stratum."""
    if coefficient.ndim == 0 and problem.strata is None:
        coupling[0] += coefficient * _over_instances(through)
        return
    parts = through * coefficient
    if problem.strata is None:
        coupling[0] += _over_instances(parts)
    else:
        rows = parts.movedim(CLASS, -1).flatten(0, -2)
        coupling.index_add_(0, slab.instances(problem.strata).reshape(-1), rows)


def _over_instances(parts: Tensor) -> Tensor:
    return parts.sum(0) if parts.ndim == 2 else parts.sum((0, 2))


def _whole_gradient(scores: Tensor, problem: Problem, half: _Half, factor: Tensor | None) -> Tensor:
    """Finish the gradient in place: the part through S, then the way back to the scores."""
    gradient, coupling = half
    eps = problem.smoothing
    for slab in slabs(scores):
        z = scores_of(scores, problem, slab)
        q = softmax(z) if problem.are_logits else z.exp()
        g = slab.scores(gradient)
        if coupling is not None:
            g.addcmul_(_share_of_mass(z, q, problem, slab), beside(coupling, problem, slab, q))
        if eps:
            g *= q / (q + eps)
        if problem.are_logits:
            g.addcmul_(q, g.sum(CLASS, keepdim=True), value=-1)
        if factor is not None:
            g *= factor
    return gradient.to(scores.dtype)


def _share_of_mass(z: Tensor, q: Tensor, problem: Problem, slab: Slab) -> Tensor:
    """(w_i / W) (q_ik / S_k) with the batch's S, in logs where that is too small for 1/S."""
    log_S = problem.log_batch_mass + filled(problem.log_weight).unsqueeze(-1)
    if _representable(log_S):
        own = smoothed(q, problem.smoothing) if problem.smoothing else q
        share = own * beside((-log_S).exp(), problem, slab, q)
    else:
        log_q = log_prediction_of(z, are_logits=problem.are_logits, smoothing=problem.smoothing)
        share = (log_q - beside(log_S, problem, slab, q)).exp()
    if problem.weight is None:
        return share
    return share * slab.instances(problem.weight).unsqueeze(CLASS)


def _representable(log_mass: Tensor) -> bool:
    """Whether 1/S is a number; asked on the CPU alone, where looking costs nothing."""
    return log_mass.device.type == "cpu" and bool(log_mass.min() > -60.0)
