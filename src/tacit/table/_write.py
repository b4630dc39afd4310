"""Resolved labels as Parquet, row group by row group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tacit._files import write_atomically
from tacit.errors import refuse
from tacit.table._classes import class_names
from tacit.table._errors import shown
from tacit.table._ids import checked_ids
from tacit.table._paths import as_path

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

__all__ = ["write"]

_CELLS: Final = 1 << 22
_FEWEST: Final = 1 << 14
_MOST: Final = 1 << 18
"""Rows of a row group: as many as keep a table of one class each within reason."""

_ROUNDING: Final = 0.01
"""How far above 0 the log of a probability may lie: bfloat16 has 8 bits."""


def write(
    path: str | os.PathLike[str],
    ids: Any,
    classes: Sequence[str],
    log_posterior: Any,
    log_prediction: Any,
) -> None:
    """Write resolved labels; see `tacit.table.write_resolved`."""
    place = as_path(path)
    if place.suffix.lower() not in (".parquet", ".pq"):
        raise refuse(
            "path",
            "end in .parquet, which is what is written",
            f"it is {str(path)!r}",
            "let it end so",
        )
    names = class_names(classes)
    n_rows = _checked_shapes(log_posterior, log_prediction, len(names))
    labelled = checked_ids(ids, n_rows)
    schema = _schema(names, pa.int64() if labelled is None else labelled.type)

    def fill(file: BinaryIO) -> None:
        _write_groups(file, schema, labelled, names, (log_posterior, log_prediction))

    write_atomically(place, fill)


def _write_groups(
    file: BinaryIO,
    schema: pa.Schema,
    ids: pa.Array | None,
    classes: Sequence[str],
    logs: tuple[Any, Any],
) -> None:
    step = min(max(_CELLS // len(classes), _FEWEST), _MOST)
    options = {"use_dictionary": ["label"], "write_page_checksum": True}
    with pq.ParquetWriter(file, schema, **options) as writer:
        for start in range(0, len(logs[0]), step):
            rows = slice(start, min(start + step, len(logs[0])))
            named = pa.array(np.arange(rows.start, rows.stop)) if ids is None else ids[rows]
            writer.write_table(pa.table(_columns(rows, named, classes, logs), schema=schema))


def _columns(
    rows: slice, ids: pa.Array, classes: Sequence[str], logs: tuple[Any, Any]
) -> list[pa.Array]:
    log_r = _checked_logs(logs[0], rows, "log_posterior", ids)
    log_q = _checked_logs(logs[1], rows, "log_prediction", ids)
    r, q = np.exp(log_r), np.exp(log_q)
    excluded = ~r.any(1)
    label = pa.array(log_r.argmax(1), mask=excluded)
    entropy = -(r * np.where(r > 0, log_r, 0.0)).sum(1) + 0.0
    return [
        ids,
        pa.array(classes, pa.string()).take(label),
        pa.array(entropy.astype(np.float32), mask=excluded),
        *(pa.array(column.astype(np.float32)) for column in (*r.T, *q.T)),
    ]


def _checked_logs(logs: Any, rows: slice, argument: str, ids: pa.Array) -> NDArray[np.float64]:
    """Some rows of a tensor or an array; refuses what is no log of a probability."""
    part = logs[rows]
    if hasattr(part, "detach"):
        part = part.detach().cpu().double().numpy()
    values = np.asarray(part, dtype=np.float64)
    wrong = ~(values <= _ROUNDING)
    if wrong.any():
        row, place = (int(axis) for axis in np.argwhere(wrong)[0])
        raise refuse(
            argument,
            "hold logs of probabilities, which are at most 0",
            f"row {rows.start + row} (id {shown(ids[row])}), class {place}, holds "
            f"{values[row, place]}",
            "take the logs, and look for NaN in the features",
        )
    return values


def _checked_shapes(log_posterior: Any, log_prediction: Any, n_classes: int) -> int:
    shapes = {
        "log_posterior": tuple(np.shape(log_posterior)),
        "log_prediction": tuple(np.shape(log_prediction)),
    }
    n_rows = (shapes["log_posterior"] or (0,))[0]
    for argument, shape in shapes.items():
        if shape != (n_rows, n_classes):
            raise refuse(
                argument,
                f"have shape (rows, class) = {(n_rows, n_classes)}",
                f"its shape is {shape}",
                "pass one row per instance and one column per class",
            )
    return int(n_rows)


def _schema(classes: Sequence[str], id_type: pa.DataType) -> pa.Schema:
    """The columns of the file, each with a description."""
    columns = [
        ("id", id_type, "What the instance is called"),
        ("label", pa.string(), "The class where the posterior r is largest"),
        ("entropy", pa.float32(), "Entropy of the posterior r in nats"),
        *((f"r_{name}", pa.float32(), f"Posterior r of {name}") for name in classes),
        *((f"q_{name}", pa.float32(), f"Prediction q of {name}") for name in classes),
    ]
    return pa.schema(
        [pa.field(name, kind, metadata={"description": what}) for name, kind, what in columns]
    )
