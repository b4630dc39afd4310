"""The page and the picture of `rankings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from experiments._page import percent, provenance, table
from experiments._plot import tinted

if TYPE_CHECKING:
    from experiments._store import Store

__all__ = ["page", "pictures"]

PICTURE: Final = "rankings.svg"
SHOWN: Final = "pairs"


def page(store: Store) -> str:
    """Accuracies, and how they came about."""
    rows = [
        [
            str(known),
            percent(_values(store, str(known), "test")),
            percent(_values(store, str(known), "train")),
        ]
        for known in store.settings("known")
    ]
    return "\n".join(
        (
            _HEAD,
            table(["what is known", "test", "training images"], rows),
            f"![Confusion matrices in the course of training](../images/{PICTURE})\n",
            _FOOT,
            provenance(store),
        )
    )


def pictures(store: Store) -> dict[str, str]:
    """The confusion matrices of the first draw of the paper's setting, epoch by epoch."""
    found = [figures for _, figures in store.matching(known=SHOWN)]
    if not found:
        return {}
    frames = [(f"epoch {epoch}", rows) for epoch, rows in found[0]["confusions"].items()]
    return {PICTURE: tinted(frames)}


def _values(store: Store, known: str, what: str) -> list[float]:
    return [figures[what] for _, figures in store.matching(known=known) if what in figures]


_HEAD: Final = """\
# Rankings, orderings, bags

No digit of MNIST is told. Of each group of training images one knows how its digits compare:
which of two is greater or equal (the paper's experiment), the order of three, five or ten, how
often each digit occurs among five, ten or fifty, or only whether two are equal; then classes have
no names, and are matched to the digits before they are counted. Accuracy of the prediction q in
percent, mean and deviation over the draws of groups and first weights.
"""
_FOOT: Final = """\
What is not in the table has not been measured yet. Rows are true digits, columns what the network
says of the test images, for the first draw of the pairs. The paper reports 97 % on training and
test images for pairs, and shows the same picture: the extremes are found first.

The paper's small network, RQ, Adam from a step of 0.001 down to zero by a cosine, 8 epochs,
batches of 256 images in whole groups. "A mass for each position" has one class mass for the
greater and one for the lesser digits of the pairs, as the paper's equation has it; its notebook
has one for both. Measure it again with `tacit reproduce rankings --data DIR`.
"""
