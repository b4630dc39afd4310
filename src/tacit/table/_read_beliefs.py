"""Beliefs from tables and arrays, joined to the rows of the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import refuse
from tacit.table._classes import class_names
from tacit.table._errors import refused
from tacit.table._ids import checked_ids
from tacit.table._join import Target
from tacit.table._paths import format_of, located

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from tacit.table._beliefs import Beliefs

__all__ = ["read"]


def read(
    path: str | os.PathLike[str],
    ids: Any,
    n_rows: int,
    classes: Sequence[str] | int | None,
    id_column: str | None,
) -> Beliefs:
    """Read beliefs; see `tacit.table.read_beliefs`."""
    if n_rows < 1:
        raise refuse("n_rows", "be at least 1", f"it is {n_rows}", "pass len(features)")
    target = Target(n_rows, checked_ids(ids, n_rows))
    names = None if classes is None else class_names(classes)
    place = located(path)
    kind = format_of(place)
    if kind == "folder":
        raise refused(place, "is a folder", "name a file of beliefs")
    if kind in ("parquet", "csv"):
        from tacit.table._belief_tables import from_table

        return from_table(place, kind, target, names, id_column)
    from tacit.table._belief_arrays import from_npy, from_npz

    if kind == "npz":
        return from_npz(place, target, names, id_column)
    if id_column is not None:
        raise refuse(
            "id_column", "be left out for .npy", f"it is {id_column!r}", "save .npz to have ids"
        )
    return from_npy(place, target, names)
