"""Features from tables, arrays and folders of images."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.errors import refuse
from tacit.table._arrays import Keys, mapped
from tacit.table._errors import refused
from tacit.table._features import Features
from tacit.table._float32 import features_of
from tacit.table._ids import ids_from
from tacit.table._memory import room
from tacit.table._numbers import Inspector, floats, narrowed, stacked
from tacit.table._paths import format_of, located
from tacit.table._tables import feature_columns, id_column_of, open_table

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from tacit.table._sheet import Sheet

__all__ = ["read"]


def read(
    path: str | os.PathLike[str], id_column: str | None, columns: Sequence[str] | None
) -> Features:
    """Read features; see `tacit.table.read_features`."""
    place = located(path)
    kind = format_of(place)
    if kind in ("parquet", "csv"):
        return _from_table(place, kind, id_column, columns)
    if kind == "json":
        raise refused(
            place,
            "holds records, and features are tables, arrays or images",
            "write numbers as Parquet, CSV or .npz",
        )
    _check_absent("columns", columns, place)
    if kind == "npz":
        return _from_npz(place, id_column)
    _check_absent("id_column", id_column, place)
    return _from_npy(place) if kind == "npy" else _from_folder(place)


def _from_table(
    path: Path, kind: str, id_column: str | None, columns: Sequence[str] | None
) -> Features:
    sheet = open_table(path, kind)
    id_name = id_column_of(sheet, id_column)
    names = feature_columns(sheet, id_name, columns)
    values = room(path, (sheet.n_rows, len(names)))
    inspector = Inspector(path, names)
    pieces = _filled(sheet, names, id_name, values, inspector)
    if id_name is None:
        ids = None
        deque(pieces, maxlen=0)
    else:
        ids = ids_from(pieces, path, id_name, typed=sheet.typed)
    return Features(values, ids, names, str(path), inspector.notes())


def _filled(
    sheet: Sheet,
    names: Sequence[str],
    id_name: str | None,
    values: NDArray[np.float32],
    inspector: Inspector,
) -> Iterator[pa.Array | None]:
    """Fill a table part by part; what comes out are the ids of each part."""
    for start, columns in sheet.parts(numbers=names, texts=[id_name] if id_name else []):
        slab = values[start : start + len(columns[names[0]])]
        narrowed(stacked(columns, names), slab)
        ids = columns[id_name] if id_name else None
        inspector.look(
            slab, lambda row, place, at=columns: float(floats(at[names[place]])[row]), ids
        )
        yield ids


def _from_npy(path: Path) -> Features:
    values, notes = features_of(mapped(path), path)
    return Features(values, None, (), str(path), notes)


def _from_npz(path: Path, id_column: str | None) -> Features:
    keys = Keys(path)
    key = keys.the_one(("X", "features", "images"), "features")
    values, notes = features_of(keys.array(key), path)
    ids = keys.ids(id_column)
    if ids is not None and len(ids) != len(values):
        raise refused(
            path,
            f"holds {len(values)} rows under `{key}`, and {len(ids)} ids",
            "save one id for each row",
        )
    return Features(values, ids, (), str(path), notes)


def _from_folder(path: Path) -> Features:
    from tacit.table._images import folder_at, read_images

    folder = folder_at(path)
    values = read_images(folder)
    return Features(values, pa.array(folder.ids, pa.large_string()), (), str(path), folder.notes)


def _check_absent(argument: str, value: Any, path: Path) -> None:
    if value is not None:
        raise refuse(
            argument,
            "be left out where columns have no names",
            f"it is {value!r} for `{path}`",
            "leave it out",
        )
