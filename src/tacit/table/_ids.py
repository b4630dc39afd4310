"""Ids: whole numbers or text, none missing, none twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.errors import refuse
from tacit.table._errors import refused, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["checked_ids", "first_repeated", "ids_from", "numbers_of", "places_of"]


def checked_ids(ids: Any, n_rows: int) -> pa.Array | None:
    """The ids that a caller gives, as an array of int64 or large_string.

    Args:
        ids: An array, a list, or None.
        n_rows: How many there must be.
    """
    if ids is None:
        return None
    if len(ids) != n_rows:
        raise refuse(
            "ids", f"name {n_rows} rows", f"it names {len(ids)}", "pass one id for each row"
        )
    plain = _plain(array := _array(ids))
    if plain is None:
        raise _not_ids(f"it holds {shown(array[0])}")
    if (row := _first_missing(plain)) is not None:
        raise refuse("ids", "name each row", f"row {row} has none", "give it one, or leave it out")
    if (rows := first_repeated(plain)) is not None:
        raise refuse(
            "ids",
            "be different",
            f"rows {rows[0]} and {rows[1]} are both called {shown(plain[rows[1]])}",
            "keep one of the two, or give them ids of their own",
        )
    return plain


def ids_from(
    pieces: Iterable[pa.Array], path: Path, column: str, *, typed: bool, unique: bool = True
) -> pa.Array:
    """Ids that come out of a file, as an array of int64 or large_string.

    Args:
        pieces: The column, part by part.
        path: The file.
        column: What the column is called there.
        typed: Whether the file says what is a number and what is text; otherwise ids are numbers if
            all of them are written as numbers are.
        unique: Whether an id may come only once.
    """
    taken: list[pa.Array] = []
    numbers = True
    start = 0
    for piece in pieces:
        part = _checked(piece, path, column, start)
        if not typed and numbers:
            part, numbers = numbers_of(part)
        numbers = numbers and pa.types.is_int64(part.type)
        taken.append(part)
        start += len(part)
    ids = pa.chunked_array(taken if numbers else map(_text, taken)).combine_chunks()
    if unique and (rows := first_repeated(ids)) is not None:
        raise refused(
            path,
            f"is the second with this id, after row {rows[0]}",
            "keep one of the two",
            row=rows[1],
            ids=ids,
            column=column,
        )
    return ids


def numbers_of(texts: pa.Array) -> tuple[pa.Array, bool]:
    """Texts as int64 and True, if each is the way in which its number is written; else themselves.

    Example:
        >>> numbers_of(pa.array(["7", "10"]))[1], numbers_of(pa.array(["007", "10"]))[1]
        (True, False)
    """
    try:
        numbers = pc.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        return texts, False
    same = pc.all(pc.equal(pc.cast(numbers, texts.type), texts)).as_py()
    return (numbers, True) if same else (texts, False)


def first_repeated(ids: pa.Array) -> tuple[int, int] | None:
    """The rows of the first id that comes again.

    Example:
        >>> first_repeated(pa.array(["a", "b", "c", "b"]))
        (1, 3)
    """
    if len(ids) < 2 or pc.all(pc.less(ids[:-1], ids[1:])).as_py():
        return None
    # Values are numbered as they come: up to the first repetition each has its row's number.
    codes = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    moved = codes != np.arange(len(codes), dtype=codes.dtype)
    row = int(moved.argmax())
    return (int(codes[row]), row) if moved[row] else None


def places_of(wanted: pa.Array, ids: pa.Array) -> NDArray[np.int64]:
    """At which place among `ids` each wanted id stands; -1 for none. A number joins its text.

    Example:
        >>> places_of(pa.array([7, 8]), pa.array(["007", "7"], pa.large_string())).tolist()
        [1, -1]
    """
    if wanted.type != ids.type:
        wanted, ids = _text(wanted), _text(ids)
    places = pc.fill_null(pc.index_in(wanted, value_set=ids), -1)
    found: NDArray[np.int64] = places.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _checked(piece: pa.Array, path: Path, column: str, start: int) -> pa.Array:
    plain = _plain(piece)
    if plain is None:
        raise refused(
            path,
            f"holds {piece.type}, and ids are whole numbers or text",
            "convert them to text",
            column=column,
        )
    if (row := _first_missing(plain)) is not None:
        raise refused(
            path,
            "has no id",
            "give the row one, or leave it out",
            row=start + row,
            column=column,
        )
    return plain


def _array(ids: Any) -> pa.Array:
    if isinstance(ids, pa.ChunkedArray):
        return ids.combine_chunks()
    try:
        return ids if isinstance(ids, pa.Array) else pa.array(ids)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _not_ids(f"pyarrow says: {error}".splitlines()[0].rstrip(". ")) from error


def _plain(ids: pa.Array) -> pa.Array | None:
    """As int64 or large_string; None for ids that are neither numbers nor text."""
    kind = ids.type
    if pa.types.is_dictionary(kind):
        return _plain(pc.cast(ids, kind.value_type))
    if pa.types.is_integer(kind):
        huge = pa.types.is_uint64(kind) and (pc.max(ids).as_py() or 0) >= 1 << 63
        return _text(ids) if huge else pc.cast(ids, pa.int64())
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if text or pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return _text(ids)
    return None


def _text(ids: pa.Array) -> pa.Array:
    return pc.cast(ids, pa.large_string())


def _first_missing(ids: pa.Array) -> int | None:
    missing = pc.is_null(ids)
    if pa.types.is_large_string(ids.type):
        missing = pc.or_(missing, pc.equal(pc.fill_null(ids, ""), ""))
    row = pc.index(missing, True).as_py()
    return row if row >= 0 else None


def _not_ids(got: str) -> Exception:
    return refuse(
        "ids", "be whole numbers or text", got, "convert them, as in [str(each) for each in ids]"
    )
