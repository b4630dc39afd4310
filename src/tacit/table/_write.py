"""Resolved labels as Parquet, row group by row group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import xlogy

from tacit._files import write_atomically
from tacit.beliefs import Independent
from tacit.errors import refuse
from tacit.table._classes import class_names
from tacit.table._errors import shown
from tacit.table._ids import checked_ids
from tacit.table._paths import as_path

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["check_new", "write"]

_CELLS: Final = 1 << 21
_FEWEST: Final = 1 << 14
_MOST: Final = 1 << 17
"""Rows of a row group: as many as keep a table of one class each within reason."""

_ROUNDING: Final = 0.01
"""How far above 1 a probability may lie: bfloat16 has 8 bits."""


def write(
    path: str | os.PathLike[str],
    ids: Any,
    classes: Sequence[str],
    posterior: Any,
    prediction: Any,
    belief: Belief | None = None,
    told: Tensor | None = None,
) -> None:
    """Write resolved labels; see `tacit.table.write_resolved`."""
    place = as_path(path)
    _check_suffix("path", place)
    names = class_names(classes)
    stated: Belief | Tensor | None = belief
    if belief is not None and not isinstance(belief, Independent):
        stated = belief.marginals()  # groups are not taken apart
    given = {"posterior": posterior, "prediction": prediction, "belief": stated}
    tables = {argument: table for argument, table in given.items() if table is not None}
    n_rows = _checked_shapes(tables, len(names))
    labelled = checked_ids(ids, n_rows)
    schema = _schema(names, list(tables), pa.int64() if labelled is None else labelled.type)
    if told is not None:
        _check_told(told, n_rows)
        schema = schema.append(_TOLD)

    def fill(file: BinaryIO) -> None:
        _write_groups(file, schema, labelled, names, tables, told)

    write_atomically(place, fill)


def check_new(out: Path) -> None:
    """Refuse a file that is there already, or that could not be written for its name.

    Args:
        out: The file that is to be written, later.
    """
    _check_suffix("out", out)
    try:
        there, homeless = out.exists() or out.is_symlink(), not out.parent.is_dir()
    except OSError as error:
        raise refuse(
            "out", "name a file", f"the system says: {error.strerror}", "name another one"
        ) from error
    if there:
        raise refuse("out", "be a new file", f"'{out}' is there", "name another one")
    if homeless:
        raise refuse(
            "out", "lie in a folder that is there", f"'{out.parent}' is not", "create the folder"
        )


def _check_suffix(argument: str, path: Path) -> None:
    if path.suffix.lower() not in (".parquet", ".pq"):
        raise refuse(
            argument,
            "end in .parquet, which is what is written",
            f"it is '{path}'",
            "let it end so",
        )


def _write_groups(
    file: BinaryIO,
    schema: pa.Schema,
    ids: pa.Array | None,
    classes: Sequence[str],
    tables: Mapping[str, Any],
    told: Tensor | None,
) -> None:
    n_rows = len(tables["prediction"])
    step = min(max(_CELLS // len(classes), _FEWEST), _MOST)
    options = {"use_dictionary": ["label"], "write_page_checksum": True}
    with pq.ParquetWriter(file, schema, **options) as writer:
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            named = pa.array(np.arange(rows.start, rows.stop)) if ids is None else ids[rows]
            columns = _columns(rows, named, classes, tables)
            if told is not None:
                columns.append(pa.array(told[rows].cpu().numpy(), pa.bool_()))
            writer.write_table(pa.table(columns, schema=schema))


def _columns(
    rows: slice, ids: pa.Array, classes: Sequence[str], tables: Mapping[str, Any]
) -> list[pa.Array]:
    """The columns of some rows; labels are those of the first table."""
    parts = [_checked(table, rows, argument, ids) for argument, table in tables.items()]
    told = parts[0]
    nothing = ~told.any(1)
    label = pa.array(told.argmax(1), mask=nothing)
    entropy = xlogy(told, told).sum(1)
    return [
        ids,
        pa.array(classes, pa.string()).take(label),
        pa.array(np.abs(entropy).astype(np.float32), mask=nothing),
        *(pa.array(column.astype(np.float32)) for part in parts for column in part.T),
    ]


def _checked(table: Any, rows: slice, argument: str, ids: pa.Array) -> NDArray[np.float64]:
    """Some rows of a tensor or an array; refuses what is no probability."""
    part = table[rows]
    if isinstance(part, Independent):
        part = part.marginals()
    if hasattr(part, "detach"):
        part = part.detach().cpu().double().numpy()
    values = np.asarray(part, dtype=np.float64)
    wrong = ~((values >= 0) & (values <= 1 + _ROUNDING))
    if wrong.any():
        row, place = (int(axis) for axis in np.argwhere(wrong)[0])
        raise refuse(
            argument,
            "hold probabilities, from 0 to 1",
            f"row {rows.start + row} (id {shown(ids[row])}), class {place}, holds "
            f"{values[row, place]}",
            "pass exp() of logs, and look for NaN in the features",
        )
    return values


def _checked_shapes(tables: Mapping[str, Any], n_classes: int) -> int:
    shapes = {argument: tuple(np.shape(table)) for argument, table in tables.items()}
    n_rows = (next(iter(shapes.values())) or (0,))[0]
    for argument, shape in shapes.items():
        if shape != (n_rows, n_classes):
            raise refuse(
                argument,
                f"have shape (rows, class) = {(n_rows, n_classes)}",
                f"its shape is {shape}",
                "pass one row per instance and one column per class",
            )
    return int(n_rows)


def _check_told(told: Tensor, n_rows: int) -> None:
    if tuple(told.shape) != (n_rows,):
        raise refuse(
            "told",
            f"say of each of the {n_rows} rows whether sources tell of it",
            f"its shape is {tuple(told.shape)}",
            "pass Beliefs.told, or leave it out",
        )


_TOLD: Final = pa.field(
    "told", pa.bool_(), metadata={"description": "Whether any source tells of the instance"}
)


def _schema(classes: Sequence[str], tables: Sequence[str], id_type: pa.DataType) -> pa.Schema:
    """The columns of the file, each with a description."""
    symbols = {"posterior": "r", "prediction": "q", "belief": "p"}
    told = f"{tables[0]} {symbols[tables[0]]}"
    columns = [
        ("id", id_type, "What the instance is called"),
        ("label", pa.string(), f"The class where the {told} is largest"),
        ("entropy", pa.float32(), f"Entropy of the {told} in nats"),
        *(
            (
                f"{symbols[table]}_{name}",
                pa.float32(),
                f"{table.capitalize()} {symbols[table]} of {name}",
            )
            for table in tables
            for name in classes
        ),
    ]
    return pa.schema(
        [pa.field(name, kind, metadata={"description": what}) for name, kind, what in columns]
    )
