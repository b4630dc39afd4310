"""Accuracies from Parquet, CSV and JSON files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.table._accuracies import Accuracies
from tacit.table._errors import refused, shown
from tacit.table._json import unique_names
from tacit.table._numbers import floats
from tacit.table._paths import format_of, located
from tacit.table._tables import checked_column, ids_of, open_table

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["read"]


def read(path: str | os.PathLike[str]) -> Accuracies:
    """Read accuracies; see `tacit.table.read_accuracies`."""
    place = located(path)
    kind = format_of(place)
    if kind == "json":
        found = _of_json(place)
    elif kind in ("parquet", "csv"):
        found = _of_table(place, kind)
    else:
        raise refused(place, "holds no accuracies by name", "write them as CSV or JSON")
    for name, share in found.items():
        is_number = isinstance(share, int | float) and not isinstance(share, bool)
        if not is_number or not 0 <= share <= 1:
            raise refused(
                place,
                f"gives {shown(name)} the accuracy {shown(share)}",
                "write a share from 0 to 1, as in 0.8 for four votes in five",
            )
    return Accuracies(str(path), {name: float(share) for name, share in found.items()})


def _of_json(path: Path) -> dict[str, Any]:
    found = unique_names(path)
    if not isinstance(found, dict) or not found:
        raise refused(
            path, "holds no accuracies by name", 'write one for each source, as in {"ann": 0.9}'
        )
    return found


def _of_table(path: Path, kind: str) -> dict[str, float]:
    sheet = open_table(path, kind)
    for name in ("source", "accuracy"):
        checked_column(sheet, name)
    names = map(str, ids_of(sheet, "source").to_pylist())
    parts = [floats(columns["accuracy"]) for _, columns in sheet.parts(numbers=["accuracy"])]
    return dict(zip(names, np.concatenate(parts).tolist(), strict=True))
