"""A belief as rasters, made and written window by window: what `tacit belief` does."""

from __future__ import annotations

import dataclasses
import math
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.raster._area import Area, read_area
from tacit.raster._beliefs import CoarseBelief
from tacit.raster._extra import rasterio
from tacit.raster._grid import Grid
from tacit.raster._products import Stored, class_product, probability_product, share_product
from tacit.raster._raster import Raster
from tacit.raster._write import CACHE, Parts, write_cog
from tacit.runs import RunError, RunFolder
from tacit.table import read_cooccurrence

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.raster._grid import Tile
    from tacit.raster._layers import LayerFile
    from tacit.raster._products import Product

__all__ = ["BeliefRecipe", "BeliefSummary", "write_belief"]

TILE: Final = 512
"""Pixels on each side of the windows that are computed. Always the same, so that results are."""
_PARTS: Final = ".windows"
_TALLY: Final = "tally"


@dataclasses.dataclass(frozen=True)
class BeliefRecipe:
    """What a belief is made of.

    Args:
        imagery: The files whose grid, extent and no-data the belief takes.
        coarse: The coarse map, one or several files.
        cooccurrence: The file of a table: its rows are named by the codes of the coarse map.
        area: A file of polygons, outside of which nothing is wanted.
        layers: Layers of single things.
        sigma: As for `tacit.sources.coarse_map`, like `reach` and `smoothing`.
        reach: How far the blur looks.
        smoothing: What keeps every class possible.
        stored: How probabilities are stored: "uint8" or "float32".
    """

    imagery: tuple[str, ...]
    coarse: tuple[str, ...]
    cooccurrence: str
    area: str | None = None
    layers: tuple[LayerFile, ...] = ()
    sigma: float = 31.0
    reach: int = 50
    smoothing: float = 1e-4
    stored: Stored = "uint8"

    def resolved(self) -> dict[str, Any]:
        """All settings as plain values, with what tells whether a file was changed."""
        settings = dataclasses.asdict(self)
        settings["layers"] = [layer._asdict() for layer in self.layers]
        single = (self.cooccurrence, *([self.area] if self.area else []))
        files = (*self.imagery, *self.coarse, *single, *(layer.path for layer in self.layers))
        return {**settings, "files": {path: _version(path) for path in files}}


@dataclasses.dataclass(frozen=True)
class BeliefSummary:
    """What became of a belief.

    Args:
        out: The folder.
        files: The rasters in it.
        classes: The names of the classes.
        width: Columns of the grid.
        height: Its rows.
        n_pixels: Pixels with data, within the area.
        balance: The share of each class, as the belief has it.
        bits: Its mean entropy, in bits.
        seconds: How long it took.
    """

    out: str
    files: tuple[str, ...]
    classes: tuple[str, ...]
    width: int
    height: int
    n_pixels: int
    balance: tuple[float, ...]
    bits: float
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> BeliefSummary:
        """The summary that plain values tell of.

        Args:
            plain: What `as_dict` returned.
        """
        lists = {name: tuple(plain[name]) for name in ("files", "classes", "balance")}
        return cls(**{**plain, **lists})


def write_belief(
    recipe: BeliefRecipe,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    watch: Callable[[int, int], None] | None = None,
) -> BeliefSummary:
    """Write what a coarse map and layers tell of each pixel of imagery.

    Three Cloud Optimised GeoTIFFs on the imagery's grid: `belief.tif`, the probability of each
    class; `classes.tif`, the likeliest; `entropy.tif`, in bits. Finished windows are kept until
    all are done; whatever the size of the rasters, one window at a time is in memory.

    Args:
        recipe: What it is made of.
        out: The folder of the run; it must be new, or that of a run to go on with.
        resume: Whether to go on with it.
        watch: Is told how many windows are done, and how many there are.

    Raises:
        InvalidInputError: If a file cannot be used; finished windows are kept.
        RunError: If the folder cannot be used.
    """
    started, folder = time.monotonic(), Path(out)
    with ExitStack() as stack:
        stack.enter_context(rasterio.Env(GDAL_CACHEMAX=CACHE))
        work = _Work.opened(recipe, stack)
        run = stack.enter_context(
            RunFolder.opened(folder, "belief", recipe.resolved(), resume=resume)
        )
        done = run.results()
        if done is not None:
            _check_outputs(folder, work.products)
            return BeliefSummary.of(done)
        parts = Parts(folder / _PARTS)
        tiles = work.grid.tiles(TILE)
        for number, tile in enumerate(tiles):
            if tile not in parts:
                parts.save(tile, work.made(tile))
            if watch is not None:
                watch(number + 1, len(tiles))
        for product in work.products:
            write_cog(folder / f"{product.name}.tif", work.grid, product, tiles, parts)
        tally = sum(parts.load(tile, _TALLY) for tile in tiles)
        summary = work.summary(folder, tally, time.monotonic() - started)
        run.complete(summary.as_dict())
        parts.clear()
        return summary


