"""Beliefs in `.npy` and `.npz` files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.table._arrays import Keys, mapped
from tacit.table._classes import axis_of, stored_classes
from tacit.table._errors import refused
from tacit.table._join import joined
from tacit.table._kinds import COLUMNS, kind_of_keys
from tacit.table._memory import slabs
from tacit.table._pairs import SIDES, pairs_of
from tacit.table._probabilities import probabilities_of
from tacit.table._sets import Column, sets_of_mask, sets_of_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join, Target

__all__ = ["from_npy", "from_npz"]

Names = tuple[str, ...] | None


def from_npy(path: Path, target: Target, asked: Asked) -> Beliefs:
    """Read an array of probabilities, of candidates or of votes.

    Args:
        path: The file.
        target: The rows of the features.
        asked: What the caller says.
    """
    array = mapped(path)
    if array.dtype.kind == "i" and array.ndim == 2:
        return _votes(array, None, (None, None), target, asked, path)
    join = joined(path, None, _n_rows(array, "fb", None, path), target)
    kind = "candidates" if array.dtype.kind == "b" else "probabilities"
    return _from_array(array, kind, (asked.classes, None), join, path)


def from_npz(path: Path, target: Target, asked: Asked) -> Beliefs:
    """Read the arrays of beliefs under their keys.

    Args:
        path: The file.
        target: The rows of the features.
        asked: What the caller says.
    """
    keys, classes = Keys(path), asked.classes
    kind = kind_of_keys(
        [name for name in keys.names if name not in ("classes", asked.id_column)], path
    )
    stored = stored_classes(keys.column("classes"), path) if "classes" in keys.names else None
    if kind == "pairs":
        return _pairs(keys, target, classes or stored)
    if kind == "votes":
        from tacit.table._vote_rows import votes_of_keys

        return votes_of_keys(keys, target, asked, stored)
    ids = keys.ids(asked.id_column)
    if kind in ("labels", "observed"):
        return _names(keys, kind, ids, target, asked._replace(classes=classes or stored))
    if kind == "matrix":
        sources = keys.column("sources") if "sources" in keys.names else None
        return _votes(keys.array("votes"), ids, (sources, stored), target, asked, path)
    table = kind == "probabilities"
    array = keys.array("beliefs" if table else kind)
    n_rows = _n_rows(array, "fiub" if table else "b", ids, path)
    return _from_array(array, kind, (classes, stored), joined(path, ids, n_rows, target), path)


def _from_array(
    array: NDArray[Any], kind: str, names: tuple[Names, Names], join: Join, path: Path
) -> Beliefs:
    classes, places = axis_of(array.shape[1], *names, path)
    if kind == "probabilities":
        return probabilities_of(_rows(array, places), classes, join, path)
    return sets_of_mask(array, kind, (classes, places), join, path)


def _rows(array: NDArray[Any], places: Sequence[int]) -> Iterator[tuple[int, NDArray[Any]]]:
    for rows in slabs(len(array), len(places)):
        part = array[rows][:, places]
        # Whole numbers as well as other orders of bytes become what the machine computes with.
        yield rows.start, part.astype(np.result_type(part, np.float32), copy=False)


def _votes(
    array: NDArray[Any],
    ids: pa.Array | None,
    stored: tuple[pa.Array | None, Names],
    target: Target,
    asked: Asked,
    path: Path,
) -> Beliefs:
    from tacit.table._vote_matrix import votes_of_matrix, votes_of_shares, whole_parts

    kinds = "f" if array.ndim == 3 else "i"
    if array.ndim not in (2, 3) or 0 in array.shape or array.dtype.kind not in kinds:
        raise refused(
            path,
            f"holds votes of {array.dtype} with shape {array.shape}",
            "save signed whole numbers, (rows, source), -1 where one abstains; or for soft votes "
            "floating-point numbers, (rows, source, class)",
        )
    _check_length(len(array), ids, path)
    join = joined(path, ids, len(array), target)
    sources = _sources(stored[0], array.shape[1], path)
    names = (asked.classes, stored[1])
    if array.ndim == 3:
        return votes_of_shares(array, sources, names, join, asked, path)
    return votes_of_matrix(
        whole_parts(array), sources, names, join, asked, path, _never_abstains(array)
    )


def _never_abstains(array: NDArray[Any]) -> tuple[str, ...]:
    """A note on whole numbers that might be something else than votes."""
    note = "No source abstains anywhere, by -1: save columns that are classes as booleans."
    return () if any((array[rows] < 0).any() for rows in slabs(*array.shape)) else (note,)


def _sources(names: pa.Array | None, n_sources: int, path: Path) -> list[str]:
    """The names of sources; their numbers where they have none."""
    if names is None:
        return list(map(str, range(n_sources)))
    found = list(map(str, names.to_pylist()))
    if len(found) != n_sources or len(set(found)) < n_sources:
        raise refused(
            path,
            f"holds votes of {n_sources} sources and {len(set(found))} different names",
            "name each once",
            column="sources",
        )
    return found


def _names(keys: Keys, kind: str, ids: pa.Array | None, target: Target, asked: Asked) -> Beliefs:
    (name,) = COLUMNS[kind]
    column = keys.column(name)
    _check_length(len(column), ids, keys.path)
    join = joined(keys.path, ids, len(column), target)

    def pieces() -> Iterator[tuple[int, pa.Array]]:
        return ((rows.start, column[rows]) for rows in slabs(len(column), 1))

    own = Column(keys.path, name, pieces, ids)
    if kind == "observed":
        from tacit.table._observed import observed_of_names

        return observed_of_names(own, asked, join)
    return sets_of_names(own, asked, join)


def _pairs(keys: Keys, target: Target, classes: Names) -> Beliefs:
    columns = {side: keys.ids_at(side, unique=False) for side in SIDES}
    columns["relation"] = keys.column("relation")
    if len({len(column) for column in columns.values()}) > 1:
        raise refused(
            keys.path,
            f"holds {' and '.join(f'{len(each)} {name}' for name, each in columns.items())}",
            "save one of each for each pair",
        )
    return pairs_of(columns, classes, target, keys.path)


def _n_rows(array: NDArray[Any], kinds: str, ids: pa.Array | None, path: Path) -> int:
    """Number of rows of an array of beliefs; refuses one that is none."""
    if array.ndim != 2 or array.dtype.kind not in kinds:
        raise refused(
            path,
            f"holds an array of {array.dtype} with shape {array.shape}",
            "save numbers for probabilities and booleans for candidates, (rows, class), or signed "
            "whole numbers for votes, (rows, source)",
        )
    _check_length(len(array), ids, path)
    return len(array)


def _check_length(n_rows: int, ids: pa.Array | None, path: Path) -> None:
    if n_rows == 0 or n_rows != len(ids if ids is not None else range(n_rows)):
        raise refused(
            path,
            f"holds {n_rows} rows" + ("" if ids is None else f" and {len(ids)} ids"),
            "save at least one row, and one id for each",
        )
