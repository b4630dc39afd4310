"""Transitions from Parquet, CSV and `.npy` files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tacit.errors import InvalidInputError
from tacit.sources._transition import check_transition
from tacit.table._arrays import mapped
from tacit.table._errors import listed, refused, shown
from tacit.table._named_table import named_table
from tacit.table._paths import format_of, located
from tacit.table._transition import Transition

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from torch import Tensor

__all__ = ["read"]


def read(path: str | os.PathLike[str]) -> Transition:
    """Read a transition; see `tacit.table.read_transition`."""
    place = located(path)
    found = _of_array(place) if format_of(place) == "npy" else _of_table(place)
    try:
        check_transition(found.table)
    except InvalidInputError as error:
        reason = shown(str(error).rstrip("."), 240)
        raise refused(place, f"holds no transition ({reason})", "mend it") from error
    return found


def _of_array(path: Path) -> Transition:
    array = mapped(path)
    if array.dtype.kind not in "fiu":
        raise refused(path, f"holds {array.dtype}", "save numbers, (class, written)")
    return Transition(None, torch.from_numpy(np.array(array, dtype=np.float64)))


def _of_table(path: Path) -> Transition:
    true, written, table = named_table(path, "transition")
    odd = sorted({*true} ^ {*written})
    if odd:
        raise refused(
            path,
            f"has rows of {listed(true)} and columns of {listed(written)}, and {listed(odd, 3)} is "
            "in one of the two only",
            "give each class a row, for where it is true, and a column, for where it is written",
        )
    return Transition(true, _ordered(table, written, true))


def _ordered(table: Tensor, written: tuple[str, ...], true: tuple[str, ...]) -> Tensor:
    return table[:, [written.index(name) for name in true]]
