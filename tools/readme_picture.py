"""Draw what `tacit reproduce digits` recorded: the picture of the README, and a small table.

    python tools/readme_picture.py

It writes `docs/images/demo.svg` and `experiments/results/digits.md`; a test compares them with the
record. The page with all figures is written by `tools/result_pages.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from experiments import digits_page
from experiments._store import Store
from experiments.digits_page import Drawn, chance, drawn

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "results" / "digits.json"
PICTURE = ROOT / "docs" / "images" / "demo.svg"
TABLE = ROOT / "experiments" / "results" / "digits.md"

WIDTH, HEIGHT = 860, 448
TOP, ROW = 52, 194
INK, QUIET, PALE, LINE = "#1f2933", "#66737f", "#f4f6f8", "#dde3e8"
RIGHT, WRONG = "#00796b", "#c62828"
BARS = {"chance": "#b8c1ca", "RQ": RIGHT}
OTHER_BAR = "#80cbc4"
TASKS = {"five-candidates": "One of these five", "one-wrong-label": "Not this one"}
SHOWN = ("soft cross-entropy", "union NLL", "EM", "RQ")

table = digits_page.mass_table


def main() -> None:
    """Write the picture and the table."""
    store = Store(RECORD, "digits")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    for path, written in ((PICTURE, picture), (TABLE, table)):
        path.write_text(written(store), "utf-8")


def picture(store: Store) -> str:
    """A row for each task: digits with what is known on the left, accuracies on the right."""
    n = len(store.settings("seed"))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="Helvetica, Arial, sans-serif">',
        f"<title>{_title(store)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        _text(24, 32, "What is known of each digit, and the label found", size=15, weight="bold"),
        _text(470, 32, f"Right labels, %: mean and range of {n} draws", size=15, weight="bold"),
    ]
    for place, task in enumerate(TASKS):
        top = TOP + ROW * place
        if place:
            parts.append(f'<path d="M24 {top - 6}H{WIDTH - 24}" stroke="{LINE}"/>')
        parts.append(_text(24, top + 20, f"“{TASKS[task]}”", colour=QUIET))
        parts += [
            _digit(digit, 24 + 104 * column, top + 32, task)
            for column, digit in enumerate(_digits(store, task))
        ]
        parts += _bars(store, task, 470, top + 32)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _digits(store: Store, task: str) -> list[dict[str, Any]]:
    """The digits that are shown of a task."""
    cell = {"collection": "all", "task": task, "objective": "RQ", "seed": 0}
    shown: list[dict[str, Any]] = store[cell]["digits"]
    return shown


def _title(store: Store) -> str:
    n = len(store.settings("seed"))
    return (
        "Handwritten digits, each with five candidate labels or one wrong label and the label that "
        f"RQ found; beside them the share of right labels over {n} draws"
    )


def _digit(digit: dict[str, Any], left: int, top: int, task: str) -> str:
    """A digit, what is known of it, and the label found with its probability."""
    pixel = 10
    parts = [f'<rect x="{left}" y="{top}" width="80" height="80" rx="3" fill="{PALE}"/>']
    for row, line in enumerate(digit["ink"]):
        parts += [
            f'<rect x="{left + pixel * column}" y="{top + pixel * row}" width="{pixel}" '
            f'height="{pixel}" fill="{INK}" fill-opacity="{ink / 16:.2f}"/>'
            for column, ink in enumerate(line)
            if ink
        ]
    right = digit["resolved"] == digit["truth"]
    colour = RIGHT if right else WRONG
    if task == "five-candidates":
        parts += _candidates(digit, left, top + 104, colour)
    else:
        parts.append(_text(left + 40, top + 104, f"not {digit['listed'][0]}", anchor="middle"))
    found, sure = f"→ {digit['resolved']}", f"{100 * digit['probability']:.0f} %"
    parts.append(_text(left + 2, top + 134, found, size=20, colour=colour, weight="bold"))
    parts.append(_text(left + 44, top + 133, sure, size=12, colour=QUIET))
    if not right:
        parts.append(_text(left + 2, top + 150, f"but is {digit['truth']}", size=12, colour=WRONG))
    return "\n".join(parts)


def _candidates(digit: dict[str, Any], left: int, baseline: int, colour: str) -> list[str]:
    """The candidates, with the one that was found marked."""
    parts = []
    for place, label in enumerate(digit["listed"]):
        middle, chosen = left + 8 + 16 * place, label == digit["resolved"]
        if chosen:
            parts.append(f'<circle cx="{middle}" cy="{baseline - 5}" r="9.5" fill="{colour}"/>')
        shade = "#ffffff" if chosen else INK
        parts.append(_text(middle, baseline, str(label), anchor="middle", colour=shade))
    return parts


def _bars(store: Store, task: str, left: int, top: int) -> list[str]:
    """Chance, then r of each objective."""
    words = digits_page.TASKS[task]
    parts = [_bar(words, left, top, Drawn([], chance(task), 0.0), BARS["chance"])]
    for place, name in enumerate(SHOWN, start=1):
        r = drawn(store, "all", task, name, "r")
        words = "RQ (tacit demo)" if name == "RQ" else name
        parts.append(_bar(words, left, top + 27 * place, r, BARS.get(name, OTHER_BAR)))
    return parts


def _bar(words: str, left: int, top: int, figure: Drawn, colour: str) -> str:
    scale, height, start = 190, 18, left + 132
    bold = "bold" if colour == RIGHT else "normal"
    place = f'x="{start}" y="{top}" height="{height}" rx="2"'
    parts = [
        _text(start - 8, top + 13.5, words, anchor="end", weight=bold),
        f'<rect {place} width="{scale}" fill="{PALE}"/>',
        f'<rect {place} width="{scale * figure.mean:.1f}" fill="{colour}"/>',
        _text(start + scale + 8, top + 13.5, f"{100 * figure.mean:.1f}", weight=bold),
    ]
    if figure.values:
        low, high = (start + scale * end for end in (min(figure.values), max(figure.values)))
        parts.append(f'<path d="M{low:.1f} {top + 9}H{high:.1f}" stroke="{INK}" stroke-width="2"/>')
    return "\n".join(parts)


def _text(
    x: float,
    y: float,
    words: str,
    *,
    size: int = 13,
    anchor: str = "start",
    colour: str = INK,
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
        f'font-weight="{weight}">{words}</text>'
    )


if __name__ == "__main__":
    main()
