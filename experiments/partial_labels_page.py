"""The page of `partial_labels`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from experiments._page import at_best_step, bold, mean, percent, provenance, table

if TYPE_CHECKING:
    from experiments._store import Store

__all__ = ["page"]

TITLES: Final = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}


def page(store: Store) -> str:
    """A table for each set; the best of each column is in bold."""
    there = store.settings("set")
    parts = [_HEAD]
    for name, title in TITLES.items():
        if name in there:
            parts += [f"## {title}\n", _table(store, name)]
    return "\n".join([*parts, _FOOT, provenance(store)])


def _table(store: Store, name: str) -> str:
    columns = [str(flips) for flips in store.settings("flips")]
    rows = [str(row) for row in store.settings("row")]
    found = {(row, flips): _values(store, name, flips, row) for row in rows for flips in columns}
    best = {
        flips: max((mean(found[row, flips]) for row in rows if found[row, flips]), default=0.0)
        for flips in columns
    }
    shown = []
    for row in rows:
        cells = []
        for flips in columns:
            values = found[row, flips]
            text = percent(values)
            cells.append(bold(text) if values and mean(values) == best[flips] else text)
        shown.append([row, *cells])
    return table(["chance of a wrong candidate", *columns], shown)


def _values(store: Store, name: str, flips: str, row: str) -> list[float]:
    return [figures["test"] for figures in at_best_step(store, set=name, flips=flips, row=row)]


_HEAD: Final = """\
# Candidate labels

Beside the true label of an image each wrong one is a candidate with the same chance, or
("instance") with one that depends on the image. Test accuracy of the prediction q in percent,
mean and deviation over the draws of candidates and first weights, in the state of best held-out
evidence. All rows have the paper's small network, 60 epochs of Adam in batches of 256, and the
step of three with the highest held-out evidence.
"""
_FOOT: Final = """\
CC is union NLL by its formula, and RC makes the steps of PRODEN; with one label excluded SCL-NL
is union NLL too. Measure it again with `tacit reproduce partial-labels --data DIR`.
"""
