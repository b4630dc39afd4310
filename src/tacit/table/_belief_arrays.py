"""Beliefs in `.npy` and `.npz` files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.table._arrays import Keys, mapped
from tacit.table._classes import axis_of, stored_classes
from tacit.table._errors import refused
from tacit.table._join import joined
from tacit.table._kinds import kind_of_keys
from tacit.table._memory import slabs
from tacit.table._pairs import SIDES, pairs_of
from tacit.table._probabilities import probabilities_of
from tacit.table._sets import Column, sets_of_mask, sets_of_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join, Target

__all__ = ["from_npy", "from_npz"]

Names = tuple[str, ...] | None


def from_npy(path: Path, target: Target, classes: Names) -> Beliefs:
    """Read an array of probabilities or of candidates.

    Args:
        path: The file.
        target: The rows of the features.
        classes: The names of the classes, where the caller gives them.
    """
    array = mapped(path)
    join = joined(path, None, _n_rows(array, "fb", None, path), target)
    kind = "candidates" if array.dtype.kind == "b" else "probabilities"
    return _from_array(array, kind, (classes, None), join, path)


def from_npz(path: Path, target: Target, classes: Names, id_column: str | None) -> Beliefs:
    """Read the arrays of beliefs under their keys.

    Args:
        path: The file.
        target: The rows of the features.
        classes: The names of the classes, where the caller gives them.
        id_column: The key of the ids, where the caller names it.
    """
    keys = Keys(path)
    kind = kind_of_keys([name for name in keys.names if name not in ("classes", id_column)], path)
    stored = stored_classes(keys.column("classes"), path) if "classes" in keys.names else None
    if kind == "pairs":
        return _pairs(keys, target, classes or stored)
    ids = keys.ids(id_column)
    if kind == "labels":
        return _labels(keys, ids, target, classes or stored)
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


def _labels(keys: Keys, ids: pa.Array | None, target: Target, classes: Names) -> Beliefs:
    column = keys.column("label")
    _check_length(len(column), ids, keys.path)
    join = joined(keys.path, ids, len(column), target)

    def pieces() -> Iterator[tuple[int, pa.Array]]:
        return ((rows.start, column[rows]) for rows in slabs(len(column), 1))

    return sets_of_names(Column(keys.path, "label", pieces, ids), classes, join)


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
            "save numbers for probabilities and booleans for candidates, (rows, class)",
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
