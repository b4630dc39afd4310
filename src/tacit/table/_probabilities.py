"""Beliefs that are numbers: how likely each class is, up to a factor per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from tacit.beliefs import Categorical
from tacit.table._beliefs import finished
from tacit.table._errors import refused
from tacit.table._memory import room

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join

__all__ = ["probabilities_of"]

_FAR: Final = 1e30
"""Float32 ends at 1e38 and 1e-45: rows whose largest number is beyond this are scaled."""

_LEAST: Final = np.finfo(np.float32).tiny


def probabilities_of(
    parts: Iterable[tuple[int, NDArray[Any]]],
    classes: Sequence[str],
    join: Join,
    path: Path,
    notes: Sequence[str] = (),
) -> Beliefs:
    """The belief that rows of probabilities state.

    Args:
        parts: Some rows after the other, each with the number of its first row, `(rows, class)`.
        classes: The names of the classes.
        join: Which row of the file speaks of which of the features.
        path: The file.
        notes: What is odd about it.
    """
    values = room(path, (join.n_rows, len(classes)))
    if join.row_of is not None:
        values.fill(1.0)  # of rows that the file does not have nothing is known
    n_informed = 0
    for start, part in parts:
        _check(part, start, classes, join.ids, path)
        rows, kept = _placed(start, _narrow(part), join)
        values[rows] = kept
        n_informed += int((kept != kept[:, :1]).any(1).sum())
    belief = Categorical(torch.from_numpy(values), validate=False)
    return finished("probabilities", belief, classes, n_informed, path, (*join.notes, *notes))


def _placed(start: int, part: NDArray[np.float32], join: Join) -> tuple[Any, NDArray[np.float32]]:
    """Where rows go, and those that go somewhere."""
    own = slice(start, start + len(part))
    if join.row_of is None:
        return own, part
    rows = join.row_of[own]
    return rows[rows >= 0], part[rows >= 0]


def _narrow(part: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers as float32; what is possible stays possible, however unlikely it is."""
    if part.dtype == np.float32:
        return part
    largest = part.max(1, keepdims=True)
    far = (largest > _FAR) | (largest < 1 / _FAR)
    scaled = np.where(far, part / largest, part)
    with np.errstate(under="ignore"):
        kept: NDArray[np.float32] = scaled.astype(np.float32)
    kept[(kept == 0) & (part > 0)] = _LEAST
    return kept


def _check(part: NDArray[Any], start: int, names: Sequence[str], ids: Any, path: Path) -> None:
    wrong = ~((part >= 0) & (part < np.inf))
    if wrong.any():
        row, column = (int(axis) for axis in np.argwhere(wrong)[0])
        number = part[row, column]
        raise refused(
            path,
            "is missing or NaN" if np.isnan(number) else f"holds {number}",
            "write a finite number of at least 0, and equal ones where nothing is known",
            row=start + row,
            ids=ids,
            column=names[column],
        )
    nothing = ~part.any(1)
    if nothing.any():
        raise refused(
            path,
            "is all zero, so that it leaves no class",
            "write equal numbers where nothing is known",
            row=start + int(nothing.argmax()),
            ids=ids,
        )
