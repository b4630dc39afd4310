"""Draw what `experiments/digits.py` recorded: a picture, and a table of the class masses.

    python tools/readme_picture.py

It writes `docs/images/demo.svg` and `experiments/results/digits.md`; a test compares both with the
record.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "results" / "digits.json"
PICTURE = ROOT / "docs" / "images" / "demo.svg"
TABLE = ROOT / "experiments" / "results" / "digits.md"

WIDTH, HEIGHT = 860, 310
INK, QUIET, RESOLVED = "#1f2933", "#66737f", "#00796b"
COLOURS = {"belief": "#b8c1ca", "q": "#80cbc4", "r": RESOLVED}
SHOWN = ("soft cross-entropy", "union NLL", "EM", "RQ")
MASSES = {
    "`RQ`, `BatchMass`": "RQ",
    "`RQ`, `TrackedMass`": "RQ, tracked mass",
    "`EM`, `BatchMass`": "EM",
    "`EM`, `TrackedMass`": "EM, tracked mass",
}


def main() -> None:
    """Write the picture and the table."""
    record = json.loads(RECORD.read_text("utf-8"))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(record), "utf-8")
    TABLE.write_text(table(record), "utf-8")


def table(record: dict[str, Any]) -> str:
    """Accuracy of r under the class masses, mean and worst draw, as Markdown."""
    lines = ["| objective and mass | mean | worst |", "|---|---|---|"]
    for name, key in MASSES.items():
        draws = record["accuracy"][key]["r"]
        lines.append(f"| {name} | {100 * record['mean'][key]['r']:.1f} | {100 * min(draws):.1f} |")
    return "\n".join(lines) + "\n"


def picture(record: dict[str, Any]) -> str:
    """The digits with their candidates on the left, the accuracies on the right, as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="Helvetica, Arial, sans-serif">',
        f"<title>{_title(record)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        _text(24, 34, "What is known, and what tacit makes of it", size=15, weight="bold"),
        *(_digit(digit, 24 + 98 * place) for place, digit in enumerate(record["digits"])),
        *_bars(record, 452),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _title(record: dict[str, Any]) -> str:
    return (
        "Handwritten digits, each with five candidate labels and the one that RQ resolved; beside "
        f"them accuracies over {len(record['draws'])} draws of candidates"
    )


def _digit(digit: dict[str, Any], left: int) -> str:
    """A digit, its candidates with the resolved one marked, and the probability of that one."""
    pixel = 10
    parts = [f'<rect x="{left}" y="58" width="80" height="80" fill="#f4f6f8"/>']
    for row, line in enumerate(digit["ink"]):
        parts += [
            f'<rect x="{left + pixel * column}" y="{58 + pixel * row}" width="{pixel}" '
            f'height="{pixel}" fill="{INK}" fill-opacity="{ink / 16:.2f}"/>'
            for column, ink in enumerate(line)
            if ink
        ]
    parts.append(_text(left + 40, 162, "one of", anchor="middle", colour=QUIET))
    for place, label in enumerate(digit["candidates"]):
        chosen = label == digit["resolved"]
        middle = left + 8 + 16 * place
        if chosen:
            parts.append(f'<circle cx="{middle}" cy="180" r="9.5" fill="{RESOLVED}"/>')
        colour = "#ffffff" if chosen else INK
        parts.append(_text(middle, 185, str(label), anchor="middle", colour=colour))
    parts.append(_text(left + 40, 246, str(digit["resolved"]), size=40, anchor="middle"))
    sure = f"with {digit['probability']:.3f}"
    parts.append(_text(left + 40, 272, sure, anchor="middle", colour=QUIET))
    return "\n".join(parts)


def _bars(record: dict[str, Any], left: int) -> list[str]:
    """Chance, then q and r of each objective: means over the draws, with the range of the draws."""
    n = len(record["draws"])
    parts = [
        _text(left, 34, f"Right labels, %: mean and range of {n} draws", size=15, weight="bold"),
        _text(left + 116, 72, "the candidates, any one", anchor="end"),
        _bar(left + 124, 62, record["chance"], [], "belief"),
    ]
    for place, name in enumerate(SHOWN):
        top = 90 + 46 * place
        parts.append(_text(left + 116, top + 20, name, anchor="end"))
        for key, y in (("q", top), ("r", top + 16)):
            parts.append(
                _bar(left + 124, y, record["mean"][name][key], record["accuracy"][name][key], key)
            )
    legend = {"q": "prediction q", "r": "posterior r"}
    for place, (key, words) in enumerate(legend.items()):
        x = left + 124 + 104 * place
        parts.append(f'<rect x="{x}" y="281" width="10" height="10" fill="{COLOURS[key]}"/>')
        parts.append(_text(x + 15, 290, words, size=11, colour=QUIET))
    return parts


def _bar(left: int, top: int, mean: float, draws: list[float], key: str) -> str:
    scale = 220
    place = f'x="{left}" y="{top}" height="13"'
    parts = [
        f'<rect {place} width="{scale}" fill="#f4f6f8"/>',
        f'<rect {place} width="{scale * mean:.1f}" fill="{COLOURS[key]}"/>',
        _text(left + scale + 8, top + 11, f"{100 * mean:.1f}", size=12),
    ]
    if draws:
        low, high = (left + scale * bound for bound in (min(draws), max(draws)))
        parts.append(
            f'<path d="M{low:.1f} {top + 6.5}H{high:.1f}" stroke="{INK}" stroke-width="1.5"/>'
        )
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
