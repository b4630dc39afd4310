"""Lines with their errors, as SVG that reads on light and on dark pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COLOURS", "Axes", "Line", "plotted", "tinted"]

COLOURS: Final = ("#00796b", "#c62828", "#1565c0", "#ef6c00", "#6a1b9a", "#5d4037", "#546e7a")
_WIDTH, _HEIGHT = 430, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 34, 46
_TICKS = 5
_FAINTEST = 0.01


class Line(NamedTuple):
    """A curve.

    Attributes:
        name: In the legend; empty for none.
        points: x, mean and standard error of each.
        colour: As CSS has it.
        pale: Whether it stands back.
    """

    name: str
    points: Sequence[tuple[float, float, float]]
    colour: str
    pale: bool = False


class Axes(NamedTuple):
    """One frame.

    Attributes:
        title: Above it.
        across: What runs to the right.
        up: What runs upwards.
        low: Lowest value shown.
        high: Highest value shown.
        ticks: Where the axis to the right is labelled, with the words.
        lines: The curves.
    """

    title: str
    across: str
    up: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    lines: Sequence[Line]


def plotted(frames: Sequence[Axes], legend: Sequence[Line]) -> str:
    """Frames side by side with one legend below."""
    width, height = _WIDTH * len(frames), _HEIGHT + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#66737f">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, frame in enumerate(frames):
        parts.append(f'<g transform="translate({_WIDTH * place} 0)">')
        parts += _frame(frame)
        parts.append("</g>")
    parts += _legend(legend, width, _HEIGHT + 10)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frame(frame: Axes) -> list[str]:
    first, last = frame.ticks[0][0], frame.ticks[-1][0]

    def x(value: float) -> float:
        share = (value - first) / ((last - first) or 1)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        share = (min(max(value, frame.low), frame.high) - frame.low) / (frame.high - frame.low)
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [f'<text x="{_LEFT}" y="20" font-size="14" fill="#1f2933">{escape(frame.title)}</text>']
    for step in range(_TICKS + 1):
        value = frame.low + (frame.high - frame.low) * step / _TICKS
        parts.append(
            f'<path d="M{_LEFT} {y(value)}H{_WIDTH - _RIGHT}" stroke="#dde3e8"/>'
            f'<text x="{_LEFT - 6}" y="{y(value) + 4}" text-anchor="end">{value:g}</text>'
        )
    for value, word in frame.ticks:
        parts.append(
            f'<text x="{x(value)}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">'
            f"{escape(word)}</text>"
        )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(frame.across)}</text>'
        f'<text transform="translate(13 {(_TOP + _HEIGHT - _BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(frame.up)}</text>'
    )
    for line in frame.lines:
        parts += _line(line, x, y)
    return parts


def _line(line: Line, x: object, y: object) -> list[str]:
    assert callable(x)
    assert callable(y)
    if not line.points:
        return []
    look = 'stroke-width="1.4" stroke-opacity="0.45"' if line.pale else 'stroke-width="2"'
    over = " ".join(f"{x(at)},{y(value + error)}" for at, value, error in line.points)
    under = " ".join(f"{x(at)},{y(value - error)}" for at, value, error in reversed(line.points))
    through = " ".join(f"{x(at)},{y(value)}" for at, value, _ in line.points)
    return [
        f'<polygon points="{over} {under}" fill="{line.colour}" fill-opacity="0.12"/>',
        f'<polyline points="{through}" fill="none" stroke="{line.colour}" {look}/>',
    ]


def _legend(lines: Sequence[Line], width: int, top: int) -> list[str]:
    step = (width - _LEFT) / max(len(lines), 1)
    return [
        f'<path d="M{_LEFT + step * place} {top}h18" stroke="{line.colour}" stroke-width="3"/>'
        f'<text x="{_LEFT + step * place + 24}" y="{top + 4}">{escape(line.name)}</text>'
        for place, line in enumerate(lines)
    ]


_CELL, _GAP = 15, 18


def tinted(frames: Sequence[tuple[str, Sequence[Sequence[float]]]]) -> str:
    """Tables side by side, each row's shares as depth of colour, with a title above each.

    Args:
        frames: Titles, and rows of counts.
    """
    side = len(frames[0][1]) * _CELL
    width, height = len(frames) * (side + _GAP) + _GAP, side + 2 * _GAP + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#66737f">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, (title, rows) in enumerate(frames):
        left = _GAP + place * (side + _GAP)
        parts.append(f'<text x="{left}" y="{_GAP}">{escape(title)}</text>')
        parts.append(
            f'<rect x="{left}" y="{_GAP + 8}" width="{side}" height="{side}" fill="#f4f6f8"/>'
        )
        for i, row in enumerate(rows):
            for j, count in enumerate(row):
                share = count / (sum(row) or 1)
                if share >= _FAINTEST:
                    parts.append(
                        f'<rect x="{left + j * _CELL}" y="{_GAP + 8 + i * _CELL}" width="{_CELL}" '
                        f'height="{_CELL}" fill="#00796b" fill-opacity="{share:.2f}"/>'
                    )
    return "\n".join([*parts, "</svg>"]) + "\n"
