"""Beliefs from tables, arrays and records, joined to the rows of the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import refuse
from tacit.table._errors import refused
from tacit.table._ids import checked_ids
from tacit.table._join import Target, joined
from tacit.table._paths import format_of, located

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs

__all__ = ["read"]


def read(path: str | os.PathLike[str], ids: Any, n_rows: int, asked: Asked) -> Beliefs:
    """Read beliefs; see `tacit.table.read_beliefs`."""
    if n_rows < 1:
        raise refuse("n_rows", "be at least 1", f"it is {n_rows}", "pass len(features)")
    target = Target(n_rows, checked_ids(ids, n_rows))
    place = located(path)
    kind = format_of(place)
    if kind == "folder":
        raise refused(place, "is a folder", "name a file of beliefs")
    if kind in ("parquet", "csv"):
        from tacit.table._belief_tables import from_table

        return from_table(place, kind, target, asked)
    if kind == "json":
        return _from_records(place, target, asked)
    from tacit.table._belief_arrays import from_npy, from_npz

    if kind == "npz":
        return from_npz(place, target, asked)
    if asked.id_column is not None:
        raise refuse(
            "id_column",
            "be left out for .npy",
            f"it is {asked.id_column!r}",
            "save .npz to have ids",
        )
    return from_npy(place, target, asked)


def _from_records(path: Path, target: Target, asked: Asked) -> Beliefs:
    from tacit.table._argilla import votes_of_argilla
    from tacit.table._label_studio import votes_of_label_studio
    from tacit.table._records import read_records
    from tacit.table._wrench import votes_of_wrench

    readers = {
        "argilla": votes_of_argilla,
        "label_studio": votes_of_label_studio,
        "wrench": votes_of_wrench,
    }
    records = read_records(path, asked.id_column)
    join = joined(path, records.ids, len(records.rows), target)
    return readers[records.kind](records, join, asked)
