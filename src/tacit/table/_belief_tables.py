"""Beliefs in Parquet and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.table._classes import enough_classes
from tacit.table._errors import did_you_mean, listed, refused
from tacit.table._join import joined
from tacit.table._kinds import COLUMNS, kind_of_columns, passed_over
from tacit.table._numbers import stacked
from tacit.table._pairs import SIDES, pairs_of
from tacit.table._probabilities import probabilities_of
from tacit.table._sets import Column, sets_of_names
from tacit.table._tables import id_column_of, ids_of, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join, Target
    from tacit.table._sheet import Sheet

__all__ = ["from_table"]

Names = tuple[str, ...] | None


def from_table(
    path: Path, kind: str, target: Target, classes: Names, id_column: str | None
) -> Beliefs:
    """Read beliefs from a table.

    Args:
        path: The file.
        kind: Its format.
        target: The rows of the features.
        classes: The names of the classes, where the caller gives them.
        id_column: The column of ids, where the caller names it.
    """
    sheet = open_table(path, kind)
    id_name = id_column_of(sheet, id_column)
    names = [name for name in sheet.names if name != id_name]
    belief_kind = kind_of_columns(names, sheet.numeric, path)
    if belief_kind == "pairs":
        return _pairs(sheet, target, classes)
    ids = None if id_name is None else ids_of(sheet, id_name)
    join = joined(path, ids, sheet.n_rows, target)
    if belief_kind == "probabilities":
        return _probabilities(sheet, names, join, classes)
    return _sets(sheet, belief_kind, names, join, classes)


def _probabilities(sheet: Sheet, names: Sequence[str], join: Join, classes: Names) -> Beliefs:
    own = classes or tuple(names)
    _check_columns(sheet, names, own)
    notes = passed_over([name for name in names if name not in own])
    return probabilities_of(_rows(sheet, own), own, join, sheet.path, notes)


def _rows(sheet: Sheet, classes: Sequence[str]) -> Iterator[tuple[int, NDArray[Any]]]:
    for start, columns in sheet.parts(numbers=classes):
        yield start, stacked(columns, classes)


def _check_columns(sheet: Sheet, names: Sequence[str], classes: Sequence[str]) -> None:
    enough_classes(classes, sheet.path)
    missing = [name for name in classes if name not in names]
    unknown = [name for name in names if name not in classes and name in sheet.numeric]
    if unknown:
        name = unknown[0]
        raise refused(
            sheet.path,
            f"has numbers for `{name}`, which is no class{did_you_mean(name, classes)}",
            f"call it one of {listed(classes)}, or leave it out",
        )
    if missing:
        raise refused(
            sheet.path,
            f"has no column for the class `{missing[0]}`{did_you_mean(missing[0], names)}",
            "add one, of zeros if it never occurs",
        )


def _sets(sheet: Sheet, kind: str, names: Sequence[str], join: Join, classes: Names) -> Beliefs:
    (name,) = COLUMNS[kind]

    def pieces() -> Iterator[tuple[int, pa.Array]]:
        return ((start, columns[name]) for start, columns in sheet.parts(texts=[name]))

    notes = passed_over([other for other in names if other != name])
    return sets_of_names(Column(sheet.path, name, pieces, join.ids), classes, join, notes)


def _pairs(sheet: Sheet, target: Target, classes: Names) -> Beliefs:
    relation = (columns["relation"] for _, columns in sheet.parts(texts=["relation"]))
    columns = {side: ids_of(sheet, side, unique=False) for side in SIDES}
    columns["relation"] = pa.chunked_array(relation).combine_chunks()
    others = [name for name in sheet.names if name not in COLUMNS["pairs"]]
    return pairs_of(columns, classes, target, sheet.path, passed_over(others))
