"""The rows that a file of beliefs speaks of, when no features say which there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from tacit.table._arrays import Keys, mapped
from tacit.table._join import Target
from tacit.table._kinds import kind_of_columns, kind_of_keys
from tacit.table._pairs import SIDES
from tacit.table._paths import format_of, located
from tacit.table._records import read_records
from tacit.table._tables import id_column_of, ids_of, open_table
from tacit.table._vote_rows import item_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.table._sheet import Sheet

__all__ = ["own_rows"]


def own_rows(paths: Sequence[str], id_column: str | None) -> Target:
    """The rows of files themselves: as many as they have, called as they call them.

    Pairs and votes speak of the instances that they name. Of several files all that any of them
    names are meant; where none names any, they have as many rows as the first.
    """
    found = [_own_rows(path, id_column) for path in paths]
    ids = [rows.ids for rows in found if rows.ids is not None]
    return _named(ids) if len(found) > 1 and ids else found[0]


def _own_rows(path: str, id_column: str | None) -> Target:
    place = located(path)
    kind = format_of(place)
    if kind in ("parquet", "csv"):
        return _of_table(open_table(place, kind), id_column)
    if kind == "npz":
        return _of_keys(Keys(place), id_column)
    if kind == "json":
        records = read_records(place, id_column)
        return Target(len(records.rows), records.ids)
    return Target(len(mapped(place)), None)


def _of_table(sheet: Sheet, id_column: str | None) -> Target:
    id_name = id_column_of(sheet, id_column)
    names = [name for name in sheet.names if name != id_name]
    kind = kind_of_columns(names, sheet.numeric, sheet.path)
    if kind == "pairs":
        return _named([ids_of(sheet, side, unique=False) for side in SIDES])
    if kind == "votes":
        item = item_of(sheet.names, id_column, sheet.path)
        return _named([ids_of(sheet, item, unique=False)])
    if id_name is None:
        return Target(sheet.n_rows, None)
    return Target(sheet.n_rows, ids_of(sheet, id_name))


def _of_keys(keys: Keys, id_column: str | None) -> Target:
    names = [name for name in keys.names if name not in ("classes", id_column)]
    kind = kind_of_keys(names, keys.path)
    if kind == "pairs":
        return _named([keys.ids_at(side, unique=False) for side in SIDES])
    if kind == "votes":
        item = item_of(keys.names, id_column, keys.path)
        return _named([keys.ids_at(item, unique=False)])
    key = {"probabilities": "beliefs", "labels": "label", "matrix": "votes"}.get(kind, kind)
    return Target(len(keys.array(key)), keys.ids(id_column))


def _named(sides: list[pa.Array]) -> Target:
    """The instances that pairs or votes name, each once."""
    if len({side.type for side in sides}) > 1:
        sides = [side.cast(pa.large_string()) for side in sides]
    ids = pa.chunked_array(sides).unique()
    return Target(len(ids), ids)
