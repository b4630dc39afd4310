"""How often codes of two maps come together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from tacit.raster._raster import Raster
from tacit.table._errors import refused

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.raster._grid import Grid, Tile

    Path = str | os.PathLike[str]

__all__ = ["counted", "counted_tiles"]

_TILE = 1024


def counted(first: Sequence[Path], second: Sequence[Path], grid: Grid) -> Counter[tuple[int, int]]:
    """The number of pixels of a grid with each pair of codes, where both maps have data.

    Args:
        first: Files of one map.
        second: Files of the other.
        grid: The grid; both are warped to it by the nearest pixel.
    """
    total: Counter[tuple[int, int]] = Counter()
    for _, counts in counted_tiles(first, second, grid, lambda _: [None]):
        total.update(counts)
    return total


def counted_tiles(
    first: Sequence[Path],
    second: Sequence[Path],
    grid: Grid,
    masks: Callable[[Tile], Sequence[NDArray[np.bool_] | None]],
) -> Iterator[tuple[int, Counter[tuple[int, int]]]]:
    """The same window by window and mask by mask, each with the number of the mask.

    Args:
        first: Files of one map.
        second: Files of the other.
        grid: The grid.
        masks: The pixels of a window that count; all of them for None.
    """
    with Raster(first, grid, name="map") as one, Raster(second, grid, name="reference") as other:
        _check_codes(one, first)
        _check_codes(other, second)
        for tile in grid.tiles(_TILE):
            a, b = one.read(tile), other.read(tile)
            known = a.known & b.known
            known[tile.height :], known[:, tile.width :] = False, False
            for number, mask in enumerate(masks(tile)):
                within = known if mask is None else known & mask
                yield number, _pairs(a.values[0][within], b.values[0][within])


def _pairs(one: NDArray[np.generic], other: NDArray[np.generic]) -> Counter[tuple[int, int]]:
    both = np.stack([one.astype(np.int64), other.astype(np.int64)])
    pairs, counts = np.unique(both, axis=1, return_counts=True)
    return Counter(dict(zip(map(tuple, pairs.T.tolist()), counts.tolist(), strict=True)))


def _check_codes(raster: Raster, files: Sequence[Path]) -> None:
    if raster.n_bands != 1 or raster.dtype.kind not in "ui":
        raise refused(
            str(files[0]),
            f"has {raster.n_bands} bands of {raster.dtype}",
            "name a map of one band of whole numbers, the codes of its classes",
        )