@dataclasses.dataclass(frozen=True)
class _Work:
    """All that windows are made from, open."""

    grid: Grid
    imagery: Raster
    belief: CoarseBelief
    area: Area | None
    products: tuple[Product, Product, Product]

    @classmethod
    def opened(cls, recipe: BeliefRecipe, stack: ExitStack) -> _Work:
        area = None if recipe.area is None else read_area(recipe.area)
        grid = Grid.of(recipe.imagery, area=area)
        area = None if area is None else area.to(grid.crs)
        imagery = stack.enter_context(Raster(recipe.imagery, grid, name="imagery"))
        table = read_cooccurrence(recipe.cooccurrence)
        belief = CoarseBelief(
            grid,
            coarse=recipe.coarse,
            table=table,
            layers=recipe.layers,
            sigma=recipe.sigma,
            reach=recipe.reach,
            smoothing=recipe.smoothing,
            name=recipe.cooccurrence,
        )
        products = (
            probability_product("belief", table.classes, recipe.stored),
            class_product("classes", table.classes),
            share_product(
                "entropy", "bits", most=math.log2(len(table.classes)), stored=recipe.stored
            ),
        )
        return cls(grid, imagery, stack.enter_context(belief), area, products)

    def made(self, tile: Tile) -> dict[str, NDArray[Any]]:
        """What is kept of a window: the products, and what is counted."""
        known = self.imagery.known(tile)
        if self.area is not None:
            known &= self.area.mask(self.grid.around(tile, 0))
        known[tile.height :], known[:, tile.width :] = False, False
        n_classes = len(self.belief.classes)
        shape = (n_classes, tile.size, tile.size)
        # Where there is no imagery the coarse map is not even looked at.
        p = self.belief.read(tile).numpy() if known.any() else np.full(shape, 1 / n_classes)
        bits = -(p * np.log2(p, where=p > 0, out=np.zeros_like(p))).sum(0, keepdims=True)
        values = (p, p.argmax(0)[np.newaxis], bits)
        made: dict[str, NDArray[Any]] = {
            product.name: product.stored(value, known)
            for product, value in zip(self.products, values, strict=True)
        }
        sums = [known.sum(), bits[0][known].sum(dtype=float), *p[:, known].sum(1, dtype=float)]
        return {**made, _TALLY: np.array(sums, float)}

    def summary(self, folder: Path, tally: Any, seconds: float) -> BeliefSummary:
        n = max(float(tally[0]), 1.0)
        return BeliefSummary(
            out=str(folder),
            files=tuple(f"{product.name}.tif" for product in self.products),
            classes=self.belief.classes,
            width=self.grid.width,
            height=self.grid.height,
            n_pixels=int(tally[0]),
            balance=tuple((tally[2:] / n).tolist()),
            bits=float(tally[1] / n),
            seconds=round(seconds, 1),
        )


def _version(path: str) -> list[int] | None:
    """Size and time of a file; None of what is not on this machine."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _check_outputs(folder: Path, products: Sequence[Product]) -> None:
    for product in products:
        if not (folder / f"{product.name}.tif").exists():
            raise RunError(
                f"'{folder}' holds a finished run whose {product.name}.tif is gone; name a new "
                "folder with --out."
            )
