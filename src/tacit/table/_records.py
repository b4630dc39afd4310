"""Records in JSON and JSON lines: what exports of labelling tools and of benchmarks are made of."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from tacit.table._errors import did_you_mean, listed, reading, refused
from tacit.table._ids import ids_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Records", "read_records"]

_TELLING: Final = {
    "weak_labels": "wrench",
    "annotations": "label_studio",
    "responses": "argilla",
    "suggestions": "argilla",
}
"""Keys of a record that stand for one kind of export."""

_INSIDE: Final = ("data", "metadata", "fields")
"""Where an export keeps what the record was made of, an id of one's own among it."""


class Records(NamedTuple):
    """Records of a file.

    Attributes:
        path: The file.
        kind: Whose they are: "wrench", "label_studio" or "argilla".
        rows: The records, at least one.
        ids: Their ids, each another; None if they have none.
    """

    path: Path
    kind: str
    rows: Sequence[dict[str, Any]]
    ids: pa.Array | None


def read_records(path: Path, id_column: str | None = None) -> Records:
    """Read records; their keys tell whose they are.

    Args:
        path: A file of a list of records, of records by id, or of one on each line; it may be
            compressed by gzip.
        id_column: The key of the ids; unless given, "id" if there is one.
    """
    names, rows = _lines(path) if ".jsonl" in path.name.lower() else _whole(path)
    for row, record in enumerate(rows):
        if not isinstance(record, dict):
            raise refused(path, "holds no record but a value", "write records in {}", row=row)
    if not rows:
        raise refused(path, "holds no records", "write at least one")
    ids = _ids(path, rows, id_column) if names is None or id_column else _typed(path, names)
    return Records(path, _kind(path, rows), rows, ids)


def _lines(path: Path) -> tuple[None, list[Any]]:
    rows: list[Any] = []
    with reading(path, "JSON lines"):
        for number, line in enumerate(_text(path).split("\n")):
            if line.strip():
                try:
                    rows.append(_parsed(line))
                except ValueError as error:
                    raise ValueError(f"line {number + 1}: {error}") from error
    return None, rows


def _whole(path: Path) -> tuple[list[str] | None, list[Any]]:
    """Records, and what they are called where they are the values of an object."""
    with reading(path, "JSON"):
        found = _parsed(_text(path))
    if isinstance(found, list):
        return None, found
    if isinstance(found, dict) and set(_TELLING) & set(found):
        return None, [found]
    if isinstance(found, dict):
        return list(found), list(found.values())
    raise refused(path, "holds a value and no records", "write a list of records")


def _text(path: Path) -> str:
    content = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        content = gzip.decompress(content)
    return content.decode("utf-8-sig")


def _parsed(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} comes twice in one object")
    return found


def _kind(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    key = next((key for key in rows[0] if key in _TELLING), None)
    if key is None:
        near = next(filter(None, (did_you_mean(name, _TELLING) for name in rows[0])), "")
        raise refused(
            path,
            f"tells no kind of belief by the keys {listed(list(rows[0])) or 'of its records'}"
            f"{near}",
            f"save records with one of {listed(list(_TELLING))}",
            row=0,
        )
    kind = _TELLING[key]
    keys = [each for each in _TELLING if _TELLING[each] == kind]
    for row, record in enumerate(rows):
        if not set(keys) & set(record):
            raise refused(
                path, f"has no `{key}`, as records before have", "add it, or leave it out", row=row
            )
    return kind


def _ids(path: Path, rows: Sequence[dict[str, Any]], asked: str | None) -> pa.Array | None:
    key = asked or "id"
    found = [_named(record, key, own=asked is None) for record in rows]
    if asked is None and all(each is None for each in found):
        return None
    for row, each in enumerate(found):
        if isinstance(each, bool) or not isinstance(each, int | str):
            what = "has no id" if each is None else "has an id that is neither number nor text"
            raise refused(path, what, "give each record one", row=row, column=key)
    return _typed(path, [str(each) for each in found], key)


def _named(record: dict[str, Any], key: str, *, own: bool) -> Any:
    """What a record has under a key, or what it was made of has."""
    inside = [] if own else [record.get(name) for name in _INSIDE]
    places = [record, *(each for each in inside if isinstance(each, dict))]
    return next((each[key] for each in places if each.get(key) is not None), None)


def _typed(path: Path, names: Sequence[str], key: str = "id") -> pa.Array:
    with reading(path, "JSON"):
        texts = pa.array(names, pa.large_string())
    return ids_from([texts], path, key, typed=False)
