"""How the training went: curves of each member, and how it ended."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.report._charts import Line, Mark, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markupsafe import Markup

    from tacit.fitting import Record

__all__ = ["Curve", "Member", "best_epoch", "curves", "members", "thinned"]

_POINTS: Final = 3000
"""Points of a chart, over all of its lines."""
_FEWEST: Final = 50


class Member(NamedTuple):
    """How a member ended.

    Attributes:
        number: Which one, from 1.
        ended: Why.
        epochs: How many it trained for, those before a restart included.
        restarts: How often it began anew.
        best: The epoch that was kept, counted like `epochs`; None where none was chosen.
        last: Its last record.
        kept: The record of the best epoch, or the last one.
    """

    number: int
    ended: str
    epochs: int
    restarts: int
    best: int | None
    last: Record
    kept: Record


class Curve(NamedTuple):
    """A chart.

    Attributes:
        name: What it shows.
        words: How to read it.
        svg: The chart itself.
    """

    name: str
    words: str
    svg: Markup


_CURVES: Final[tuple[tuple[str, str, Callable[[Record], float | None], tuple[str, ...]], ...]] = (
    ("Loss", "What training lowers. A warm-up has another loss.", lambda r: r.loss, ()),
    (
        "Held-out evidence",
        "In nats a row, on rows kept out: 0 is a constant prediction, more is better.",
        lambda r: r.held_out_evidence,
        (),
    ),
    (
        "Information",
        "In nats: how much the prediction depends on the features. Near 0 it has collapsed.",
        lambda r: r.vitals.information,
        ("constant", "vanished"),
    ),
    (
        "Drift of the class mass",
        "The part of the collection that changed its class since the epoch before.",
        lambda r: r.vitals.drift,
        ("drift",),
    ),
)


def members(found: Sequence[Sequence[Record]], ended: Sequence[str]) -> list[Member]:
    """How each member ended.

    Args:
        found: The records of each.
        ended: Why each ended.
    """
    told = [*ended, *["" for _ in found]]
    return [
        Member(
            number=number,
            ended=told[number - 1],
            epochs=len(records),
            restarts=len(_restarts(records)),
            best=best,
            last=records[-1],
            kept=records[-1 if best is None else best - 1],
        )
        for number, records in enumerate(found, 1)
        for best in [best_epoch(records)]
    ]


def best_epoch(records: Sequence[Record]) -> int | None:
    """The epoch whose state was kept, counted from 1 over restarts; None where none was chosen.

    Args:
        records: Of one member.
    """
    begun = (_restarts(records) or [0])[-1]
    best = [place for place in range(begun, len(records)) if records[place].best]
    return best[-1] + 1 if best else None


def curves(found: Sequence[Sequence[Record]]) -> list[Curve]:
    """The charts for which there are figures.

    Args:
        found: The records of each member.
    """
    charts = []
    shaded = _warm_up(found)
    for name, words, figure, kinds in _CURVES:
        drawn = [
            _drawn(f"member {number}", records, figure, kinds, max(_FEWEST, _POINTS // len(found)))
            for number, records in enumerate(found, 1)
        ]
        if any(line.points for line in drawn):
            svg = lines(f"{name} by epoch", drawn, x_name="epoch", shaded=shaded)
            charts.append(Curve(name, words, svg))
    return charts


def thinned(points: Sequence[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """At most so many of the points, the first and the last among them.

    Example:
        >>> thinned([(x, 0.0) for x in range(10)], 4)
        [(0, 0.0), (3, 0.0), (6, 0.0), (9, 0.0)]
    """
    if len(points) <= most:
        return [*points]
    step = (len(points) - 1) / (most - 1)
    return [points[round(number * step)] for number in range(most)]


def _drawn(
    name: str,
    records: Sequence[Record],
    figure: Callable[[Record], float | None],
    kinds: tuple[str, ...],
    most: int,
) -> Line:
    """A member's line."""
    points = [
        (float(place), value)
        for place, record in enumerate(records, 1)
        if (value := figure(record)) is not None
    ]
    at = dict(points)
    marks = [mark for mark in _marks(name, records, kinds, at) if mark.x in at]
    return Line(name, thinned(points, most), marks)


def _marks(
    name: str, records: Sequence[Record], kinds: tuple[str, ...], at: dict[float, float]
) -> Iterator[Mark]:
    """Restarts, the first epoch of each stretch of alarms, and the best epoch."""
    for place in _restarts(records):
        yield Mark(place + 1.0, at.get(place + 1.0, 0.0), "restart", f"{name} began anew")
    before: set[str] = set()
    for place, record in enumerate(records, 1):
        alarms = {each.kind: each.message for each in record.alarms if each.kind in kinds}
        for kind in sorted(alarms.keys() - before):
            words = f"{name}, epoch {place}: {alarms[kind]}"
            yield Mark(float(place), at.get(float(place), 0.0), "alarm", words)
        before = {*alarms}
    if (best := best_epoch(records)) is not None:
        yield Mark(float(best), at.get(float(best), 0.0), "best", f"{name}: best in epoch {best}")


def _restarts(records: Sequence[Record]) -> list[int]:
    """Places of the records with which a member began anew."""
    return [place for place, (a, b) in enumerate(pairwise(records), 1) if b.epoch <= a.epoch]


def _warm_up(found: Sequence[Sequence[Record]]) -> list[tuple[float, float]]:
    """Stretches of epochs in which some member was warming up."""
    epochs = sorted(
        {place for records in found for place, each in enumerate(records, 1) if each.warming_up}
    )
    stretches: list[tuple[float, float]] = []
    for epoch in epochs:
        if stretches and stretches[-1][1] == epoch - 0.5:
            stretches[-1] = (stretches[-1][0], epoch + 0.5)
        else:
            stretches.append((epoch - 0.5, epoch + 0.5))
    return stretches
