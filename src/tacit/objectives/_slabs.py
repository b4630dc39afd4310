"""Slabs: pieces of a batch that fit into the processor's cache, each worked through at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from tacit.evidence import MassSum, over_processes, sum_by_class
from tacit.objectives._border import Dense, compute_dtype
from tacit.objectives._formula import CLASS, Formula, Terms
from tacit.objectives._fused import add_up_fused, fits
from tacit.objectives._softmax import log_softmax, softmax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit._processes import Group

__all__ = ["Problem", "Slab", "slabs", "smoothed"]

_SLAB_SIZE = 1 << 17
"""Numbers in a slab on the CPU: a handful of temporaries of this size stay in a core's cache."""


class Problem(NamedTuple):
    """Everything about a batch but its scores.

    Attributes:
        formula: The objective.
        are_logits: Whether the scores are logits.
        belief: The dense belief, if the formula uses one.
        weight: Weight of each instance, if any.
        strata: Stratum of each instance, if any.
        log_mass: Log of S in use, `(strata, class)`.
        log_batch_mass: Log of the batch's own, whose derivative stands for that of S.
        log_weight: Log of the weight of each stratum, `(strata,)`.
        flows: Whether the gradient flows through the batch's share of S.
        smoothing: Added to q and p.
        group: The processes that share the batch.
        reduction: "mean", "sum" or "none".
    """

    formula: Formula
    are_logits: bool
    belief: Dense | None
    weight: Tensor | None
    strata: Tensor | None
    log_mass: Tensor
    log_batch_mass: Tensor
    log_weight: Tensor
    flows: bool
    smoothing: float
    group: Group
    reduction: str

    def coefficient(self) -> Tensor:
        """c_i, the share of each instance in a loss that is a mean or a sum."""
        if self.reduction == "sum":
            return self.log_weight.new_ones(()) if self.weight is None else self.weight
        scale = (-self.log_weight.logsumexp(0)).exp()
        return scale if self.weight is None else self.weight * scale


class Slab(NamedTuple):
    """One piece of a batch.

    Attributes:
        rows: Which entries of the first axis.
        columns: Which entries of the last axis.
    """

    rows: slice
    columns: slice

    def scores(self, tensor: Tensor) -> Tensor:
        """The piece of a tensor with a class axis."""
        return tensor[self.rows] if tensor.ndim == 2 else tensor[self.rows, :, self.columns]

    def instances(self, tensor: Tensor) -> Tensor:
        """The piece of a tensor without one; a single number stays as it is."""
        if tensor.ndim == 0:
            return tensor
        return tensor[self.rows] if tensor.ndim == 1 else tensor[self.rows, self.columns]


