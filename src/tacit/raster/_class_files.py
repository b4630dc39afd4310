"""Tables of classes: by the name of a public map, from a file, or as a raster tells them."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Final

from tacit.raster._classes import CHESAPEAKE, ENVIROATLAS, NLCD, ClassTable
from tacit.raster._open import opened
from tacit.table._errors import reading, refused
from tacit.table._paths import located

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["classes_of", "read_classes"]

_KNOWN: Final = {"nlcd": NLCD, "chesapeake": CHESAPEAKE, "enviroatlas": ENVIROATLAS}
_GREY: Final = (128, 128, 128)


def read_classes(source: str | os.PathLike[str]) -> ClassTable:
    """The classes of a map.

    Args:
        source: "nlcd", "chesapeake" or "enviroatlas"; or a CSV file with the columns `code` and
            `name`, and, if wanted, `colour` as #rrggbb.

    Raises:
        InvalidInputError: If the file cannot be used.

    Example:
        >>> read_classes("chesapeake").names
        ('water', 'tree canopy', 'low vegetation', 'barren', 'impervious surface', 'road')
    """
    known = _KNOWN.get(str(source).lower())
    if known is not None:
        return known
    place = located(source)
    with reading(place, "CSV"), place.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    missing = {"code", "name"} - {*(rows[0] if rows else ())}
    if missing:
        what = f"has no column `{min(missing)}`" if rows else "has no rows"
        raise refused(place, what, "write the columns code and name, a row for each class")
    return _table(place, rows)


def _table(place: Path, rows: list[dict[str, str]]) -> ClassTable:
    codes: list[int] = []
    names: list[str] = []
    colours: list[tuple[int, int, int]] = []
    for number, row in enumerate(rows):
        try:
            codes.append(int(row["code"]))
            red, green, blue = bytes.fromhex((row.get("colour") or "808080").lstrip("#"))
        except (TypeError, ValueError) as error:
            fix = "write a whole number as the code, and the colour as #rrggbb or not at all"
            raise refused(place, f"cannot be understood ({error})", fix, row=number) from error
        names.append(row["name"])
        colours.append((red, green, blue))
    for what, n_kinds in {"code": len({*codes}), "name": len({*names})}.items():
        if n_kinds < len(rows):
            raise refused(place, f"has a {what} twice", "write each class once")
    return ClassTable(tuple(codes), tuple(names), tuple(colours))


def classes_of(path: str | os.PathLike[str]) -> ClassTable | None:
    """The classes that a raster of tacit's tells of; None of any other.

    Args:
        path: The raster.
    """
    with opened(path) as dataset:
        text = dataset.tags().get("CLASSES")
    try:
        named = {int(code): str(name) for code, name in json.loads(text).items()} if text else {}
    except (ValueError, AttributeError):
        return None
    if not named:
        return None
    return ClassTable(tuple(named), tuple(named.values()), (_GREY,) * len(named))
