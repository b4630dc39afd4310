"""Room for large tables, or a sentence that there is none."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.table._errors import reading, refused

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["check_room", "room", "slabs"]

_CELLS: Final = 1 << 20
"""Numbers that are looked at at a time: they fit into a cache in float32."""


def slabs(n_rows: int, width: int) -> list[slice]:
    """Cut rows of a table into slices of a size that a cache likes.

    Example:
        >>> slabs(3, 1 << 20)
        [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, _CELLS // width)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def check_room(path: Path, n_bytes: int, fix: str | None = None) -> None:
    """Refuse what is larger than the machine: the system would promise the memory, then kill."""
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if n_bytes > here:
        raise refused(
            path,
            f"would take {n_bytes / 1e9:,.1f} GB of memory, and this machine has {here / 1e9:,.1f}",
            fix or "split it, or use a larger machine",
        )


def room(path: Path, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """An array of float32 that is yet to be filled; its pages are taken as it fills."""
    check_room(path, 4 * math.prod(shape))
    with reading(path, "a table"):
        return np.empty(shape, dtype=np.float32)
