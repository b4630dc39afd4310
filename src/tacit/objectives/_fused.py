"""The closed form on a GPU: three kernels, each reading the batch once."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tacit._processes import joint_sum, n_processes
from tacit.evidence import MassSum, over_processes
from tacit.objectives._softmax import CLASS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit._processes import Group
    from tacit.objectives._slabs import Problem

__all__ = ["FUSED", "add_up_fused", "fits", "fused_closed_form"]

FUSED = {"RQ": 0, "QR": 1, "FreeEnergy": 2, "EM": 3, "Clustering": 4}
"""The formulas that the kernels know, and the numbers by which they know them."""
_REDUCTIONS = {"mean": 0, "sum": 1, "none": 2}
_WIDEST = 8192
"""Classes of a row must fit into one program's registers."""
_FAR = 1 << 30
"""Distances within a tile are counted in 32 bits."""
_SMOOTH = 1e-7
"""Smoothing from here on keeps p q / S within single precision without logs."""
_WIDE = 64
"""From this many classes on a row fills whole warps, and more than one per tile costs registers."""
_PROGRAMS_PER_PROCESSOR = 8
_COLUMNS = 32
"""Classes that one program of the adding kernels takes, and numbers that it adds at once."""
_ROWS = 4096


class _Layout(NamedTuple):
    """How kernels walk over a batch.

    Attributes:
        n_outer: Outer instances.
        n_inner: Inner instances, neighbours in memory where there is more than one axis.
        n_classes: Classes.
        tile_instances: Instances per tile.
        tile_classes: Classes per tile, a power of two.
        n_tiles: Number of tiles.
        n_programs: Number of programs that share them.
        n_warps: Warps of 32 threads in a program.
    """

    n_outer: int
    n_inner: int
    n_classes: int
    tile_instances: int
    tile_classes: int
    n_tiles: int
    n_programs: int
    n_warps: int


def fits(scores: Tensor, strata: Tensor | None, smoothing: float) -> bool:
    """Whether the kernels can take a batch: on a GPU, in single or half precision, one stratum."""
    return (
        scores.device.type == "cuda"
        and scores.dtype != torch.float64
        and strata is None
        and scores.shape[CLASS] <= _WIDEST
        and scores.shape[CLASS] * scores.stride(CLASS) < _FAR
        and (smoothing == 0 or smoothing >= _SMOOTH)
        and not torch.compiler.is_compiling()
        and _has_triton()
    )


def add_up_fused(
    scores: Tensor, *, are_logits: bool, weight: Tensor | None, smoothing: float, group: Group
) -> MassSum:
    """What a batch adds to the class mass, in logs."""
    from tacit.objectives import _kernels as kernels

    plan = _plan(scores.shape, scores.device)
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
        FAST=_is_fast(),
        I=plan.tile_instances,
        K=plan.tile_classes,
        num_warps=plan.n_warps,
    )
    log_sum, log_mass = scores.new_empty((2, 1, n_classes), dtype=torch.float32)
    log_weight = scores.new_empty(1, dtype=torch.float32)
    columns = min(_COLUMNS, plan.tile_classes)
    kernels.mass_of_programs[(-(-n_classes // columns),)](
        top,
        total,
        weights,
        log_sum,
        log_weight,
        log_mass,
        n_programs,
        n_classes,
        P=_ROWS // columns,
        K=columns,
    )
    return over_processes(MassSum(log_sum, log_weight, log_mass), group)


def fused_closed_form(scores: Tensor, problem: Problem) -> Tensor:
    """As `closed_form`, by kernels."""
    return _apply(scores, problem)


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


_apply = cast("Callable[[Tensor, Problem], Tensor]", _Fused.apply)


def _values(scores: Tensor, problem: Problem) -> Tensor:
    values = scores.new_empty((scores.shape[0], *scores.shape[2:]), dtype=torch.float32)
    _launch_values(scores, problem, values, values, values, bare=True)
    return values


def _sums(scores: Tensor, problem: Problem, upstream: Tensor) -> tuple[Tensor, Tensor]:
    """G and the loss, over all processes."""
    from tacit.objectives import _kernels as kernels

    plan = _plan(scores.shape, scores.device)
    columns = plan.n_classes + 1
    partial = scores.new_empty((plan.n_programs, columns), dtype=torch.float32)
    _launch_values(scores, problem, upstream, partial, partial, bare=False)
    coupling = scores.new_empty(plan.n_classes, dtype=torch.float32)
    total = scores.new_empty((), dtype=torch.float32)
    block = min(_COLUMNS, 1 << plan.n_classes.bit_length())
    kernels.add_programs[(-(-columns // block),)](
        partial, coupling, total, plan.n_programs, plan.n_classes, P=_ROWS // block, K=block
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

    plan = _plan(scores.shape, scores.device)
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

    plan = _plan(scores.shape, scores.device)
    out = torch.empty_like(scores)
    if out.stride() != scores.stride():
        scores = scores.contiguous()
        out = torch.empty_like(scores)
    kernels.gradient[(plan.n_programs,)](
        scores,
        *_tables(scores, problem),
        problem.log_mass,
        problem.log_batch_mass,
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
        "FAST": _is_fast(),
        "I": plan.tile_instances,
        "K": plan.tile_classes,
        "num_warps": plan.n_warps,
    }


@lru_cache(maxsize=256)
def _plan(shape: torch.Size, device: torch.device) -> _Layout:
    n_outer, n_inner = (shape[0], shape[2]) if len(shape) == 3 else (1, shape[0])
    n_classes = shape[CLASS]
    width = 1 << (n_classes - 1).bit_length()
    full = _PROGRAMS_PER_PROCESSOR * _n_processors(device)
    instances = _instances_per_tile(width, n_outer * n_inner, full)
    instances = min(instances, 1 << (n_inner - 1).bit_length())
    n_tiles = n_outer * -(-n_inner // instances)
    warps = 8 if width >= 4096 else 4
    return _Layout(
        n_outer, n_inner, n_classes, instances, width, n_tiles, min(n_tiles, full), warps
    )


def _instances_per_tile(width: int, n_instances: int, full: int) -> int:
    """Large tiles for narrow rows, smaller ones where the processors would else stand idle."""
    tile = 4096 if width <= _WIDE else max(1024, width)
    while tile > max(512, width) and n_instances * width < full * tile:
        tile //= 2
    return max(1, tile // width)


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
def _is_fast() -> bool:
    """Whether the processor has NVIDIA's instructions."""
    return torch.version.cuda is not None


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None
