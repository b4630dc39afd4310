"""The page and the picture of `negative_labels`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from experiments._page import mean, percent, provenance, spread, table
from experiments._plot import COLOURS, Axes, Line, plotted

if TYPE_CHECKING:
    from experiments._store import Store

__all__ = ["page", "pictures"]

TITLES: Final = {"mnist": "MNIST", "cifar10": "CIFAR-10"}
LOWEST: Final = {"mnist": 80.0, "cifar10": 20.0}
HIGHEST: Final = {"mnist": 100.0, "cifar10": 80.0}
PICTURE: Final = "negative-labels.svg"


def page(store: Store) -> str:
    """A picture like the paper's, and all figures."""
    parts = [_HEAD, f"![Test accuracy by the number of negative labels](../images/{PICTURE})\n"]
    for name in _sets(store):
        parts.append(f"## {TITLES[name]}\n")
        for figure, words in _FIGURES.items():
            parts += [f"{words}:\n", _table(store, name, figure)]
    return "\n".join([*parts, _FOOT, provenance(store)])


def pictures(store: Store) -> dict[str, str]:
    """Final accuracies in full colour, and the best of any epoch in pale ones."""
    objectives = [str(each) for each in store.settings("objective")]
    colours = dict(zip(objectives, COLOURS, strict=False))
    frames = [
        Axes(
            title=TITLES[name],
            across="negative labels of each image",
            up="test accuracy, percent",
            low=LOWEST[name],
            high=HIGHEST[name],
            ticks=[(k, str(k)) for k in range(1, 10)],
            lines=[
                Line(each, _points(store, name, each, figure), colours[each], pale)
                for each in objectives
                for figure, pale in (("peak test", True), ("test", False))
            ],
        )
        for name in _sets(store)
    ]
    return {PICTURE: plotted(frames, [Line(name, (), colours[name]) for name in objectives])}


def _points(
    store: Store, name: str, objective: str, figure: str
) -> list[tuple[float, float, float]]:
    found = []
    for k in _numbers(store):
        values = _values(store, name, k, objective, figure)
        if values:
            error = spread(values) / math.sqrt(len(values))
            found.append((float(k), 100 * mean(values), 100 * error))
    return found


def _table(store: Store, name: str, figure: str) -> str:
    numbers = _numbers(store)
    rows = [
        [
            str(objective),
            *(
                percent(values)
                if (values := _values(store, name, k, str(objective), figure))
                else "–"
                for k in numbers
            ),
        ]
        for objective in store.settings("objective")
    ]
    return table(["negative labels", *map(str, numbers)], rows)


def _values(store: Store, name: str, k: int, objective: str, figure: str) -> list[float]:
    cells = store.matching(set=name, negatives=k, objective=objective)
    return [figures[figure] for _, figures in cells]


def _numbers(store: Store) -> list[int]:
    return sorted(int(k) for k in store.settings("negatives"))


def _sets(store: Store) -> list[str]:
    there = store.settings("set")
    return [name for name in TITLES if name in there]


_FIGURES: Final = {
    "test": "Test accuracy after the last epoch",
    "peak test": "Test accuracy after the best epoch",
    "train": "Accuracy on images of the training set after the last epoch",
}
_HEAD: Final = """\
# Negative labels

Of each image one knows only k labels that it does not have. The paper's small network, Adam at
1e-4, batches of 256, 300 epochs; accuracy of the prediction q in percent, mean and deviation over
the draws of labels and first weights.
"""
_FOOT: Final = """\
## Beside the paper

The paper's figure shows the same for cross-entropy, union NLL, QR and RQ, ten draws each; in its
words RQ and union NLL are close, cross-entropy falls behind where little is known, and QR
degenerates with longer training. "EM, tracked mass" is not in the paper. The networks computed in
bfloat16 here. QR has tacit's smoothing of 1e-4, where the paper's code clamps at 1e-9. Measure it
again with `tacit reproduce negative-labels --data DIR`.
"""
