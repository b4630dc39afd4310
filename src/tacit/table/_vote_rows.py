"""Votes with a row for each: who said what of which instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from tacit.table._entries import entries_of
from tacit.table._errors import listed, refused
from tacit.table._join import joined
from tacit.table._numbers import floats
from tacit.table._tables import ids_of
from tacit.table._votes import Ballots, believed_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table._arrays import Keys
    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join, Target
    from tacit.table._sheet import Sheet

__all__ = ["item_of", "votes_of_keys", "votes_of_rows"]

_ITEMS: Final = ("task", "item", "id", "ids")
"""What the column of instances may be called."""


def item_of(names: Sequence[str], asked: str | None, path: Path) -> str:
    """The column that names the instances: the one that was asked for, or the one there is."""
    found = [name for name in names if name == asked or (asked is None and name in _ITEMS)]
    if len(found) == 1:
        return found[0]
    if found:
        raise refused(
            path,
            f"may name its instances by {' or by '.join(f'`{name}`' for name in found)}",
            "pass the right one as id_column, or leave the other out",
        )
    what = f"`{asked}`" if asked else "`task`, `item` or `id`"
    raise refused(
        path, f"has no column {what} to say what each vote is about", f"has {listed(names, 10)}"
    )


def votes_of_rows(sheet: Sheet, target: Target, asked: Asked) -> Beliefs:
    """Votes in a table."""
    ids = ids_of(sheet, item_of(sheet.names, asked.id_column, sheet.path), unique=False)
    workers = ids_of(sheet, "worker", unique=False)
    labels = [columns["label"] for _, columns in sheet.parts(texts=["label"])]
    weight = None
    if "weight" in sheet.names:
        parts = [floats(columns["weight"]) for _, columns in sheet.parts(numbers=["weight"])]
        weight = np.concatenate(parts)
    return _believed((ids, workers, labels, weight), target, asked, sheet.path)


def votes_of_keys(
    keys: Keys, target: Target, asked: Asked, stored: tuple[str, ...] | None
) -> Beliefs:
    """Votes in arrays of one length."""
    item = item_of(keys.names, asked.id_column, keys.path)
    ids, workers = keys.ids_at(item, unique=False), keys.ids_at("worker", unique=False)
    labels = keys.column("label")
    weight = np.atleast_1d(keys.array("weight")) if "weight" in keys.names else None
    columns = {item: ids, "worker": workers, "label": labels, "weight": weight}
    lengths = {name: len(each) for name, each in columns.items() if each is not None}
    if len(set(lengths.values())) > 1 or not len(ids):
        raise refused(
            keys.path,
            f"holds {' and '.join(f'{length} {name}' for name, length in lengths.items())}",
            "save one of each for each vote",
        )
    own = asked._replace(classes=asked.classes or stored)
    return _believed((ids, workers, [labels], weight), target, own, keys.path)


def _believed(columns: Any, target: Target, asked: Asked, path: Path) -> Beliefs:
    ids, workers, labels, weight = columns
    join = _joined(path, ids, target)
    row, label = _labels(labels, path, ids)
    workers = workers.cast(pa.large_string())
    ballots = Ballots(row, workers.take(pa.array(row)), label, _weights(weight, row, path, ids))
    notes = () if weight is not None else _again(ids, ballots)
    return believed_names(ballots, workers, asked.classes, join, asked.votes, path, notes)


def _joined(path: Path, ids: pa.Array, target: Target) -> Join:
    if target.ids is None and not pa.types.is_int64(ids.type):
        raise refused(
            path,
            "names instances by text, and the features have no ids and go by their numbers, from 0",
            "give the features ids, or write the numbers of their rows",
        )
    return joined(path, ids, len(ids), target)


def _labels(
    pieces: Sequence[pa.Array], path: Path, ids: pa.Array
) -> tuple[NDArray[np.int64], pa.Array]:
    """The votes that are not empty: their rows, and what they say."""
    rows, names, start = [], [], 0
    for piece in pieces:
        found = entries_of(piece, path, "label", several=False, start=start, ids=ids)
        rows.append(start + found.row)
        names.append(found.name.cast(pa.large_string()))
        start += len(piece)
    return np.concatenate(rows), pa.chunked_array(names, pa.large_string()).combine_chunks()


def _weights(
    weight: NDArray[Any] | None, row: NDArray[np.int64], path: Path, ids: pa.Array
) -> NDArray[np.float64] | None:
    if weight is None:
        return None
    if weight.ndim != 1 or weight.dtype.kind not in "fiu":
        raise refused(
            path, f"holds {weight.dtype}, {weight.shape}", "save a number for each", column="weight"
        )
    own = weight[row].astype(np.float64)
    wrong = ~((own > 0) & (own < np.inf))
    if wrong.any():
        place = int(wrong.argmax())
        raise refused(
            path,
            f"holds {own[place]}",
            "write a finite number above 0, 1 for a whole vote, or leave the vote out",
            row=int(row[place]),
            ids=ids,
            column="weight",
        )
    return own


def _again(ids: pa.Array, ballots: Ballots) -> tuple[str, ...]:
    """A note on votes of one source about one instance that are not the first."""
    table = pa.table({"item": ids.take(pa.array(ballots.row)), "source": ballots.source})
    once = table.group_by(["item", "source"]).aggregate([])
    n_again = len(table) - len(once)
    note = f"{n_again} votes are a further one of the same worker on the same instance; all count."
    return (note,) if n_again else ()
