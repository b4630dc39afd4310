"""Co-occurrence: what another classification says of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tacit.beliefs import Categorical
from tacit.errors import refuse
from tacit.sources._numbers import check_range, real_numbers, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

__all__ = ["cooccurrence", "count_cooccurrence"]


def cooccurrence(
    observed: Tensor | NDArray[Any] | Sequence[int],
    table: Tensor | NDArray[Any] | Sequence[Sequence[float]],
) -> Categorical:
    """The belief about classes where another class was observed.

        p_i(l) = p(l | o_i)

    Args:
        observed: o, the observed class of each instance, `(instances,)`; -1 where there is none.
        table: p(class | observed), `(observed, class)`, up to a factor for each row. A row of
            zeros, of what was never seen, says nothing.

    Example:
        >>> cooccurrence([1, 0, -1], [[0.0, 0.0], [0.3, 0.7]]).marginals()
        tensor([[0.3000, 0.7000],
                [0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    rows = rows_of(table)
    seen = _numbers(observed, "observed", len(rows))
    # The row beyond the last, which -1 takes, is of those that were not observed.
    return Categorical(torch.cat([rows.float(), torch.ones(1, rows.shape[1])])[seen])


def rows_of(table: Tensor | NDArray[Any] | Sequence[Sequence[float]]) -> Tensor:
    """A table of co-occurrence, checked, in which what was never seen says nothing.

    Args:
        table: `(observed, class)`, up to a factor for each row; a row of zeros becomes ones.

    Returns:
        The table in float64, each row scaled by its largest number, which float32 holds whatever
        the numbers were.
    """
    rows = real_numbers(table, "table", "(observed, class)")
    wrong = ~((rows >= 0) & (rows < torch.inf))
    if rows.ndim != 2 or not rows.shape[1] or bool(wrong.any()):
        raise refuse(
            "table",
            "hold finite numbers of at least 0, (observed, class)",
            f"it holds {rows[wrong][0]}"
            if rows.ndim == 2 and rows.shape[1]
            else f"its shape is {tuple(rows.shape)}",
            "count what occurs together, as count_cooccurrence does",
        )
    rows = rows / rows.amax(1, keepdim=True).clamp(min=1e-300)
    return torch.where(rows.sum(1, keepdim=True) > 0, rows, 1.0)


def count_cooccurrence(
    observed: Tensor | NDArray[Any] | Sequence[int],
    labels: Tensor | NDArray[Any] | Sequence[int],
    *,
    n_observed: int,
    n_classes: int,
    part: Tensor | NDArray[Any] | Sequence[int] | None = None,
) -> Tensor:
    """The table p(class | observed), counted where both are known.

    Args:
        observed: The observed class of each instance; -1 is passed over.
        labels: Its label; -1 is passed over.
        n_observed: Number of observed classes.
        n_classes: Number of classes.
        part: The part of the collection that each instance is from, such as a tile: each part
            counts the same, however large it is.

    Returns:
        `(observed, class)`, in float64; rows sum to one, or to zero for what was never seen.

    Example:
        >>> count_cooccurrence([0, 0, 0, 2], [1, 1, 0, 0], n_observed=3, n_classes=2)
        tensor([[0.3333, 0.6667],
                [0.0000, 0.0000],
                [1.0000, 0.0000]], dtype=torch.float64)
    """
    seen = _numbers(observed, "observed", n_observed)
    known = _numbers(labels, "labels", n_classes)
    if seen.shape != known.shape:
        raise refuse(
            "labels",
            f"have one entry for each of the {len(seen)} observations",
            f"there are {len(known)}",
            "pass both for the same instances",
        )
    if part is not None and len(part) != len(seen):
        raise refuse(
            "part",
            f"have one entry for each of the {len(seen)} observations",
            f"there are {len(part)}",
            "pass the part of each instance, or leave it out",
        )
    both = (seen >= 0) & (known >= 0)
    whose = (
        torch.zeros_like(seen)
        if part is None
        else torch.as_tensor(part).unique(return_inverse=True)[1]
    )
    n_parts = int(whose.max()) + 1 if len(whose) else 1
    place = (whose * n_observed + seen) * n_classes + known
    counts = torch.bincount(place[both], minlength=n_parts * n_observed * n_classes).double()
    return shares_of(counts.view(n_parts, n_observed, n_classes))


def shares_of(counts: Tensor) -> Tensor:
    """The table p(class | observed) of what was counted in several parts, which count the same.

    Args:
        counts: `(part, observed, class)`.
    """
    table = (counts / counts.sum((1, 2), keepdim=True).clamp(min=1)).sum(0)
    return table / table.sum(1, keepdim=True).clamp(min=1e-300)


def _numbers(values: Any, argument: str, n: int) -> Tensor:
    """Numbers of classes, from -1, which is "not known"."""
    column = whole_numbers(values, argument, "instance")
    fix = "number the classes from 0, and what is not known -1"
    check_range(column, argument, "instance", -1, n, fix)
    return column