def slabs(scores: Tensor) -> Iterator[Slab]:
    """Cut a batch into slabs; other devices than the CPU take it whole."""
    n, n_classes = scores.shape[:2]
    m = scores.shape[2] if scores.ndim == 3 else 1
    if scores.device.type != "cpu":
        yield Slab(slice(n), slice(m))
        return
    rows = max(1, _SLAB_SIZE // (n_classes * m))
    columns = max(1, min(m, _SLAB_SIZE // n_classes))
    for row in range(0, n, rows):
        for column in range(0, m, columns):
            yield Slab(slice(row, row + rows), slice(column, column + columns))


def scores_of(scores: Tensor, problem: Problem, slab: Slab) -> Tensor:
    """A slab's scores, those of absent instances replaced by zeros: they may hold anything."""
    z = slab.scores(scores).to(compute_dtype(scores))
    if problem.weight is not None:
        z = z.masked_fill((slab.instances(problem.weight) == 0).unsqueeze(CLASS), 0.0)
    return z


def beside(table: Tensor, problem: Problem, slab: Slab, like: Tensor) -> Tensor:
    """The row of each instance's stratum, `(strata, class)`, laid out beside a slab."""
    if problem.strata is not None:
        return table[slab.instances(problem.strata)].movedim(-1, CLASS)
    return table[0] if like.ndim == 2 else table[0].unsqueeze(-1)


def filled(log_weight: Tensor) -> Tensor:
    """Log of each stratum's weight, with a stand-in for the empty ones: nothing multiplies it."""
    return log_weight.masked_fill(log_weight == -torch.inf, 0.0)


def terms_of(log_q: Tensor, problem: Problem, slab: Slab) -> Terms:
    """A slab's distributions."""
    log_p = None
    if problem.belief is not None:
        log_p = log_belief(problem.belief, problem, slab, log_q.dtype)
    return Terms(log_q, log_belief=log_p, log_mass=beside(problem.log_mass, problem, slab, log_q))


def log_belief(belief: Dense, problem: Problem, slab: Slab, dtype: torch.dtype) -> Tensor:
    """A slab's log p, normalised where smoothing or the formula's value needs it."""
    p = slab.scores(belief.table).to(dtype)
    if problem.weight is not None:
        p = p.masked_fill((slab.instances(problem.weight) == 0).unsqueeze(CLASS), 1.0)
    return belief_in_logs(
        Dense(p, belief.in_logs), problem.smoothing, normalise=not problem.formula.uses_posterior
    )


def belief_in_logs(belief: Dense, smoothing: float, *, normalise: bool) -> Tensor:
    """Log of a dense belief, smoothed; rows are scaled only where that matters."""
    p, in_logs = belief
    if in_logs and not smoothing:
        return log_softmax(p) if normalise else p
    if in_logs:
        p = softmax(p)
    elif smoothing or normalise:
        # By the sum's size: a row below zero throughout, over its own sum, would pass for a belief.
        p = p / p.sum(CLASS, keepdim=True).abs()
    return (smoothed(p, smoothing) if smoothing else p).log()


def smoothed(probability: Tensor, smoothing: float) -> Tensor:
    """(x + e) / (1 + C e): C classes share a little, and rows still sum to one."""
    n_classes = probability.shape[CLASS]
    return (probability + smoothing) / (1 + n_classes * smoothing)


def log_prediction_of(scores: Tensor, *, are_logits: bool, smoothing: float) -> Tensor:
    """Log q from scores, smoothed."""
    log_q = log_softmax(scores) if are_logits else scores
    return smoothed(log_q.exp(), smoothing).log() if smoothing else log_q


def add_up(
    scores: Tensor,
    *,
    are_logits: bool,
    weight: Tensor | None,
    strata: Tensor | None,
    n_strata: int,
    smoothing: float,
    group: Group,
) -> MassSum:
    """What a batch adds to the class mass, a slab at a time on the CPU.

    The CPU adds q itself, which spares an exponential per number, and falls back to logs where a
    class is so rare that its sum may have lost digits.
    """
    if fits(scores, strata, smoothing) and n_strata == 1:
        return add_up_fused(
            scores, are_logits=are_logits, weight=weight, smoothing=smoothing, group=group
        )
    if scores.device.type == "cpu" and n_strata == 1 and not torch.compiler.is_compiling():
        linear = _add_up_linear(scores, are_logits, weight, smoothing)
        if linear is not None:
            return over_processes(linear, group)
    z = scores.to(compute_dtype(scores))
    if weight is not None:
        z = z.masked_fill((weight == 0).unsqueeze(CLASS), 0.0)
    log_q = log_prediction_of(z, are_logits=are_logits, smoothing=smoothing)
    return sum_by_class(log_q, weight=weight, strata=strata, n_strata=n_strata, group=group)


def _add_up_linear(
    scores: Tensor, are_logits: bool, weight: Tensor | None, smoothing: float
) -> MassSum | None:
    n_classes = scores.shape[CLASS]
    total = torch.zeros(n_classes, dtype=torch.float64)
    for slab in slabs(scores):
        z = slab.scores(scores).to(compute_dtype(scores))
        w = None if weight is None else slab.instances(weight).unsqueeze(CLASS)
        if w is not None:
            z = z.masked_fill(w == 0, 0.0)
        q = softmax(z) if are_logits else z.exp()
        q = q if w is None else q * w
        total += q.sum(0) if q.ndim == 2 else q.sum((0, 2))
    n = float(scores.numel() // n_classes)
    whole = torch.tensor(n, dtype=torch.float64) if weight is None else weight.double().sum()
    total = (total + smoothing * whole) / (1 + n_classes * smoothing)
    if bool((total < 1e-20 * whole).any()):
        return None
    dtype = compute_dtype(scores)
    return MassSum.of(total.log().to(dtype).unsqueeze(0), whole.log().to(dtype).reshape(1))
