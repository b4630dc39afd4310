"""The objectives by autograd alone: for structured beliefs, torch.compile, and as a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from tacit._processes import Group, joint_sum, n_processes
from tacit.beliefs import Belief
from tacit.evidence import spread, sum_by_class
from tacit.objectives._border import Dense, compute_dtype
from tacit.objectives._formula import Terms
from tacit.objectives._slabs import (
    Problem,
    belief_in_logs,
    filled,
    log_prediction_of,
    smoothed,
)
from tacit.objectives._softmax import CLASS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["plain_loss", "plain_values"]


def plain_values(scores: Tensor, problem: Problem, belief: Dense | Belief | None) -> Tensor:
    """L_i of every instance, 0 where it is absent, with gradients by autograd.

    Args:
        scores: Logits or log q, `(N, class)` or `(N, class, M)`.
        problem: The rest of the batch.
        belief: Any belief.
    """
    z = _without_absent(scores.to(compute_dtype(scores)), problem, 0.0)
    log_q = log_prediction_of(z, are_logits=problem.are_logits, smoothing=problem.smoothing)
    log_S = spread(_attached(log_q, problem), problem.strata, log_q.ndim)
    if isinstance(belief, Belief):
        terms = _structured_terms(log_q, log_S, problem, belief)
    else:
        log_p = None if belief is None else _log_belief(belief, problem, log_q.dtype)
        terms = Terms(log_q, log_belief=log_p, log_mass=log_S)
    values = problem.formula.value(terms)
    if isinstance(belief, Belief) and problem.formula.uses_posterior:
        # Inference says "no label is possible" with minus infinity; a value must not hide it.
        values = values.masked_fill(terms.log_r.amax(CLASS) == -torch.inf, torch.nan)
    return values if problem.weight is None else values.masked_fill(problem.weight == 0, 0.0)


def plain_loss(values: Tensor, coefficient: Tensor, group: Group) -> Tensor:
    """The loss of the joined batch; gradients averaged over processes are those of that loss."""
    own = (values * coefficient).sum()
    size = n_processes(group)
    if size == 1:
        return own
    return joint_sum(own.detach(), group) + size * (own - own.detach())


def _without_absent(values: Tensor, problem: Problem, stand_in: float) -> Tensor:
    if problem.weight is None:
        return values
    return values.masked_fill((problem.weight == 0).unsqueeze(CLASS), stand_in)


def _attached(log_q: Tensor, problem: Problem) -> Tensor:
    """Log of the mass in use, with the derivative of the log of the batch's own."""
    log_S = problem.log_mass
    if not (problem.flows and problem.formula.uses_mass):
        return log_S
    own = sum_by_class(
        log_q,
        weight=problem.weight,
        strata=problem.strata,
        n_strata=len(log_S),
        group=None,
    ).log_sum
    ratio = (own - filled(problem.log_weight).unsqueeze(-1) - problem.log_batch_mass).exp()
    attached = log_S + ratio - ratio.detach()
    if n_processes(problem.group) == 1:
        return attached
    return _joint_gradient(attached, problem.group)


def _log_belief(belief: Dense, problem: Problem, dtype: torch.dtype) -> Tensor:
    table = _without_absent(belief.table.to(dtype), problem, 1.0)
    return belief_in_logs(
        Dense(table, belief.in_logs),
        problem.smoothing,
        normalise=not problem.formula.uses_posterior,
    )


def _structured_terms(log_q: Tensor, log_S: Tensor, problem: Problem, belief: Belief) -> Terms:
    """An absent member of a group is one whose features were not seen: no evidence, no loss."""
    evidence = _without_absent(log_q - log_S, problem, 0.0)
    rows = evidence.movedim(CLASS, -1)
    # Each takes an inference, and no formula looks at both.
    if problem.formula.uses_posterior:
        log_known = belief.posterior(rows.flatten(0, -2)).log_marginals
    else:
        log_known = belief.marginals(log_q.dtype).log()
    log_known = log_known.view(rows.shape).movedim(-1, CLASS)
    if problem.smoothing:
        log_known = smoothed(log_known.exp(), problem.smoothing).log()
    if problem.formula.uses_posterior:
        return Terms(log_q, log_belief=None, log_mass=log_S, log_posterior=log_known)
    return Terms(log_q, log_belief=log_known, log_mass=log_S)


class _JointGradient(torch.autograd.Function):
    """The identity; its gradient is summed over the processes that share the class mass."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return values.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return joint_sum(gradient, ctx.group), None


_joint_gradient = cast("Callable[[Tensor, Group], Tensor]", _JointGradient.apply)
