"""What true labels say of a run, where somebody has some: accuracy, confusion, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.report._charts import diagram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from tacit.diagnostics import Judged, Reliability
    from tacit.report._tally import Tally

__all__ = ["Against", "points_of", "truth_of"]

_N_CLASSES: Final = 12
"""Classes up to which the whole table of confusion is shown."""
_N_CELLS: Final = 20
"""Confusions that are listed where there are more classes."""
_NAMES: Final = {"r": "posterior r", "q": "prediction q"}


class Against(NamedTuple):
    """A table, r or q, beside true labels.

    Attributes:
        kind: "r" or "q".
        name: What it is called.
        n: Number of rows whose true label is known.
        accuracy: Share of them that are right.
        standard_error: Of that share.
        error: Expected calibration error.
        svg: The reliability diagram.
        points: Confidence, accuracy and number of rows of its bins that have any.
        matrix: Names of the true labels and the number of rows by label found, or empty.
        mistakes: The commonest confusions, each with true label, label found, number of rows.
    """

    kind: str
    name: str
    n: int
    accuracy: float
    standard_error: float
    error: float
    svg: Markup
    points: Sequence[tuple[float, float, int]]
    matrix: Sequence[tuple[str, Sequence[int]]]
    mistakes: Sequence[tuple[str, str, int]]


def truth_of(tally: Tally, classes: Sequence[str]) -> list[Against]:
    """R and q beside true labels, where any is known.

    Args:
        tally: What the table says.
        classes: Names of the classes.
    """
    return [_against(kind, found, classes) for kind, found in tally.judged.items() if found.n]


def points_of(found: Reliability) -> list[tuple[float, float, int]]:
    """Confidence, accuracy and number of rows of each bin that has any."""
    bins = zip(found.confidence.tolist(), found.accuracy.tolist(), found.size.tolist(), strict=True)
    return [(confidence, right, size) for confidence, right, size in bins if size]


def _against(kind: str, found: Judged, classes: Sequence[str]) -> Against:
    points = points_of(found.reliability)
    title = f"Reliability of {kind} against true labels, in {len(points)} bins that have rows"
    few = len(classes) <= _N_CLASSES
    return Against(
        kind=kind,
        name=_NAMES[kind],
        n=found.n,
        accuracy=found.accuracy,
        standard_error=found.standard_error,
        error=found.reliability.error,
        svg=diagram(title, points, kind=kind, told="right"),
        points=points,
        matrix=[*zip(classes, found.confusion.tolist(), strict=True)] if few else [],
        mistakes=[] if few else _mistakes(found, classes),
    )


def _mistakes(found: Judged, classes: Sequence[str]) -> list[tuple[str, str, int]]:
    wrong = found.confusion.clone().fill_diagonal_(0).flatten()
    order = wrong.argsort(descending=True, stable=True)[:_N_CELLS].tolist()
    cells = ((*divmod(place, len(classes)), int(wrong[place])) for place in order)
    return [(classes[true], classes[said], size) for true, said, size in cells if size]
