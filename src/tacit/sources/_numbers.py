"""Columns of whole numbers, as sources state instances, classes and votes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tacit.errors import refuse

__all__ = ["check_range", "real_numbers", "whole_numbers"]


def whole_numbers(values: Any, argument: str, row: str) -> Tensor:
    """A column of whole numbers.

    Args:
        values: A tensor, an array or a list.
        argument: What the caller calls it.
        row: What each number is about: "vote", "instance".
    """
    column = _tensor(values, argument, f"whole numbers, one for each {row}", None)
    if column.numel() == 0:
        return column.reshape(-1).long()
    if column.ndim != 1 or column.is_floating_point() or column.dtype == torch.bool:
        raise refuse(
            argument,
            f"be whole numbers, one for each {row}",
            f"it is {column.dtype} with shape {tuple(column.shape)}",
            "number what has a name from 0",
        )
    return column.long()


def real_numbers(values: Any, argument: str, axes: str) -> Tensor:
    """A table of numbers, in float64.

    Args:
        values: A tensor, an array or lists.
        argument: What the caller calls it.
        axes: What its axes are, as in "(class, written)".
    """
    return _tensor(values, argument, f"numbers, {axes}", torch.float64)


def _tensor(values: Any, argument: str, expected: str, dtype: torch.dtype | None) -> Tensor:
    try:
        return torch.as_tensor(values, dtype=dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise refuse(
            argument,
            f"be {expected}",
            f"torch says: {error}".splitlines()[0].rstrip("."),
            "pass a tensor, an array or lists of one length",
        ) from error


def check_range(column: Tensor, argument: str, row: str, low: int, n: int, fix: str) -> None:
    """Refuse numbers that are not from `low` to `n` - 1.

    Args:
        column: Whole numbers.
        argument: What the caller calls them.
        row: What each number is about.
        low: The least that is allowed.
        n: How many there are, counted from 0.
        fix: What to do about it.
    """
    wrong = (column < low) | (column >= n)
    if bool(wrong.any()):
        first = int(wrong.nonzero()[0])
        raise refuse(
            argument,
            f"lie between {low} and {n - 1}",
            f"{row} {first} has {int(column[first])}",
            fix,
        )
