"""JSON files in which no name comes twice at one place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit.table._errors import reading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["unique_names"]


def unique_names(path: Path) -> Any:
    """What a JSON file holds; refuses a name that comes twice at one place.

    Args:
        path: The file.
    """
    with reading(path, "JSON"):
        return json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"{name[:40]!r} comes twice at one place")
    return dict(pairs)
