"""Tables of any format, and which of their columns are what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from tacit.errors import refuse
from tacit.table._errors import did_you_mean, listed, refused
from tacit.table._ids import ids_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from tacit.table._sheet import Sheet

__all__ = ["checked_column", "feature_columns", "id_column_of", "ids_of", "open_table"]

_ID: Final = "id"
_INDEX: Final = "__index_level_"
"""How pandas calls an index that it stores as a column."""


def open_table(path: Path, kind: str) -> Sheet:
    """Open a Parquet or a CSV file."""
    if kind == "parquet":
        from tacit.table._parquet import Parquet

        return Parquet(path)
    from tacit.table._csv import Csv

    return Csv(path)


def id_column_of(sheet: Sheet, asked: str | None) -> str | None:
    """The column of ids: the one that was asked for, or "id", or none."""
    if asked is not None:
        return checked_column(sheet, asked)
    if _ID in sheet.names:
        return _ID
    alike = [name for name in sheet.names if name.casefold() == _ID or name.startswith(_INDEX)]
    if alike:
        # Read as a feature or as a class it would do harm in silence.
        raise refused(
            sheet.path,
            f"has a column `{alike[0]}`, which seems to hold ids",
            f"pass id_column={alike[0]!r}, or leave it out",
        )
    return None


def ids_of(sheet: Sheet, name: str, *, unique: bool = True) -> pa.Array:
    """The ids in a column."""
    pieces = (columns[name] for _, columns in sheet.parts(texts=[name]))
    return ids_from(pieces, sheet.path, name, typed=sheet.typed, unique=unique)


def checked_column(sheet: Sheet, name: str) -> str:
    """The name of a column; refuses one that is not there."""
    if name not in sheet.names:
        raise refused(
            sheet.path,
            f"has no column `{name}`{did_you_mean(str(name), sheet.names)}",
            f"choose from {listed(sheet.names, 10)}",
        )
    return name


def feature_columns(
    sheet: Sheet, id_name: str | None, asked: Sequence[str] | None
) -> tuple[str, ...]:
    """The columns that are features: those that were asked for, or all but the ids."""
    if asked is not None:
        return _chosen(sheet, id_name, asked)
    names = tuple(name for name in sheet.names if name != id_name)
    if not names:
        raise refused(sheet.path, f"has no column beside `{id_name}`", "add one for each feature")
    return names


def _chosen(sheet: Sheet, id_name: str | None, asked: Sequence[str]) -> tuple[str, ...]:
    names = tuple(asked) if isinstance(asked, Iterable) and not isinstance(asked, str) else ()
    if not all(isinstance(name, str) for name in names) or not names:
        raise refuse("columns", "be a list of names", f"it is {asked!r}", 'pass ["a", "b"]')
    for name in names:
        checked_column(sheet, name)
    if len(set(names)) < len(names) or id_name in names:
        raise refuse(
            "columns",
            "name each feature once, and not the ids",
            f"it is {listed(names)}",
            "leave it out to take all columns but the ids",
        )
    return names
