"""The page of `batch_size`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from experiments._page import at_best_step, percent, provenance, table

if TYPE_CHECKING:
    from experiments._store import Store

__all__ = ["page"]

WORLDS: Final = {"all": "All digits", "thinned": "Five classes thinned to 15 %"}
PAPER: Final = {
    "RQ": (95.96, 96.32, 96.66, 94.18, 93.35, 92.41, 91.10, 89.04),
    "union NLL": (94.57, 94.83, 96.15, 96.64, 96.85, 96.78, 96.99, 96.93),
}
"""The paper's table: the best epoch's test accuracy, mean of ten draws, from 256 down to 2."""
PAPER_SIZES: Final = (256, 128, 64, 32, 16, 8, 4, 2)


def page(store: Store) -> str:
    """A table for each world."""
    parts = [_HEAD]
    for world in store.settings("world"):
        parts += [f"## {WORLDS[str(world)]}\n", _table(store, str(world))]
    return "\n".join([*parts, _FOOT, provenance(store)])


def _table(store: Store, world: str) -> str:
    sizes = sorted((int(size) for size in store.settings("batch")), reverse=True)
    rows = [
        [str(row), *(percent(_values(store, world, size, str(row))) for size in sizes)]
        for row in store.settings("row")
    ]
    if world == "all":
        for row, values in PAPER.items():
            said = dict(zip(PAPER_SIZES, values, strict=True))
            rows.append([f"{row} in the paper, best epoch", *(f"{said[s]:.1f}" for s in sizes)])
    return table(["batch", *map(str, sizes)], rows)


def _values(store: Store, world: str, size: int, row: str) -> list[float]:
    return [figures["test"] for figures in at_best_step(store, world=world, batch=size, row=row)]


_HEAD: Final = """\
# Batch size

Of each digit of MNIST one knows one label that it does not have. The paper's small network, Adam;
test accuracy of the prediction q after the last epoch, in percent, mean and deviation over the
draws. Each row has, at each batch size, the step of four (0.00003 to 0.001) with the highest
held-out evidence after the last epoch.
"""
_FOOT: Final = """\
Epochs: 100 at batches of 256, 60 at 128, 40 at 64, 30 at 32, 20 at 16, 12 at 8, 8 at 4, 5 at 2.
The paper trains for 300 epochs at every size, and reports the best epoch. Measure it again with
`tacit reproduce batch-size --data DIR`.
"""
