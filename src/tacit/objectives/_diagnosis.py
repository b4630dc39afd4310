"""What is wrong with a batch whose value is not a finite number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor

from tacit.beliefs import Belief
from tacit.beliefs.categorical import check_rows
from tacit.errors import InvalidInputError, refuse
from tacit.objectives._plain import plain_values
from tacit.objectives._softmax import CLASS

if TYPE_CHECKING:
    from tacit.evidence import MassSum
    from tacit.objectives._border import Batch
    from tacit.objectives._slabs import Problem

__all__ = [
    "check_arguments",
    "check_normalised",
    "check_strata",
    "check_weight",
    "explain",
    "hides_negatives",
]

_SUM_ERROR: Final = 0.05
"""How far the mean sum of predictions may be off: rounding to bfloat16 passes, logits do not."""


def check_weight(weight: Tensor | None) -> None:
    """Refuse weights that are no weights."""
    if weight is None:
        return
    wrong = ~((weight >= 0) & (weight < torch.inf))
    if bool(wrong.any()):
        raise refuse(
            "weight",
            "be finite and at least 0",
            f"instance {_first(wrong)} has {weight[wrong][0].item()}",
            "use 0 for an instance that is not to count",
        )


def check_strata(strata: Tensor | None, n_strata: int) -> None:
    """Refuse strata that the class mass does not have."""
    if strata is None:
        if n_strata > 1:
            raise refuse(
                "strata",
                f"be given, for a class mass of {n_strata} strata",
                "none came",
                "pass the stratum of each instance",
            )
        return
    wrong = (strata < 0) | (strata >= n_strata)
    if bool(wrong.any()):
        raise refuse(
            "strata",
            f"lie between 0 and {n_strata - 1}",
            f"instance {_first(wrong)} has {strata[wrong][0].item()}",
            "give the class mass its number of strata, as in BatchMass(n_strata=2)",
        )


def check_normalised(batch: Batch, sums: MassSum) -> None:
    """Refuse log-predictions whose class masses do not add up to one.

    The masses are there anyway, so that this takes no pass over the data.
    """
    total = sums.log_mass.detach().logsumexp(-1).exp()
    apart = (total - 1).abs() > _SUM_ERROR
    if not bool(apart.any()):
        return
    _check_scores(batch)
    raise refuse(
        "log_prediction",
        "be log-probabilities, of which each row adds up to 1",
        f"rows add up to {total[apart][0].item():.4g} on average",
        "pass a network's raw output as logits",
    )


def explain(batch: Batch, problem: Problem) -> InvalidInputError:
    """Find the first argument and row that keep the value from being finite."""
    try:
        check_arguments(batch)
    except InvalidInputError as error:
        return error
    return _conflict(batch, problem)


def check_arguments(batch: Batch) -> None:
    """Look at every number: several passes over the data."""
    _check_presence(batch)
    _check_scores(batch)
    _check_belief(batch)


def hides_negatives(batch: Batch) -> bool:
    """Whether the belief has numbers below zero, which smoothing would lift above it."""
    if batch.belief is None or isinstance(batch.belief, Belief) or batch.belief.in_logs:
        return False
    table = batch.belief.table
    return table.is_floating_point() and bool((table < 0).any())


def _check_presence(batch: Batch) -> None:
    if batch.weight is not None and not bool((batch.weight > 0).any()):
        raise refuse(
            "mask" if bool((batch.weight == 0).all()) else "weight",
            "leave at least one instance",
            "it leaves none",
            "skip batches in which nothing counts",
        )


def _check_scores(batch: Batch) -> None:
    z = batch.scores.detach()
    name = "logits" if batch.are_logits else "log_prediction"
    wrong = ~(z < torch.inf) if not batch.are_logits else ~z.isfinite()
    wrong = wrong.any(CLASS) & _present(batch)
    if bool(wrong.any()):
        row = z.movedim(CLASS, -1)[wrong][0].tolist()
        raise refuse(
            name,
            "be finite" if batch.are_logits else "be at most 0 and not NaN",
            f"instance {_first(wrong)} has {_short(row)}",
            "look at the features of that instance and at the learning rate, or mask it",
        )


def _check_belief(batch: Batch) -> None:
    if batch.belief is None or isinstance(batch.belief, Belief):
        return
    table, in_logs = batch.belief
    table = table.detach().to(torch.promote_types(table.dtype, torch.float32))
    present = _present(batch)
    rows = table.movedim(CLASS, -1).masked_fill(~present.unsqueeze(-1), 1.0).flatten(0, -2)
    check_rows(rows, "belief", in_logs=in_logs)


def _conflict(batch: Batch, problem: Problem) -> InvalidInputError:
    """All arguments are sound, so prediction and belief exclude each other somewhere."""
    with torch.no_grad():
        values = plain_values(batch.scores, problem, batch.belief)
    wrong = ~values.isfinite()
    first = _first(wrong) if bool(wrong.any()) else "?"
    return refuse(
        "belief",
        "leave the prediction somewhere to go",
        f"{problem.formula.name} has no finite value at instance {first}, where one excludes what "
        "the other insists on",
        "smooth both, as in smoothing=1e-4, or soften the belief",
    )


def _present(batch: Batch) -> Tensor:
    if batch.weight is not None:
        return batch.weight > 0
    shape = (batch.scores.shape[0], *batch.scores.shape[2:])
    return torch.ones(shape, dtype=torch.bool, device=batch.scores.device)


def _first(wrong: Tensor) -> str:
    index = [int(i) for i in wrong.nonzero()[0]]
    return str(index[0] if len(index) == 1 else tuple(index))


def _short(row: list[float]) -> str:
    shown = ", ".join(f"{value:.4g}" for value in row[:6])
    return f"[{shown}{', ...' if len(row) > 6 else ''}]"
