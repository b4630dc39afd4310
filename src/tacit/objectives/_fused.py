"""The closed form on a GPU: three kernels, each reading the batch once."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tacit._processes import joint_logsumexp, joint_sum, n_processes
from tacit.evidence import MassSum
from tacit.objectives._softmax import CLASS

if TYPE_CHECKING:
    from tacit._processes import Group
    from tacit.objectives._slabs import Problem

__all__ = ["FUSED", "add_up_fused", "fits", "fused_closed_form"]

FUSED = {"RQ": 0, "QR": 1, "FreeEnergy": 2, "EM": 3, "Clustering": 4}
"""The formulas that the kernels know, and the numbers by which they know them."""
_REDUCTIONS = {"mean": 0, "sum": 1, "none": 2}
_WIDEST = 8192
"""Classes of a row must fit into one program's registers."""
_TILE = 2048
"""Numbers in a tile, so that four warps hold 16 each of every temporary."""
_PROGRAMS_PER_PROCESSOR = 8
_COLUMNS = 32
"""Classes that one program of the adding kernels takes."""


class _Layout(NamedTuple):
    """How kernels walk over a batch.

    Attributes:
        n_outer: Outer instances.
        n_inner: Inner instances, neighbours in memory where there is more than one axis.
        n_classes: Classes.
        I: Instances per tile.
        K: Classes per tile, a power of two.
        n_tiles: Number of tiles.
        n_programs: Number of programs that share them.
    """

    n_outer: int
    n_inner: int
    n_classes: int
    I: int
    K: int
    n_tiles: int
    n_programs: int


def fits(scores: Tensor, strata: Tensor | None) -> bool:
    """Whether the kernels can take a batch: on a GPU, in single or half precision, one stratum."""
    return (
        scores.device.type == "cuda"
        and scores.dtype != torch.float64
        and strata is None
        and scores.shape[CLASS] <= _WIDEST
        and not torch.compiler.is_compiling()
        and _has_triton()
    )


