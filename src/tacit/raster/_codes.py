"""Codes of a coarse map, as rows of a table of co-occurrence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tacit.raster._raster import Raster
from tacit.table._errors import listed, refused

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.raster._grid import Grid, Tile

__all__ = ["CodedMap", "codes_from"]


class CodedMap:
    """A map of codes on the grid of another map, as numbers of classes.

    Args:
        files: Its files, one or several; warped by the nearest pixel.
        grid: The grid.
        codes: The code of each class, in order.
        border: Pixels beyond the grid that windows may reach.
        name: What the caller calls the files, for refusals.
        fix: What to do about a code that is no class's; such are unknown where it is None.
    """

    def __init__(
        self,
        files: Sequence[str | os.PathLike[str]],
        grid: Grid,
        codes: Sequence[int],
        *,
        border: int = 0,
        name: str = "files",
        fix: str | None = None,
    ) -> None:
        self._raster = Raster(files, grid, border=border, name=name)
        self._first, self._fix = str(files[0]), fix
        if self._raster.n_bands != 1 or self._raster.dtype.kind not in "ui":
            self._raster.close()
            raise refused(
                self._first,
                f"has {self._raster.n_bands} bands of {self._raster.dtype}",
                "name a map of one band of whole numbers, the codes of its classes",
            )
        self._order = np.argsort(np.asarray(codes, np.int64))
        self._codes = np.asarray(codes, np.int64)[self._order]

    def read(self, tile: Tile, border: int = 0) -> NDArray[np.int64]:
        """The class of each pixel of a window; -1 where it is not known.

        Args:
            tile: The window.
            border: Pixels on each side.
        """
        pixels = self._raster.read(tile, border)
        codes = pixels.values[0].astype(np.int64)
        place = np.searchsorted(self._codes, codes).clip(max=len(self._codes) - 1)
        among = self._codes[place] == codes
        strange = pixels.known & ~among
        if self._fix is not None and strange.any():
            found = [int(code) for code in np.unique(codes[strange])]
            raise refused(self._first, f"holds the codes {listed(found)}", self._fix)
        return np.where(pixels.known & among, self._order[place], -1)

    def close(self) -> None:
        """Close all files."""
        self._raster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def codes_from(observed: Sequence[str], path: str | os.PathLike[str]) -> tuple[int, ...]:
    """The codes that the rows of a table are named by.

    Args:
        observed: The names of the rows.
        path: The file of the table, for refusals.
    """
    found = []
    for row, name in enumerate(observed):
        try:
            found.append(int(name))
        except ValueError as error:
            fix = "name each row by the code that stands in the coarse map, such as 41"
            what = f"is named {name!r}, which is no whole number"
            raise refused(str(path), what, fix, row=row) from error
    return tuple(found)
