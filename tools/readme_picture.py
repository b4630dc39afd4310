"""Draw what `experiments/digits.py` recorded: a picture, and a page with all of its figures.

    python tools/readme_picture.py

It writes `docs/images/demo.svg`, `docs/digits.md` and `experiments/results/digits.md`; a test
compares them with the record.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "results" / "digits.json"
PICTURE = ROOT / "docs" / "images" / "demo.svg"
TABLE = ROOT / "experiments" / "results" / "digits.md"
PAGE = ROOT / "docs" / "digits.md"

WIDTH, HEIGHT = 860, 448
TOP, ROW = 52, 194
INK, QUIET, PALE, LINE = "#1f2933", "#66737f", "#f4f6f8", "#dde3e8"
RIGHT, WRONG = "#00796b", "#c62828"
BARS = {"chance": "#b8c1ca", "RQ": RIGHT}
OTHER_BAR = "#80cbc4"
TASKS = {
    "five-candidates": ("One of these five", "any of the five"),
    "one-wrong-label": ("Not this one", "any of the other nine"),
}
SHOWN = ("soft cross-entropy", "union NLL", "EM", "RQ")
COLLECTIONS = {"all": "All digits", "unbalanced": "Unbalanced classes"}
MASSES = {
    "`RQ`, `BatchMass`": "RQ",
    "`RQ`, `TrackedMass`, warmed up": "RQ, tracked mass, warmed up",
    "`EM`, `BatchMass`": "EM",
    "`EM`, `TrackedMass`, warmed up": "EM, tracked mass, warmed up",
    "`EM`, `TrackedMass`": "EM, tracked mass",
}


def main() -> None:
    """Write the picture, the table and the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    for path, drawn in ((PICTURE, picture), (TABLE, table), (PAGE, page)):
        path.write_text(drawn(record), "utf-8")


def table(record: dict[str, Any]) -> str:
    """Accuracy of r under the class masses, mean and worst draw, as Markdown."""
    lines = ["| objective and mass | mean | worst |", "|---|---:|---:|"]
    for name, key in MASSES.items():
        r = record["accuracy"]["all"]["five-candidates"][key]["r"]
        lines.append(f"| {name} | {100 * r['mean']:.1f} | {100 * min(r['draws']):.1f} |")
    return "\n".join(lines) + "\n"


PAGE_HEAD = """\
# The digits of the demo

<!-- Written by tools/readme_picture.py from experiments/results/digits.json; change those. -->

`tacit demo` resolves scikit-learn's handwritten digits from five candidate labels each, and from
one wrong label each. Here the same is done with {n} draws of what is known, under several
objectives, all with the defaults of `tacit.BeliefClassifier`: RQ is the demo. "Warmed up" is
`warm_up=10`. Under "{unbalanced}" five of the ten classes, drawn anew in each draw, are
thinned to 15 %.

Right labels in percent, the mean over the draws and its standard error: r, the posterior; q, the
prediction; and r in the class where it is worst. Beside them the held-out evidence, in nats.

`python -m experiments.digits`, commit {commit}, torch {torch}, {device}.
"""


def page(record: dict[str, Any]) -> str:
    """All figures of the record, as Markdown."""
    head = PAGE_HEAD.format(
        n=len(record["seeds"]),
        unbalanced=COLLECTIONS["unbalanced"],
        **{name: record[name] for name in ("commit", "torch", "device")},
    )
    return "\n".join([head, *(_section(record, name) for name in COLLECTIONS)])


def _section(record: dict[str, Any], collection: str) -> str:
    low, high = min(record["instances"][collection]), max(record["instances"][collection])
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    parts = [f"## {COLLECTIONS[collection]}\n\n{size} digits.\n"]
    for task, (_, chance) in TASKS.items():
        lines = [
            f"### {task.replace('-', ' ').capitalize()}\n",
            "| objective | r | q | r, worst class | held-out evidence |",
            "|---|---:|---:|---:|---:|",
            *(
                f"| {name} | {_percent(row['r'])} | {_percent(row['q'])} | "
                f"{_percent(row['worst class'])} | {row['held-out evidence']['mean']:.3f} |"
                for name, row in record["accuracy"][collection][task].items()
            ),
            f"| {chance} | {100 * record['chance'][task]:.1f} | | | 0 |\n",
        ]
        parts.append("\n".join(lines))
    return "\n".join(parts)


def _percent(figure: dict[str, Any]) -> str:
    return f"{100 * figure['mean']:.1f} ± {100 * figure['standard error']:.1f}"


def picture(record: dict[str, Any]) -> str:
    """A row for each task: digits with what is known on the left, accuracies on the right."""
    n = len(record["seeds"])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="Helvetica, Arial, sans-serif">',
        f"<title>{_title(record)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        _text(24, 32, "What is known of each digit, and the label found", size=15, weight="bold"),
        _text(470, 32, f"Right labels, %: mean and range of {n} draws", size=15, weight="bold"),
    ]
    for place, task in enumerate(TASKS):
        top = TOP + ROW * place
        if place:
            parts.append(f'<path d="M24 {top - 6}H{WIDTH - 24}" stroke="{LINE}"/>')
        parts.append(_text(24, top + 20, f"“{TASKS[task][0]}”", colour=QUIET))
        parts += [
            _digit(digit, 24 + 104 * column, top + 32, task)
            for column, digit in enumerate(record["digits"][task])
        ]
        parts += _bars(record, task, 470, top + 32)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _title(record: dict[str, Any]) -> str:
    n = len(record["seeds"])
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


def _bars(record: dict[str, Any], task: str, left: int, top: int) -> list[str]:
    """Chance, then r of each objective."""
    chance = record["chance"][task]
    parts = [_bar(TASKS[task][1], left, top, {"mean": chance, "draws": []}, BARS["chance"])]
    for place, name in enumerate(SHOWN, start=1):
        r = record["accuracy"]["all"][task][name]["r"]
        words = "RQ (tacit demo)" if name == "RQ" else name
        parts.append(_bar(words, left, top + 27 * place, r, BARS.get(name, OTHER_BAR)))
    return parts


def _bar(words: str, left: int, top: int, figure: dict[str, Any], colour: str) -> str:
    scale, height, start = 190, 18, left + 132
    bold = "bold" if colour == RIGHT else "normal"
    place = f'x="{start}" y="{top}" height="{height}" rx="2"'
    parts = [
        _text(start - 8, top + 13.5, words, anchor="end", weight=bold),
        f'<rect {place} width="{scale}" fill="{PALE}"/>',
        f'<rect {place} width="{scale * figure["mean"]:.1f}" fill="{colour}"/>',
        _text(start + scale + 8, top + 13.5, f"{100 * figure['mean']:.1f}", weight=bold),
    ]
    if figure["draws"]:
        low, high = (start + scale * end for end in (min(figure["draws"]), max(figure["draws"])))
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
