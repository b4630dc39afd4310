"""Beliefs in Parquet and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.table._classes import enough_classes
from tacit.table._errors import did_you_mean, listed, refused
from tacit.table._join import joined
from tacit.table._kinds import COLUMNS, kind_of_columns, passed_over, votes_in
from tacit.table._numbers import stacked
from tacit.table._pairs import SIDES, pairs_of
from tacit.table._probabilities import probabilities_of
from tacit.table._sets import Column, sets_of_names
from tacit.table._tables import id_column_of, ids_of, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join, Target
    from tacit.table._sheet import Sheet

__all__ = ["from_table"]

Names = tuple[str, ...] | None


def from_table(path: Path, kind: str, target: Target, asked: Asked) -> Beliefs:
    """Read beliefs from a table.

    Args:
        path: The file.
        kind: Its format.
        target: The rows of the features.
        asked: What the caller says.
    """
    sheet = open_table(path, kind)
    id_name = id_column_of(sheet, asked.id_column)
    names = [name for name in sheet.names if name != id_name]
    belief_kind = kind_of_columns(names, sheet.numeric, path)
    if belief_kind == "pairs":
        return _pairs(sheet, target, asked.classes)
    if belief_kind == "votes":
        from tacit.table._vote_rows import votes_of_rows

        return votes_of_rows(sheet, target, asked)
    ids = None if id_name is None else ids_of(sheet, id_name)
    join = joined(path, ids, sheet.n_rows, target)
    if belief_kind == "probabilities":
        return _probabilities(sheet, names, join, asked.classes)
    if belief_kind == "matrix":
        return _votes(sheet, names, join, asked)
    return _sets(sheet, belief_kind, names, join, asked)


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


def _votes(sheet: Sheet, names: Sequence[str], join: Join, asked: Asked) -> Beliefs:
    from tacit.table._vote_matrix import votes_of_columns

    columns = votes_in(names)
    notes = passed_over([name for name in names if name not in columns])
    return votes_of_columns(sheet, columns, join, asked, notes)


def _sets(sheet: Sheet, kind: str, names: Sequence[str], join: Join, asked: Asked) -> Beliefs:
    (name,) = COLUMNS[kind]

    def pieces() -> Iterator[tuple[int, pa.Array]]:
        return ((start, columns[name]) for start, columns in sheet.parts(texts=[name]))

    notes = passed_over([other for other in names if other != name])
    column = Column(sheet.path, name, pieces, join.ids)
    if kind == "observed":
        from tacit.table._observed import observed_of_names

        return observed_of_names(column, asked, join, notes)
    return sets_of_names(column, asked, join, notes)


def _pairs(sheet: Sheet, target: Target, classes: Names) -> Beliefs:
    relation = (columns["relation"] for _, columns in sheet.parts(texts=["relation"]))
    columns = {side: ids_of(sheet, side, unique=False) for side in SIDES}
    columns["relation"] = pa.chunked_array(relation).combine_chunks()
    others = [name for name in sheet.names if name not in COLUMNS["pairs"]]
    return pairs_of(columns, classes, target, sheet.path, passed_over(others))
