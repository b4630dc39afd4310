"""Lists of whole numbers as flat tensors, without a tensor for each list."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from tacit.errors import InvalidInputError, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

T = TypeVar("T")

__all__ = ["flattened", "from_array"]


def from_array(values: T, argument: str) -> T | Tensor:
    """Turn a numpy array into a tensor that shares its memory; anything else stays as it is."""
    if isinstance(values, Tensor) or not hasattr(values, "__array__"):
        return values
    try:
        return torch.as_tensor(values)
    except (TypeError, ValueError) as error:
        raise refuse(
            argument,
            "be numbers in a form that torch can read",
            f"torch says: {error}".rstrip("."),
            "convert it, for example by numpy.ascontiguousarray(..., dtype=...)",
        ) from error


def flattened(
    lists: Sequence[Sequence[int]] | Sequence[Tensor], argument: str, *, row: str, first: int = 0
) -> tuple[Tensor, Tensor]:
    """Join lists of whole numbers, one after the other.

    Args:
        lists: The lists; they may differ in length and be tensors or arrays.
        argument: What the caller calls them, for messages.
        row: What the caller calls one of them, for messages.
        first: Number of the first list, for messages.

    Returns:
        The numbers of all lists, and the length of each list.

    Example:
        >>> flattened([[4, 2], [], [7]], "groups", row="group")
        (tensor([4, 2, 7]), tensor([2, 0, 1]))
    """
    plain = [each.tolist() if hasattr(each, "tolist") else each for each in lists]
    try:
        numbers = array("q", chain.from_iterable(plain))
        lengths = array("q", map(len, plain))
    except (TypeError, OverflowError) as error:
        raise _odd(plain, argument, row, first) from error
    # Booleans pass for whole numbers, but a list of them is a mask.
    if bool in set(map(type, chain.from_iterable(plain))):
        raise _odd(plain, argument, row, first)
    device = lists[0].device if len(lists) and isinstance(lists[0], Tensor) else None
    return _tensor(numbers).to(device), _tensor(lengths).to(device)


def _tensor(numbers: array[int]) -> Tensor:
    # Of an empty buffer torch makes no tensor.
    return torch.frombuffer(numbers, dtype=torch.int64) if numbers else torch.empty(0).long()


def _odd(lists: Sequence[object], argument: str, row: str, first: int) -> InvalidInputError:
    """What to say of the first list that is not one of whole numbers."""
    at = next(number for number, each in enumerate(lists) if not _is_whole_list(each))
    shown = repr(lists[at])
    return refuse(
        argument,
        "be lists of whole numbers",
        f"{row} {first + at} is {shown if len(shown) <= 60 else shown[:60] + '...'}",
        "pass one flat list of numbers, counted from 0, for each",
    )


def _is_whole_list(values: Any) -> bool:
    try:
        return all(array("q", [each]) and not isinstance(each, bool) for each in values)
    except (TypeError, OverflowError):
        return False
