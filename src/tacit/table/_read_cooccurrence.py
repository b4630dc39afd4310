"""Tables of co-occurrence from Parquet and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tacit.table._classes import enough_classes
from tacit.table._cooccurrence import Cooccurrence
from tacit.table._errors import refused
from tacit.table._memory import check_room
from tacit.table._numbers import stacked
from tacit.table._paths import format_of, located
from tacit.table._tables import ids_of, open_table

if TYPE_CHECKING:
    import os

__all__ = ["read"]


def read(path: str | os.PathLike[str]) -> Cooccurrence:
    """Read a table; see `tacit.table.read_cooccurrence`."""
    place = located(path)
    kind = format_of(place)
    if kind not in ("parquet", "csv"):
        raise refused(
            place, "is no table of named columns", "write the table of co-occurrence as CSV"
        )
    sheet = open_table(place, kind)
    first, *classes = sheet.names
    enough_classes(classes, place)
    check_room(place, 8 * sheet.n_rows * len(classes))
    observed = ids_of(sheet, first)
    parts = [stacked(columns, classes) for _, columns in sheet.parts(numbers=classes)]
    table = np.concatenate(parts).astype(np.float64)
    wrong = ~((table >= 0) & (table < np.inf))
    if wrong.any():
        row, column = (int(axis) for axis in np.argwhere(wrong)[0])
        raise refused(
            place,
            f"holds {table[row, column]}" if not np.isnan(table[row, column]) else "is missing",
            "write a finite number of at least 0",
            row=row,
            ids=observed,
            column=classes[column],
        )
    return Cooccurrence(
        tuple(map(str, observed.to_pylist())), tuple(classes), torch.from_numpy(table)
    )
