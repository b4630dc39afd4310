"""Charts as SVG that stands in the page: it takes the page's colours and needs no script."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Line", "Mark", "diagram", "histogram", "lines", "ticks"]

_WIDTH: Final = 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 14, 42
_N_COLOURS: Final = 6
_N_TICKS: Final = 6


class Mark(NamedTuple):
    """A point of a line that is marked.

    Attributes:
        x: Where.
        y: Where.
        kind: "best", "alarm" or "restart".
        words: What it says of itself.
    """

    x: float
    y: float
    kind: str
    words: str


class Line(NamedTuple):
    """A line of a chart.

    Attributes:
        name: What it is called.
        points: Its points, from left to right.
        marks: Those that are marked.
    """

    name: str
    points: Sequence[tuple[float, float]]
    marks: Sequence[Mark] = ()


class _Axis(NamedTuple):
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers that cover a range.

    Example:
        >>> ticks(0.03, 0.66), ticks(0, 0)
        ([0.0, 0.2, 0.4, 0.6, 0.8], [-1.0, -0.5, 0.0, 0.5, 1.0])
    """
    if not high > low:
        low, high = low - max(1.0, abs(low)), high + max(1.0, abs(high))
    rough = (high - low) / (_N_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def lines(
    title: str, found: Sequence[Line], *, x_name: str, shaded: Sequence[tuple[float, float]] = ()
) -> Markup:
    """Lines over a common axis.

    Args:
        title: What is drawn, for those who cannot see it.
        found: The lines.
        x_name: What the axis below says.
        shaded: Stretches of it that are shaded.
    """
    height = 250
    xs, ys = zip(*(point for line in found for point in line.points), strict=True)
    y_ticks = ticks(min(ys), max(ys))
    x_ticks = [tick for tick in ticks(min(xs), max(xs)) if min(xs) <= tick <= max(xs)]
    x = _Axis(min(xs), max(max(xs), min(xs) + 1), _LEFT, _WIDTH - _RIGHT)
    y = _Axis(y_ticks[0], y_ticks[-1], height - _BOTTOM, _TOP)
    told = "; ".join(f"{line.name} ends at {line.points[-1][1]:.3g}" for line in found)
    return _svg(
        height,
        f"{title}. {told}",
        [
            *(
                Markup('<rect class="shade" x="{}" y="{}" width="{}" height="{}"/>').format(
                    x.at(max(start, x.low)),
                    _TOP,
                    round(x.at(min(stop, x.high)) - x.at(max(start, x.low)), 1),
                    height - _BOTTOM - _TOP,
                )
                for start, stop in shaded
            ),
            _frame(x, y, x_ticks or [min(xs)], y_ticks, x_name),
            *(_line(line, number, x, y) for number, line in enumerate(found)),
            *(
                _mark(mark, number, x, y)
                for number, line in enumerate(found)
                for mark in line.marks
            ),
        ],
    )


def histogram(title: str, counts: Sequence[int], other: Sequence[int] | None = None) -> Markup:
    """Counts of values between 0 and 1, and the outline of others behind them.

    Args:
        title: What is counted, for those who cannot see it.
        counts: The number of values in bins of equal width.
        other: Of other values.
    """
    height, n_bins = 230, len(counts)
    y_ticks = [tick for tick in ticks(0, max(1, *counts, *(other or ()))) if tick == int(tick)]
    x = _Axis(0, 1, _LEFT, _WIDTH - _RIGHT)
    y = _Axis(0, y_ticks[-1], height - _BOTTOM, _TOP)
    bars = [
        Markup(
            '<rect class="r" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
        ).format(
            x.at(place / n_bins) + 1,
            y.at(count),
            round(x.at(1 / n_bins) - x.at(0) - 2, 1),
            round(y.at(0) - y.at(count), 1),
            f"{place / n_bins:g} to {(place + 1) / n_bins:g}: {count:,}",
        )
        for place, count in enumerate(counts)
        if count
    ]
    outline = [] if other is None else [_steps(other, x, y)]
    frame = _frame(x, y, [0, 0.2, 0.4, 0.6, 0.8, 1], y_ticks, "largest probability of a row")
    return _svg(height, title, [frame, *bars, *outline])


def diagram(
    title: str,
    points: Iterable[tuple[float, float, int]],
    most: float | None = None,
    *,
    kind: str = "q",
    told: str = "believed",
) -> Markup:
    """A reliability diagram: on the dashed line, confidence and accuracy are the same.

    Args:
        title: What is drawn, for those who cannot see it.
        points: Confidence, accuracy and number of rows of each bin that has any.
        most: The accuracy that is possible at all.
        kind: Of which table, "q" or "r".
        told: What the accuracy is called.
    """
    height, found = 330, list(points)
    x = _Axis(0, 1, _LEFT, _LEFT + height - _TOP - _BOTTOM)
    y = _Axis(0, 1, height - _BOTTOM, _TOP)
    total = max(1, sum(size for _, _, size in found))
    fifths = [0, 0.2, 0.4, 0.6, 0.8, 1]
    parts = [
        _frame(x, y, fifths, fifths, f"confidence of {kind}"),
        Markup('<path class="ideal" d="M{} {}L{} {}"/>').format(x.at(0), y.at(0), x.at(1), y.at(1)),
    ]
    if most is not None:
        parts.append(
            Markup('<path class="p most" d="M{} {}H{}"/>').format(x.at(0), y.at(most), x.at(1))
        )
    for confidence, accuracy, size in found:
        parts.append(
            Markup('<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>').format(
                kind,
                x.at(confidence),
                y.at(accuracy),
                round(3 + 9 * math.sqrt(size / total), 1),
                f"{size:,} rows: confidence {confidence:.3f}, {told} {accuracy:.3f}",
            )
        )
    return _svg(height, title, parts, width=_LEFT + height - _TOP - _BOTTOM + _RIGHT)


def _svg(height: int, title: str, parts: Iterable[Markup], width: int = _WIDTH) -> Markup:
    svg = '<svg viewBox="0 0 {0} {1}" style="max-width:{2}px" role="img" aria-label="{3}">{4}</svg>'
    return Markup(svg).format(width, height, round(1.2 * width), title, Markup("").join(parts))


def _frame(
    x: _Axis, y: _Axis, x_ticks: Sequence[float], y_ticks: Sequence[float], x_name: str
) -> Markup:
    """Grid, numbers and the name of the axis below."""
    rows = (
        Markup('<path class="grid" d="M{} {}H{}"/><text class="y" x="{}" y="{}">{}</text>').format(
            x.start, y.at(tick), x.end, x.start - 7, y.at(tick) + 4, _number(tick)
        )
        for tick in y_ticks
    )
    columns = (
        Markup('<text class="x" x="{}" y="{}">{}</text>').format(
            x.at(tick), y.start + 18, _number(tick)
        )
        for tick in x_ticks
    )
    name = Markup('<text class="x name" x="{}" y="{}">{}</text>').format(
        (x.start + x.end) / 2, y.start + 36, x_name
    )
    return Markup("").join([*rows, *columns, name])


def _line(line: Line, number: int, x: _Axis, y: _Axis) -> Markup:
    path = " ".join(f"{x.at(a):g},{y.at(b):g}" for a, b in line.points)
    return Markup('<polyline class="line m{}" points="{}"><title>{}</title></polyline>').format(
        number % _N_COLOURS, path, line.name
    )


def _mark(mark: Mark, number: int, x: _Axis, y: _Axis) -> Markup:
    shapes = {
        "best": '<circle cx="{}" cy="{}" r="5" class="best m{}"><title>{}</title></circle>',
        "alarm": '<path transform="translate({} {})" d="M0-8L7 5H-7Z" class="alarm m{}">'
        "<title>{}</title></path>",
        "restart": '<path transform="translate({} {})" d="M-5-5H5V5H-5Z" class="restart m{}">'
        "<title>{}</title></path>",
    }
    return Markup(shapes[mark.kind]).format(
        x.at(mark.x), y.at(mark.y), number % _N_COLOURS, mark.words
    )


def _steps(counts: Sequence[int], x: _Axis, y: _Axis) -> Markup:
    """The outline of a histogram."""
    path = [f"M{x.at(0)} {y.at(0)}"]
    for place, count in enumerate(counts):
        path.append(f"V{y.at(count)}H{x.at((place + 1) / len(counts))}")
    return Markup('<path class="outline p" d="{}"/>').format(f"{''.join(path)}V{y.at(0)}")


def _number(value: float) -> str:
    """A number beside an axis.

    Example:
        >>> _number(0.30000000000000004), _number(20000), _number(-0.5)
        ('0.3', '20,000', '-0.5')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
