"""Labels by name, or by the places of their classes, in a file; for a look or to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from tacit.errors import refuse
from tacit.table._arrays import Keys, mapped
from tacit.table._classes import codes_of, in_order
from tacit.table._entries import entries_of
from tacit.table._errors import listed, refused
from tacit.table._join import joined
from tacit.table._kinds import passed_over
from tacit.table._paths import format_of, located
from tacit.table._tables import id_column_of, ids_of, open_table

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table._join import Target

__all__ = ["Labels", "read_labels"]

_CALLED: Final = ("label", "truth", "class")
"""What the column of true labels may be called."""


class _Stated(NamedTuple):
    """Labels as they stand in a file.

    Attributes:
        column: Where they stand.
        pieces: Them, part by part, each with the number of its first row.
        n_rows: Number of rows.
        ids: The ids of the rows, where there are any.
        notes: What is odd about the file.
    """

    column: str
    pieces: Iterable[tuple[int, pa.Array]]
    n_rows: int
    ids: pa.Array | None
    notes: tuple[str, ...] = ()


class Labels(NamedTuple):
    """Labels of the rows that somebody asks about.

    Attributes:
        numbers: Their classes, -1 where unknown, `(rows,)`.
        classes: The names of the classes.
        notes: What is odd without being wrong.
    """

    numbers: NDArray[np.int64]
    classes: tuple[str, ...]
    notes: tuple[str, ...]


def read_labels(
    path: str | os.PathLike[str],
    target: Target,
    *,
    classes: Sequence[str] | None = None,
    id_column: str | None = None,
) -> Labels:
    """Read labels; see `tacit.table.read_truth` for what the file may be.

    Args:
        path: The file.
        target: The rows that are asked about.
        classes: The names of the classes; None for all that the file names, sorted.
        id_column: The column of ids.
    """
    place = located(path)
    found = _found(place, classes, id_column)
    join = joined(place, found.ids, found.n_rows, target)
    entries = [*_entries(found, place)] if classes is None else _entries(found, place)
    known = in_order(_named(entries), place) if classes is None else tuple(classes)
    labels = np.full(target.n_rows, -1)
    for row, name in entries:
        codes = codes_of(name, known, place, found.column, rows=row, ids=found.ids)
        item = row if join.row_of is None else join.row_of[row]
        labels[item[item >= 0]] = codes[item >= 0]
    return Labels(labels, known, (*join.notes, *found.notes))


def _entries(found: _Stated, path: Path) -> Iterator[tuple[NDArray[np.int64], pa.Array]]:
    """The rows that have a label, part by part, and what it is."""
    for start, piece in found.pieces:
        row, name = entries_of(piece, path, found.column, several=False, start=start, ids=found.ids)
        yield row + start, name


def _named(entries: Iterable[tuple[Any, pa.Array]]) -> set[str]:
    return set().union(*(name.unique().to_pylist() for _, name in entries))


def _found(path: Path, classes: Sequence[str] | None, id_column: str | None) -> _Stated:
    kind = format_of(path)
    if kind == "npy":
        return _of_array(path, classes, id_column)
    if kind == "npz":
        keys = Keys(path)
        name = _column(keys.names, path)
        column = keys.column(name)
        ids = keys.ids(id_column)
        if ids is not None and len(ids) != len(column):
            raise refused(path, f"holds {len(column)} labels and {len(ids)} ids", "save one each")
        return _Stated(name, [(0, column)], len(column), ids)
    if kind not in ("parquet", "csv"):
        raise refused(
            path, "holds no labels in a form that is read", "write a column `label` as CSV"
        )
    sheet = open_table(path, kind)
    id_name = id_column_of(sheet, id_column)
    others = [name for name in sheet.names if name != id_name]
    name = _column(others, path)
    pieces = ((start, columns[name]) for start, columns in sheet.parts(texts=[name]))
    notes = passed_over([other for other in others if other != name])
    return _Stated(name, pieces, sheet.n_rows, id_name and ids_of(sheet, id_name), notes)


def _column(names: Sequence[str], path: Path) -> str:
    """The column of the labels: the one that is called so."""
    found = [name for name in names if name.casefold() in _CALLED]
    if len(found) == 1:
        return found[0]
    what = f"may hold true labels in {' or in '.join(f'`{name}`' for name in found)}"
    if not found:
        what = f"holds no true labels, as its columns are {listed(names) or 'ids alone'}"
    raise refused(path, what, "call one column `label`, and no other `truth` or `class`")


def _of_array(path: Path, classes: Sequence[str] | None, id_column: str | None) -> _Stated:
    """An array of places of classes, from 0 and -1 where unknown, or of their names."""
    if id_column is not None:
        raise refuse(
            "id_column", "be left out for .npy", f"it is {id_column!r}", "save .npz to have ids"
        )
    array = mapped(path)
    if array.ndim != 1 or array.dtype.kind not in "iuU":
        raise refused(
            path,
            f"holds an array of {array.dtype} with shape {array.shape}",
            "save one whole number for each row, the place of its class from 0 and -1 where it is "
            "unknown, or the names of the classes",
        )
    if array.dtype.kind == "U":
        return _Stated(
            "label", [(0, pa.array(array.tolist(), pa.large_string()))], len(array), None
        )
    if classes is None:
        classes = tuple(map(str, range(int(array.max(initial=1)) + 1)))
    wrong = (array < -1) | (array >= len(classes))
    if wrong.any():
        row = int(wrong.argmax())
        raise refused(
            path,
            f"holds {array[row]}, and there are {len(classes)} classes",
            "write the place of a class, from 0, or -1 where it is unknown",
            row=row,
        )
    names = pa.array(classes, pa.large_string()).take(pa.array(array, pa.int64(), mask=array < 0))
    return _Stated("label", [(0, names)], len(array), None)
