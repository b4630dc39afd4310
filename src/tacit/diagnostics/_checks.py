"""What stands beside a belief speaks of the same instances and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import refuse

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["check_beside"]


def check_beside(table: Tensor, argument: str, belief: Belief) -> None:
    """Refuse a table that does not have a row for each instance and a column for each class."""
    expected = (len(belief), belief.n_classes)
    if tuple(table.shape) != expected:
        raise refuse(
            argument,
            f"have shape (instances, class) = {expected}, like the belief",
            f"its shape is {tuple(table.shape)}",
            "pass both for the same instances, in the same order",
        )
