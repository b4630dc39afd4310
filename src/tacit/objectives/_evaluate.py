"""How an objective is evaluated: border, class mass, closed form or autograd, and a last look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tacit._processes import joint_logsumexp
from tacit.beliefs import Belief
from tacit.errors import refuse
from tacit.evidence import MassSum
from tacit.objectives._border import Batch, Dense, compute_dtype
from tacit.objectives._closed_form import closed_form
from tacit.objectives._diagnosis import (
    check_arguments,
    check_normalised,
    check_strata,
    check_weight,
    explain,
    hides_negatives,
)
from tacit.objectives._plain import plain_loss, plain_values
from tacit.objectives._slabs import Problem, add_up
from tacit.objectives._softmax import CLASS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit._processes import Group
    from tacit.objectives._formula import Formula

__all__ = ["evaluate"]


def evaluate(
    formula: Formula,
    batch: Batch,
    *,
    mass: Callable[[MassSum], Tensor],
    n_strata: int,
    flows: bool,
    smoothing: float,
    reduction: str,
    group: Group,
    validate: bool,
    by_formula: bool,
) -> Tensor:
    """Value of an objective on one batch.

    Args:
        formula: The objective.
        batch: Its arguments, read.
        mass: Turns the batch's own class mass into the log of the one in use.
        n_strata: Number of strata of that mass.
        flows: Whether the gradient flows through the batch's share of it.
        smoothing: Added to q and p.
        reduction: "mean", "sum" or "none".
        group: The processes that share the batch.
        validate: Whether to explain a value that is not finite; on a GPU this waits for it.
        by_formula: Whether to use the gradient in closed form where there is one.
    """
    if formula.uses_belief != (batch.belief is not None):
        raise _wrong_belief(formula)
    if validate and not _is_running_blind():
        check_weight(batch.weight)
        check_strata(batch.strata, n_strata)
        if formula.overlooks or (smoothing and hides_negatives(batch)):
            check_arguments(batch)
    with torch.no_grad():
        sums = _sums(batch, formula, n_strata, smoothing, group)
        if validate and formula.uses_mass and not (batch.are_logits or _is_running_blind()):
            check_normalised(batch, sums)
        log_mass = mass(sums).detach() if formula.uses_mass else sums.log_sum
    problem = Problem(
        formula=formula,
        are_logits=batch.are_logits,
        belief=batch.belief if isinstance(batch.belief, Dense) else None,
        weight=batch.weight,
        strata=batch.strata,
        log_mass=log_mass,
        log_batch_mass=sums.log_mass,
        log_weight=sums.log_weight,
        flows=flows,
        smoothing=smoothing,
        group=group,
        reduction=reduction,
    )
    result = _value(batch, problem, by_formula)
    if validate and not _is_running_blind() and not bool(result.detach().isfinite().all()):
        raise explain(batch, problem)
    return result.reshape(batch.shape) if reduction == "none" else result


def _value(batch: Batch, problem: Problem, by_formula: bool) -> Tensor:
    if by_formula and _has_closed_form(batch):
        return closed_form(batch.scores, problem)
    values = plain_values(batch.scores, problem, batch.belief)
    if problem.reduction == "none":
        return values
    return plain_loss(values, problem.coefficient(), problem.group)


def _has_closed_form(batch: Batch) -> bool:
    return (
        not isinstance(batch.belief, Belief)
        and not (batch.belief is not None and batch.belief.table.requires_grad)
        and not torch.compiler.is_compiling()
    )


def _sums(batch: Batch, formula: Formula, n_strata: int, smoothing: float, group: Group) -> MassSum:
    if formula.uses_mass:
        return add_up(
            batch.scores,
            are_logits=batch.are_logits,
            weight=batch.weight,
            strata=batch.strata,
            n_strata=n_strata,
            smoothing=smoothing,
            group=group,
        )
    n_classes = batch.scores.shape[CLASS]
    like = batch.scores.new_empty((), dtype=compute_dtype(batch.scores))
    n = batch.scores.numel() // n_classes
    total = like.new_full((), float(n)) if batch.weight is None else batch.weight.sum()
    log_weight = joint_logsumexp(total.log().reshape(1), group)
    return MassSum.of(like.new_zeros((1, n_classes)), log_weight)


def _is_running_blind() -> bool:
    """Whether the value cannot be looked at: inside a compiler or a CUDA graph."""
    if torch.compiler.is_compiling():
        return True
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def _wrong_belief(formula: Formula) -> Exception:
    if formula.uses_belief:
        return refuse(
            "belief",
            "be given",
            "none came",
            "pass a tensor of probabilities or one of tacit.beliefs",
        )
    return refuse(
        "belief",
        "be left out",
        "one came",
        f"{formula.name} learns from the predictions alone; use FreeEnergy with a belief",
    )
