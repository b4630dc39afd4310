"""Beliefs that name classes: candidates, excluded labels, and labels."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from tacit.beliefs import Candidates
from tacit.table._beliefs import finished
from tacit.table._classes import codes_of, in_order
from tacit.table._entries import entries_of
from tacit.table._errors import listed, refused
from tacit.table._levels import Levels
from tacit.table._memory import check_room, slabs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.sources import Taxonomy
    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join

__all__ = ["Column", "sets_of_mask", "sets_of_names"]


class Column(NamedTuple):
    """A column that names classes.

    Attributes:
        path: Its file.
        name: What it is called: "candidates", "excluded", "label" or "observed".
        pieces: Reads it from the beginning, part by part, each with the number of its first row.
        ids: The ids of the rows.
    """

    path: Path
    name: str
    pieces: Callable[[], Iterator[tuple[int, pa.Array]]]
    ids: Any

    def entries(self) -> Iterator[tuple[int, int, Any]]:
        """For each part its first row, its number of rows and the entries of its rows."""
        for start, piece in self.pieces():
            several = self.name not in ("label", "observed")
            entries = entries_of(
                piece, self.path, self.name, several=several, start=start, ids=self.ids
            )
            yield start, len(piece), entries

    def codes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The number of the name in each row of the file, -1 where there is none."""
        found = []
        for start, n_rows, (row, name) in self.entries():
            found.append(np.full(n_rows, -1, dtype=np.int64))
            found[-1][row] = codes_of(
                name, names, self.path, self.name, rows=start + row, ids=self.ids
            )
        return np.concatenate(found)


def sets_of_names(column: Column, asked: Asked, join: Join, notes: Sequence[str] = ()) -> Beliefs:
    """The belief that a column of names states.

    Args:
        column: The column.
        asked: What the caller says: the names of the classes, unless all are meant that the column
            names; a tree that the names are from, where each stands for the classes below it; how
            labels come from true ones.
        join: Which row of the file speaks of which of the features.
        notes: What is odd about the file.
    """
    classes, taxonomy = asked.classes, asked.taxonomy
    known = _names_in(column) if classes is None else classes
    if column.name == "label" and (asked.transition or asked.trusted):
        from tacit.table._noisy import noisy_of_names

        return noisy_of_names(column, asked, known, join, notes)
    check_room(column.path, join.n_rows * len(known) // 8)
    parts = _from_names(column, known, None if taxonomy is None else Levels(taxonomy, known))
    if classes is None and column.name == "excluded":
        notes = (
            *notes,
            f"Classes that are never excluded remain unknown; known are {listed(known, 10)}.",
        )
    kind = "labels" if column.name == "label" else column.name
    found = _finished(kind, parts, known, join, column.path, notes)
    return found if taxonomy is None else _weighted(found, taxonomy)


def _weighted(beliefs: Beliefs, taxonomy: Taxonomy) -> Beliefs:
    """The same with the weights of a taxonomy, if it has any."""
    if taxonomy.weights is None:
        return beliefs
    check_room(Path(beliefs.source), 8 * len(beliefs) * len(beliefs.classes))
    assert isinstance(beliefs.belief, Candidates)
    belief = taxonomy.weighted(beliefs.belief, classes=beliefs.classes)
    return replace(beliefs, belief=belief)


def sets_of_mask(
    mask: NDArray[np.bool_],
    kind: str,
    axis: tuple[Sequence[str], Sequence[int]],
    join: Join,
    path: Path,
) -> Beliefs:
    """The belief that a mask states.

    Args:
        mask: Which classes are candidates, or excluded, `(rows, class)`.
        kind: "candidates" or "excluded".
        axis: The names of the classes, and where each stands in the mask.
        join: Which row of the file speaks of which of the features.
        path: The file.
    """
    classes, places = axis
    parts = (
        _checked(mask[rows][:, places] ^ (kind == "excluded"), path, kind, rows.start, join.ids)
        for rows in slabs(len(mask), len(classes))
    )
    return _finished(kind, parts, classes, join, path, ())


def _names_in(column: Column) -> tuple[str, ...]:
    found: set[str] = set()
    for _, _, entries in column.entries():
        found.update(entries.name.unique().to_pylist())
    return in_order(found, column.path)


def _from_names(
    column: Column, classes: Sequence[str], levels: Levels | None
) -> Iterator[Candidates]:
    known = classes if levels is None else levels.names
    for start, n_rows, (row, name) in column.entries():
        codes = codes_of(name, known, column.path, column.name, rows=start + row, ids=column.ids)
        if levels is not None:
            row, codes = levels.spread(row, codes)
        for rows in slabs(n_rows, len(classes)):
            first, last = np.searchsorted(row, [rows.start, rows.stop])
            mask = np.zeros((rows.stop - rows.start, len(classes)), dtype=bool)
            mask[row[first:last] - rows.start, codes[first:last]] = True
            # A row that names no class says nothing: all are candidates, and none is excluded.
            mask[~mask.any(1)] = column.name != "excluded"
            if column.name == "excluded":
                mask = ~mask
            yield _checked(mask, column.path, column.name, start + rows.start, column.ids)


def _checked(mask: NDArray[np.bool_], path: Path, name: str, start: int, ids: Any) -> Candidates:
    """A mask as a belief; refuses a row that leaves no class."""
    left = mask.any(1)
    if not left.all():
        raise refused(
            path,
            "leaves no class",
            "allow at least one, and all where nothing is known",
            row=start + int(left.argmin()),
            ids=ids,
            column=name,
        )
    return Candidates.from_mask(torch.from_numpy(mask))


def _finished(
    kind: str,
    parts: Iterable[Candidates],
    classes: Sequence[str],
    join: Join,
    path: Path,
    notes: Sequence[str],
) -> Beliefs:
    belief = _in_order(parts, len(classes), join.order())
    n_informed = int((belief.sizes() < len(classes)).sum())
    return finished(kind, belief, classes, n_informed, path, (*join.notes, *notes))


def _in_order(
    parts: Iterable[Candidates], n_classes: int, order: NDArray[np.int64] | None
) -> Candidates:
    if order is None:
        return Candidates.joined(parts)
    # Rows of the features that the file does not have take the one beyond its last.
    anything = Candidates.from_mask(torch.ones(1, n_classes, dtype=torch.bool))
    return Candidates.joined(chain(parts, [anything]))[torch.from_numpy(order)]
