"""The belief of a coarse map and of layers about a map's pixels, window by window."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

import torch

from tacit.raster._codes import CodedMap, codes_from
from tacit.raster._layers import LayerFile, Layers
from tacit.sources import coarse_map

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from torch import Tensor

    from tacit.raster._grid import Grid, Tile
    from tacit.table import Cooccurrence

__all__ = ["CoarseBelief"]


class CoarseBelief:
    """What a coarse map and layers tell of each pixel, in any window.

    By `tacit.sources.coarse_map`, with as much around each window as the blur looks at.

    Args:
        grid: The grid of the map.
        coarse: The coarse map, one or several files.
        table: How its codes, which name the rows, come with the classes.
        layers: Layers of single things.
        sigma: As for `coarse_map`, like `reach` and `smoothing`.
        reach: How far the blur looks.
        smoothing: What keeps every class possible.
        border: Pixels beyond the grid that windows may reach.
        name: Of the table's file, for refusals.

    Attributes:
        classes: The names of the classes.
    """

    def __init__(
        self,
        grid: Grid,
        *,
        coarse: Sequence[str | os.PathLike[str]],
        table: Cooccurrence,
        layers: Sequence[LayerFile] = (),
        sigma: float = 31.0,
        reach: int = 50,
        smoothing: float = 1e-4,
        border: int = 0,
        name: str = "table",
    ) -> None:
        self.classes = table.classes
        self._table = table.table.float()
        self._sigma, self._reach, self._smoothing = sigma, reach, smoothing
        self._halo = max([reach, *(file.reach for file in layers)])
        wide = border + self._halo
        codes = codes_from(table.observed, name)
        fix = f"add a row for each to `{name}`, of zeros for one of which nothing is known"
        with ExitStack() as stack:
            self._codes = stack.enter_context(
                CodedMap(coarse, grid, codes, border=wide, name="coarse", fix=fix)
            )
            self._layers = stack.enter_context(Layers(layers, grid, self.classes, wide))
            self._stack = stack.pop_all()

    def read(self, tile: Tile, border: int = 0) -> Tensor:
        """P in a window, `(class, size + 2 border, size + 2 border)`.

        Args:
            tile: The window.
            border: Pixels on each side, at most those that it was opened with.
        """
        wide = border + self._halo
        return coarse_map(
            torch.from_numpy(self._codes.read(tile, wide)),
            self._table,
            sigma=self._sigma,
            reach=self._reach,
            smoothing=self._smoothing,
            layers=self._layers.read(tile, wide),
            border=self._halo,
        )

    def close(self) -> None:
        """Close all files."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
