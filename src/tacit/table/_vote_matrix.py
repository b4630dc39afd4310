"""Votes as a matrix: a column for each source, -1 where it abstains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.sources import Votes
from tacit.table._classes import axis_of, codes_of, enough_classes
from tacit.table._entries import entries_of
from tacit.table._errors import refused
from tacit.table._memory import slabs
from tacit.table._numbers import stacked
from tacit.table._votes import Ballots, believed, believed_names, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join
    from tacit.table._sheet import Sheet

__all__ = ["votes_of_columns", "votes_of_matrix", "votes_of_shares", "whole_parts"]

Names = tuple[str, ...] | None

_MOST: Final = 1 << 24
"""Classes that a number in a matrix may stand for."""

_UNNAMED: Final = 1 << 16
"""The same where nobody says how many there are."""


def votes_of_columns(
    sheet: Sheet, columns: Sequence[str], join: Join, asked: Asked, notes: Sequence[str]
) -> Beliefs:
    """Votes in the columns of a table: numbers of classes from 0, or names of classes."""
    if set(columns) & sheet.numeric:
        names = (asked.classes, None)
        parts = _numbers(sheet, columns)
        return votes_of_matrix(parts, columns, names, join, asked, sheet.path, notes)
    ballots = _named(sheet, columns, join, asked.classes)
    own = (asked.classes, join, asked.votes, sheet.path, notes)
    return believed_names(ballots, columns, *own, all_asked=True)


def votes_of_matrix(
    parts: Iterable[tuple[int, NDArray[Any]]],
    sources: Sequence[str],
    names: tuple[Names, Names],
    join: Join,
    asked: Asked,
    path: Path,
    notes: Sequence[str] = (),
) -> Beliefs:
    """Votes as numbers of classes, from 0; -1 or NaN abstains.

    Args:
        parts: Some rows after the other, each with the number of its first row, `(rows, source)`.
        sources: The names of the sources.
        names: The names of the classes that the caller gives, and that the file holds.
        join: Which row of the file speaks of which of the features.
        asked: What the caller says.
        path: The file.
        notes: What is odd about it.
    """
    votes_of_parts: list[tuple[Any, ...]] = []
    for start, part in parts:
        said = _checked(part, start, sources, join.ids, path)
        row, source = np.nonzero(said >= 0)
        votes_of_parts.append((start + row, source, said[row, source]))
    row, source, answer = map(np.concatenate, zip(*votes_of_parts, strict=True))
    if not any(names):
        _check_unnamed(answer, (row, source), sources, join.ids, path)
    classes, places = _axis(answer, names, path)
    _check_known(answer, len(places), (row, source), sources, join.ids, path)
    sizes = (len(sources), len(classes))
    said = np.asarray(places)[answer]
    votes = counted(join, row, source, said, None, sizes, all_asked=True)
    return believed(votes, sources, classes, asked.votes, join, path, notes)


def votes_of_shares(
    shares: NDArray[Any],
    sources: Sequence[str],
    names: tuple[Names, Names],
    join: Join,
    asked: Asked,
    path: Path,
) -> Beliefs:
    """Soft votes, `(rows, sources, class)`: how each source spreads over the classes.

    Args:
        shares: At least 0; a row of zeros or NaN abstains.
        sources: The names of the sources.
        names: The names of the classes that the caller gives, and that the file holds.
        join: Which row of the file speaks of which of the features.
        asked: What the caller says.
        path: The file.
    """
    classes, places = axis_of(shares.shape[2], *names, path)
    table = shares[:, :, places]
    wrong = ~((table >= 0) & (table < np.inf)) & ~np.isnan(table).all(-1, keepdims=True)
    if wrong.any():
        at = tuple(int(axis) for axis in np.argwhere(wrong)[0])
        raise refused(
            path,
            f"holds {table[at]} for the class {classes[at[2]]}",
            "write a finite number of at least 0, and zeros where the source abstains",
            row=at[0],
            ids=join.ids,
            column=sources[at[1]],
        )
    soft = Votes.from_soft(table.astype(np.float64))
    row, source, answer = (each.numpy() for each in (soft.item, soft.source, soft.answer))
    sizes = (len(sources), len(classes))
    weight = soft.weight.numpy()
    votes = counted(join, row, source, answer, weight, sizes, all_asked=True)
    return believed(votes, sources, classes, asked.votes, join, path)


def whole_parts(matrix: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The rows of a matrix, some after the other."""
    for rows in slabs(len(matrix), max(1, matrix.shape[1])):
        yield rows.start, matrix[rows]