def add_up_fused(
    scores: Tensor, *, are_logits: bool, weight: Tensor | None, smoothing: float, group: Group
) -> MassSum:
    """What a batch adds to the class mass, in logs."""
    from tacit.objectives import _kernels as kernels

    plan = _plan(scores)
    n_programs, n_classes = plan.n_programs, plan.n_classes
    top, total = scores.new_empty((2, n_programs, n_classes), dtype=torch.float32)
    weights = scores.new_empty(n_programs, dtype=torch.float32)
    kernels.sum_prediction[(n_programs,)](
        scores,
        _or_any(weight, scores),
        top,
        total,
        weights,
        plan.n_tiles,
        plan.n_inner,
        n_classes,
        *_strides(scores),
        smoothing,
        ARE_LOGITS=are_logits,
        SMOOTH=smoothing > 0,
        WEIGHTED=weight is not None,
        I=plan.I,
        K=plan.K,
    )
    log_sum, log_mass = scores.new_empty((2, 1, n_classes), dtype=torch.float32)
    log_weight = scores.new_empty(1, dtype=torch.float32)
    kernels.mass_of_programs[(-(-n_classes // _COLUMNS),)](
        top, total, weights, log_sum, log_weight, log_mass, n_programs, n_classes, P=64, K=_COLUMNS
    )
    if n_processes(group) == 1:
        return MassSum(log_sum, log_weight, log_mass)
    joint = joint_logsumexp(torch.cat([log_sum[0], log_weight]), group)
    return MassSum.of(joint[:-1].unsqueeze(0), joint[-1:])


def fused_closed_form(scores: Tensor, problem: Problem) -> Tensor:
    """As `closed_form`, by kernels."""
    result: Tensor = _Fused.apply(scores, problem)
    return result


class _Fused(torch.autograd.Function):
    """Keeps the scores and G; the gradient is computed in one more pass over the batch."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, problem: Problem) -> Tensor:
        ctx.problem = problem
        if problem.reduction == "none":
            ctx.save_for_backward(scores)
            return _values(scores, problem)
        coupling, total = _sums(scores, problem, scores)
        ctx.save_for_backward(scores, coupling)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        problem: Problem = ctx.problem
        if problem.reduction == "none":
            (scores,) = ctx.saved_tensors
            upstream = upstream.contiguous()
            coupling, _ = _sums(scores, problem, upstream)
        else:
            scores, coupling = ctx.saved_tensors
        return _gradient(scores, problem, upstream, coupling), None


def _values(scores: Tensor, problem: Problem) -> Tensor:
    values = scores.new_empty((scores.shape[0], *scores.shape[2:]), dtype=torch.float32)
    _launch_values(scores, problem, values, values, values, bare=True)
    return values


def _sums(scores: Tensor, problem: Problem, upstream: Tensor) -> tuple[Tensor, Tensor]:
    """G and the loss, over all processes."""
    from tacit.objectives import _kernels as kernels

    plan = _plan(scores)
    columns = plan.n_classes + 1
    partial = scores.new_empty((plan.n_programs, columns), dtype=torch.float32)
    _launch_values(scores, problem, upstream, partial, partial, bare=False)
    coupling = scores.new_empty(plan.n_classes, dtype=torch.float32)
    total = scores.new_empty((), dtype=torch.float32)
    kernels.add_programs[(-(-columns // _COLUMNS),)](
        partial, coupling, total, plan.n_programs, plan.n_classes, P=64, K=_COLUMNS
    )
    if n_processes(problem.group) == 1:
        return coupling, total
    joint = joint_sum(torch.cat([coupling, total.reshape(1)]), problem.group)
    return joint[:-1], joint[-1].clone()


def _launch_values(
    scores: Tensor,
    problem: Problem,
    upstream: Tensor,
    values: Tensor,
    partial: Tensor,
    *,
    bare: bool,
) -> None:
    from tacit.objectives import _kernels as kernels

    plan = _plan(scores)
    kernels.value_and_coupling[(plan.n_programs,)](
        scores,
        *_tables(scores, problem),
        problem.log_mass,
        problem.log_weight,
        upstream,
        values,
        partial,
        *_extent(plan, scores, problem),
        **_flags(plan, problem),
        BARE=bare,
    )


def _gradient(scores: Tensor, problem: Problem, upstream: Tensor, coupling: Tensor) -> Tensor:
    from tacit.objectives import _kernels as kernels

    plan = _plan(scores)
    out = torch.empty_like(scores)
    if out.stride() != scores.stride():
        scores = scores.contiguous()
        out = torch.empty_like(scores)
    kernels.gradient[(plan.n_programs,)](
        scores,
        *_tables(scores, problem),
        problem.log_mass,
        problem.log_weight,
        upstream,
        coupling,
        out,
        1 if problem.reduction == "none" else n_processes(problem.group),
        *_extent(plan, scores, problem),
        **_flags(plan, problem),
        FLOWS=problem.flows and problem.formula.name != "EM",
    )
    return out


def _tables(scores: Tensor, problem: Problem) -> tuple[Tensor, Tensor]:
    table = scores if problem.belief is None else problem.belief.table
    if table.dtype == torch.bool:
        table = table.view(torch.uint8)
    return table, _or_any(problem.weight, scores)


def _extent(plan: _Layout, scores: Tensor, problem: Problem) -> tuple[Any, ...]:
    table = scores if problem.belief is None else problem.belief.table
    return (
        plan.n_tiles,
        plan.n_inner,
        plan.n_classes,
        *_strides(scores),
        *_strides(table),
        problem.smoothing,
    )


def _flags(plan: _Layout, problem: Problem) -> dict[str, Any]:
    return {
        "FORMULA": FUSED[problem.formula.name],
        "ARE_LOGITS": problem.are_logits,
        "IN_LOGS": problem.belief is not None and problem.belief.in_logs,
        "SMOOTH": problem.smoothing > 0,
        "WEIGHTED": problem.weight is not None,
        "REDUCTION": _REDUCTIONS[problem.reduction],
        "I": plan.I,
        "K": plan.K,
    }


def _plan(scores: Tensor) -> _Layout:
    n_outer, n_inner = (scores.shape[0], scores.shape[2]) if scores.ndim == 3 else (1, len(scores))
    n_classes = scores.shape[CLASS]
    width = 1 << (n_classes - 1).bit_length()
    instances = min(max(1, _TILE // width), 1 << (n_inner - 1).bit_length())
    n_tiles = n_outer * -(-n_inner // instances)
    programs = min(n_tiles, _PROGRAMS_PER_PROCESSOR * _n_processors(scores.device))
    return _Layout(n_outer, n_inner, n_classes, instances, width, n_tiles, programs)


def _strides(tensor: Tensor) -> tuple[int, int, int]:
    """Strides over outer instances, inner instances and classes."""
    if tensor.ndim == 2:
        return 0, tensor.stride(0), tensor.stride(1)
    return tensor.stride(0), tensor.stride(2), tensor.stride(1)


def _or_any(weight: Tensor | None, stand_in: Tensor) -> Tensor:
    return stand_in if weight is None else weight.contiguous()


@cache
def _n_processors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None
