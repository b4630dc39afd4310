"""Tables of numbers whose rows and columns have names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tacit.table._classes import enough_classes
from tacit.table._errors import refused
from tacit.table._memory import check_room
from tacit.table._numbers import stacked
from tacit.table._paths import format_of, located
from tacit.table._tables import ids_of, open_table

if TYPE_CHECKING:
    import os

    from torch import Tensor

__all__ = ["named_table"]


def named_table(
    path: str | os.PathLike[str], what: str
) -> tuple[tuple[str, ...], tuple[str, ...], Tensor]:
    """The names of the rows, in the first column, those of the columns, and the numbers.

    Args:
        path: A Parquet or CSV file.
        what: What is to be written as CSV, for messages.
    """
    place = located(path)
    kind = format_of(place)
    if kind not in ("parquet", "csv"):
        raise refused(place, "is no table of named columns", f"write the {what} as CSV")
    sheet = open_table(place, kind)
    first, *columns = sheet.names
    enough_classes(columns, place)
    check_room(place, 8 * sheet.n_rows * len(columns))
    names = ids_of(sheet, first)
    parts = [stacked(part, columns) for _, part in sheet.parts(numbers=columns)]
    table = np.concatenate(parts).astype(np.float64)
    wrong = ~((table >= 0) & (table < np.inf))
    if wrong.any():
        row, column = (int(axis) for axis in np.argwhere(wrong)[0])
        raise refused(
            place,
            f"holds {table[row, column]}" if not np.isnan(table[row, column]) else "is missing",
            "write a finite number of at least 0",
            row=row,
            ids=names,
            column=columns[column],
        )
    return tuple(map(str, names.to_pylist())), tuple(columns), torch.from_numpy(table)
