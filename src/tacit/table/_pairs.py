"""Beliefs that compare two rows."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from tacit.beliefs import Pairs
from tacit.table._beliefs import finished
from tacit.table._classes import enough_classes
from tacit.table._errors import did_you_mean, refused, shown
from tacit.table._ids import first_repeated
from tacit.table._join import rows_named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Target

__all__ = ["SIDES", "pairs_of"]

SIDES: Final = ("first", "second")

_RELATIONS: Final = {
    ">": (Pairs.greater, False),
    ">=": (Pairs.greater_equal, False),
    "=": (Pairs.equal, False),
    "==": (Pairs.equal, False),
    "!=": (Pairs.different, False),
    "<": (Pairs.greater, True),
    "<=": (Pairs.greater_equal, True),
}
"""How each relation is stated, and whether for the second and the first."""


def pairs_of(
    columns: dict[str, pa.Array],
    classes: Sequence[str] | None,
    target: Target,
    path: Path,
    notes: Sequence[str] = (),
) -> Beliefs:
    """The belief that pairs state.

    Args:
        columns: Ids under "first" and "second", text under "relation", an entry for each pair.
        classes: The names of the classes, the lowest first.
        target: The rows of the features.
        path: The file.
        notes: What is odd about it.
    """
    if classes is None:
        raise refused(
            path, "compares rows, and does not name the classes", "pass them, the lowest first"
        )
    belief = _belief(columns, len(enough_classes(classes, path)), target, path)
    return finished("pairs", belief, classes, 2 * len(columns["relation"]), path, notes)


def _belief(columns: dict[str, pa.Array], n_classes: int, target: Target, path: Path) -> Any:
    pairs = np.stack([_rows(columns[side], side, target, path) for side in SIDES], 1)
    _check_once(pairs, columns, path)
    relation = _relations(columns["relation"], path)
    kinds: list[Any] = []
    for name in relation.unique().to_pylist():
        make, turned = _RELATIONS[name]
        chosen = pc.equal(relation, name).to_numpy(zero_copy_only=False)
        own = torch.from_numpy(pairs[chosen][:, ::-1].copy() if turned else pairs[chosen])
        kinds.append(make(own, n_classes=n_classes, n_instances=target.n_rows))
    return reduce(operator.mul, kinds)


def _rows(ids: pa.Array, side: str, target: Target, path: Path) -> NDArray[np.int64]:
    rows = rows_named(ids, target)
    if (rows < 0).any():
        first = int((rows < 0).argmax())
        known = (
            f"the features go by their numbers, from 0 to {target.n_rows - 1}"
            if target.ids is None
            else "the features do not have it"
        )
        raise refused(
            path,
            f"names {shown(ids[first])}, but {known}",
            "mend the id, or leave the pair out",
            row=first,
            column=side,
        )
    return rows


def _check_once(pairs: NDArray[np.int64], columns: dict[str, pa.Array], path: Path) -> None:
    again = first_repeated(pa.array(pairs.ravel()))
    if again is None:
        return
    (before, _), (row, side) = divmod(again[0], 2), divmod(again[1], 2)
    where = "as both of its two" if before == row else f"which is also in the pair of row {before}"
    raise refused(
        path,
        f"names {shown(columns[SIDES[side]][row])}, {where}",
        "an instance can be in one pair only: leave the other pairs out",
        row=row,
    )


def _relations(column: pa.Array, path: Path) -> pa.Array:
    kind = column.type
    texts = pc.cast(column, kind.value_type) if pa.types.is_dictionary(kind) else column
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        raise refused(path, f"holds {kind}", f"write {_choice()}", column="relation")
    relation = pc.utf8_trim_whitespace(pc.fill_null(texts, ""))
    known = pc.is_in(relation, value_set=pa.array(list(_RELATIONS), relation.type))
    row = pc.index(known, False).as_py()
    if row >= 0:
        name = relation[row].as_py()
        raise refused(
            path,
            f"holds the relation {shown(name)}{did_you_mean(name, _RELATIONS)}",
            f"write {_choice()}",
            row=row,
            column="relation",
        )
    return relation


def _choice() -> str:
    return "one of " + ", ".join(name for name in _RELATIONS if name != "==")
