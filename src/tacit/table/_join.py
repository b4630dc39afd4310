"""Which row of a file speaks of which row of the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tacit.table._errors import listed, refused
from tacit.table._ids import places_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Join", "Target", "joined", "rows_named"]


@dataclass(frozen=True, eq=False)
class Target:
    """The rows of the features.

    Attributes:
        n_rows: How many there are.
        ids: What they are called; None where they go by their numbers.
    """

    n_rows: int
    ids: pa.Array | None


@dataclass(frozen=True, eq=False)
class Join:
    """Which row of a file speaks of which row of the features.

    Attributes:
        n_rows: Number of the features' rows.
        row_of: The features' row for each of the file's, -1 for none; None where they are the same.
        ids: The ids of the file's rows.
        notes: What is odd.
    """

    n_rows: int
    row_of: NDArray[np.int64] | None
    ids: pa.Array | None
    notes: tuple[str, ...] = ()

    def order(self) -> NDArray[np.int64] | None:
        """The file's row for each of the features', one beyond the last for none."""
        if self.row_of is None:
            return None
        found = np.flatnonzero(self.row_of >= 0)
        order = np.full(self.n_rows, len(self.row_of))
        order[self.row_of[found]] = found
        return order

    def placed(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of the file's rows as numbers of the features' rows, -1 for none."""
        order = self.order()
        return numbers if order is None else np.append(numbers, -1)[order]


def joined(path: Path, ids: pa.Array | None, n_rows: int, target: Target) -> Join:
    """Join the rows of a file to those of the features.

    Args:
        path: The file.
        ids: The ids of its rows.
        n_rows: How many rows it has.
        target: The rows of the features.
    """
    if ids is None:
        return _by_position(path, None, n_rows, target)
    if target.ids is None and not pa.types.is_int64(ids.type):
        return _by_position(path, ids, n_rows, target)
    if target.ids is not None and ids.equals(target.ids):
        return Join(target.n_rows, None, ids)
    rows = rows_named(ids, target)
    lost = np.flatnonzero(rows < 0)
    if target.ids is None and len(lost):
        raise refused(
            path,
            f"has an id that is no row of the features, which have no ids and go by their numbers, "
            f"from 0 to {target.n_rows - 1}",
            "write those numbers, or leave the ids out if the rows are in the same order",
            row=int(lost[0]),
            ids=ids,
        )
    return Join(target.n_rows, rows, ids, _lost(path, ids, lost, target.ids))


def rows_named(ids: pa.Array, target: Target) -> NDArray[np.int64]:
    """The features' rows of some ids, -1 for those that are unknown."""
    if target.ids is not None:
        return places_of(ids, target.ids)
    if not pa.types.is_int64(ids.type):
        return np.full(len(ids), -1)
    numbers = ids.to_numpy(zero_copy_only=False)
    return np.where((numbers >= 0) & (numbers < target.n_rows), numbers, -1)


def _by_position(path: Path, ids: pa.Array | None, n_rows: int, target: Target) -> Join:
    if n_rows != target.n_rows:
        raise refused(
            path,
            f"has {n_rows} rows, and the features have {target.n_rows}",
            "give both a column of ids, or the same rows in the same order",
        )
    one_sided = (ids is None) != (target.ids is None)
    who = "the features have" if target.ids is None else "the file has"
    note = f"Rows were joined by position, as {who} no ids."
    return Join(n_rows, None, ids, (note,) if one_sided else ())


def _lost(
    path: Path, ids: pa.Array, lost: NDArray[np.int64], known: pa.Array | None
) -> tuple[str, ...]:
    """What to say of rows whose ids are none of the features'."""
    if not len(lost):
        return ()
    named = listed(ids.take(pa.array(lost)).unique()[:6])
    if len(lost) == len(ids):
        there = listed(known[:6] if known is not None else ())
        raise refused(
            path,
            f"has no id that the features have: {named} here, {there} there",
            "look for ids that are written in another way, or for the wrong file",
        )
    return (
        f"{len(lost)} of {len(ids)} rows were passed over, as no features have their ids: {named}.",
    )