def _numbers(sheet: Sheet, columns: Sequence[str]) -> Iterator[tuple[int, NDArray[Any]]]:
    for start, found in sheet.parts(numbers=columns):
        for name in columns:
            if pa.types.is_boolean(found[name].type):
                raise refused(
                    sheet.path,
                    "holds true and false",
                    "write the number of a class, from 0, or -1 to abstain",
                    column=name,
                )
        yield start, stacked(found, columns)


def _named(sheet: Sheet, columns: Sequence[str], join: Join, classes: Names) -> Ballots:
    rows, names, sources = [], [], []
    for start, found in sheet.parts(texts=columns):
        for place, column in enumerate(columns):
            row, name = entries_of(
                found[column], sheet.path, column, several=False, start=start, ids=join.ids
            )
            name = name.cast(pa.large_string())
            voted = pc.not_equal(name, "-1")
            rows.append(start + row[voted.to_numpy(zero_copy_only=False)])
            names.append(name.filter(voted))
            if classes is not None:  # refused here, where the column is known
                codes_of(names[-1], classes, sheet.path, column, rows=rows[-1], ids=join.ids)
            sources.append(np.full(len(rows[-1]), place))
    row, source = np.concatenate(rows), np.concatenate(sources)
    order = np.lexsort((source, row))
    label = pa.chunked_array(names, pa.large_string()).combine_chunks()
    who = pa.array(columns, pa.large_string()).take(pa.array(source[order]))
    return Ballots(row[order], who, label.take(pa.array(order)))


def _checked(
    part: NDArray[Any], start: int, sources: Sequence[str], ids: Any, path: Path
) -> NDArray[np.int64]:
    """Votes as whole numbers, -1 where a source abstains."""
    filled = np.where(np.isnan(part), -1, part) if part.dtype.kind == "f" else part
    wrong = (filled < -1) | (filled > _MOST) | (filled != np.floor(filled))
    if wrong.any():
        row, column = (int(axis) for axis in np.argwhere(wrong)[0])
        raise refused(
            path,
            f"holds {filled[row, column]}, which is no vote",
            "write the number of a class, from 0, or -1 to abstain; for probabilities call the "
            "column by its class",
            row=start + row,
            ids=ids,
            column=sources[column],
        )
    return filled.astype(np.int64)


def _axis(
    answer: NDArray[np.int64], names: tuple[Names, Names], path: Path
) -> tuple[Sequence[str], list[int]]:
    """The names of the classes, and the place of each number among them."""
    given, stored = names
    if given and stored:
        classes, places = axis_of(len(stored), given, stored, path)
        return classes, np.argsort(places).tolist()
    n_classes = int(answer.max()) + 1 if len(answer) else 0
    own = given or stored or enough_classes(tuple(map(str, range(n_classes))), path)
    return own, list(range(len(own)))


def _check_unnamed(
    answer: NDArray[np.int64],
    where: tuple[NDArray[np.int64], NDArray[np.int64]],
    sources: Sequence[str],
    ids: Any,
    path: Path,
) -> None:
    """Refuse to take one large number for as many classes."""
    wrong = answer >= _UNNAMED
    if wrong.any():
        place = int(wrong.argmax())
        raise refused(
            path,
            f"votes for class {answer[place]}, which would make as many classes",
            "mend it, or say how many classes there are",
            row=int(where[0][place]),
            ids=ids,
            column=sources[int(where[1][place])],
        )


def _check_known(
    answer: NDArray[np.int64],
    n_classes: int,
    where: tuple[NDArray[np.int64], NDArray[np.int64]],
    sources: Sequence[str],
    ids: Any,
    path: Path,
) -> None:
    wrong = answer >= n_classes
    if wrong.any():
        place = int(wrong.argmax())
        raise refused(
            path,
            f"votes for class {answer[place]}, and there are {n_classes}, from 0 to "
            f"{n_classes - 1}",
            "mend it, or name all classes",
            row=int(where[0][place]),
            ids=ids,
            column=sources[int(where[1][place])],
        )
