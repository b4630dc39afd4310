"""Columns that name classes: lists of names, text with marks between them, or one name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.table._errors import refused

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Entries", "entries_of"]


class Entries(NamedTuple):
    """The classes that some rows name.

    Attributes:
        row: The row in which each name stands, in ascending order.
        name: The names.
    """

    row: NDArray[np.int64]
    name: pa.Array


def entries_of(
    column: pa.Array, path: Path, name: str, *, several: bool, start: int, ids: Any
) -> Entries:
    """The classes that a column names; a row that is empty names none.

    Args:
        column: Part of the column.
        path: The file, for messages.
        name: What the column is called.
        several: Whether a row may name several classes.
        start: Number of the first row, for messages.
        ids: The ids of all rows, for messages.
    """
    kind = column.type
    if several and _is_list(kind):
        return _of_lists(column, path, name, start, ids)
    texts = _texts(column)
    if texts is None:
        raise _not_names(path, name, kind, several=several)
    if not several:
        return _without_empty(np.arange(len(texts)), pc.utf8_trim_whitespace(texts))
    lists = pc.split_pattern(pc.replace_substring(texts, ";", "|"), "|")
    row = np.arange(len(lists)).repeat(_lengths(lists))
    return _without_empty(row, pc.utf8_trim_whitespace(pc.list_flatten(lists)))


def _of_lists(column: pa.Array, path: Path, name: str, start: int, ids: Any) -> Entries:
    row = np.arange(len(column)).repeat(_lengths(column))
    texts = _texts(pc.list_flatten(column))
    if texts is None:
        raise _not_names(path, name, column.type, several=True)
    entries = _without_empty(row, texts)
    if len(entries.row) < len(row):
        wrong = pc.index(pc.equal(pc.fill_null(texts, ""), ""), True).as_py()
        raise refused(
            path,
            "holds an empty name in its list",
            "name the class, or leave the list itself empty where nothing is known",
            row=start + int(row[wrong]),
            ids=ids,
            column=name,
        )
    return entries


def _texts(column: pa.Array) -> pa.Array | None:
    """Names as large_string; None for what is neither text nor whole numbers."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _texts(pc.cast(column, kind.value_type))
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if text or pa.types.is_string_view(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
        return pc.cast(column, pa.large_string())
    return None


def _without_empty(row: NDArray[np.int64], names: pa.Array) -> Entries:
    named = pc.not_equal(pc.fill_null(names, ""), "")
    if pc.all(named).as_py():
        return Entries(row, names)
    return Entries(row[named.to_numpy(zero_copy_only=False)], names.filter(named))


def _lengths(lists: pa.Array) -> NDArray[np.int64]:
    lengths: NDArray[np.int64] = (
        pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    )
    return lengths


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _not_names(path: Path, name: str, kind: pa.DataType, *, several: bool) -> Exception:
    what = "lists of names, or text with | between them" if several else "the name of a class"
    return refused(path, f"holds {kind}, and not {what}", "write the names", column=name)
