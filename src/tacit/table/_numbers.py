"""Numbers on their way into a table of float32, and what to say of those that cannot go there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.table._errors import listed, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Inspector", "floats", "narrowed", "stacked"]


def floats(column: pa.Array) -> NDArray[Any]:
    """A column of numbers as floating-point numbers, NaN where one is missing."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if not pa.types.is_floating(column.type):
        # Whole numbers beyond 2^53 are rounded, as float32 would round them in any case.
        column = pc.cast(column, pa.float64(), safe=False)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values.astype(np.result_type(values, np.float32), copy=False)


def stacked(columns: Mapping[str, pa.Array], names: Sequence[str]) -> NDArray[Any]:
    """Columns of numbers side by side, `(rows, column)`."""
    # Turned over afterwards, which is four times as fast as to write column by column.
    return np.stack([floats(columns[name]) for name in names]).T


def narrowed(values: NDArray[Any], into: NDArray[np.float32]) -> None:
    """Store numbers as float32; those beyond its range become infinite, and are found there."""
    with np.errstate(over="ignore", under="ignore"):
        into[...] = values


class Inspector:
    """Looks at features slab by slab: refuses what is not finite, notes what never changes.

    Args:
        path: The file, for messages.
        names: The names of the features; empty if they have none.
    """

    def __init__(self, path: Path, names: Sequence[str] = ()) -> None:
        self._path, self._names = path, names
        self._first: NDArray[np.float32] | None = None
        self._varies = np.zeros(0, dtype=bool)
        self._n_rows = 0

    def look(
        self, slab: NDArray[np.float32], source: Callable[..., float], ids: Any = None
    ) -> None:
        """Look at some rows, which follow those before.

        Args:
            slab: The numbers as they are kept.
            source: The number as it came, by its place in the slab, for messages.
            ids: The ids of these rows.
        """
        if not np.isfinite(slab).all():
            place = tuple(int(axis) for axis in np.argwhere(~np.isfinite(slab))[0])
            raise self._refusal(place, source(*place), ids)
        if slab.ndim == 2:
            self._compare(slab)
        self._n_rows += len(slab)

    def notes(self) -> tuple[str, ...]:
        """What is odd about all rows."""
        if self._n_rows < 2 or self._varies.all():
            return ()
        constant = [self._name(column) for column in np.flatnonzero(~self._varies)]
        return (
            f"{len(constant)} of {len(self._varies)} features are the same in all rows: "
            f"{listed(constant)}.",
        )

    def _compare(self, slab: NDArray[np.float32]) -> None:
        if self._first is None:
            self._first, self._varies = slab[0].copy(), np.zeros(slab.shape[1], dtype=bool)
        same = np.flatnonzero(~self._varies)
        if len(same):
            self._varies[same] = (slab[:, same] != self._first[same]).any(0)

    def _name(self, column: Any) -> str:
        return self._names[column] if self._names else str(column)

    def _refusal(self, place: tuple[int, ...], number: float, ids: Any) -> Exception:
        row, *rest = place
        table = len(rest) == 1
        where = "" if table else f"at {tuple(rest)} "
        return refused(
            self._path,
            f"{where}{_fault(number)}",
            "fill it in, or leave the row or the feature out",
            row=self._n_rows + row,
            ids=None if ids is None else {self._n_rows + row: ids[row]},
            column=self._name(rest[0]) if table else None,
        )


def _fault(number: float) -> str:
    if math.isnan(number):
        return "is missing or NaN"
    return "is infinite" if math.isinf(number) else f"is {number}, beyond the range of float32"
