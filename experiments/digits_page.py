"""The page of `digits`: tables in Markdown, from its record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from experiments import _page
from tacit import demo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments._store import Store

__all__ = ["COLLECTIONS", "MASSES", "TASKS", "Drawn", "chance", "drawn", "mass_table", "page"]

COLLECTIONS: Final = {"all": "All digits", "unbalanced": "Unbalanced classes"}
TASKS: Final = {"five-candidates": "any of the five", "one-wrong-label": "any of the other nine"}
"""The tasks, and in words what chance picks from."""
MASSES: Final = {
    "`RQ`, `BatchMass`": "RQ",
    "`RQ`, `TrackedMass`, warmed up": "RQ, tracked mass, warmed up",
    "`EM`, `BatchMass`": "EM",
    "`EM`, `TrackedMass`, warmed up": "EM, tracked mass, warmed up",
    "`EM`, `TrackedMass`": "EM, tracked mass",
}


class Drawn(NamedTuple):
    """The draws of a figure.

    Attributes:
        values: One for each draw.
        mean: Of all of them.
        error: Standard error of the mean.
    """

    values: list[float]
    mean: float
    error: float


def drawn(store: Store, collection: str, task: str, objective: str, what: str) -> Drawn:
    """The draws of a figure, summed up to the four digits that are recorded."""
    given = {"collection": collection, "task": task, "objective": objective}
    known = [f[what] for _, f in store.matching(**given) if f[what] is not None]
    error = _page.spread(known) / math.sqrt(max(len(known), 1))
    return Drawn(known, round(_page.mean(known), 4), round(error, 4))


def chance(task: str) -> float:
    """How often any label that is allowed would be right."""
    return next(each.chance for each in demo.TASKS if each.name == task)


def mass_table(store: Store) -> str:
    """Accuracy of r under the class masses, mean and worst draw."""
    rows = []
    for name, objective in MASSES.items():
        r = drawn(store, "all", "five-candidates", objective, "r")
        rows.append([name, f"{100 * r.mean:.1f}", f"{100 * min(r.values):.1f}"])
    return _page.table(["objective and mass", "mean", "worst"], rows)


def page(store: Store, objectives: Sequence[str]) -> str:
    """All figures of the record.

    Args:
        store: The record.
        objectives: In the order of the rows.
    """
    sections = (
        _section(store, name, objectives)
        for name in COLLECTIONS
        if name in store.settings("collection")
    )
    head = _HEAD.format(n=len(store.settings("seed")), unbalanced=COLLECTIONS["unbalanced"])
    return "\n".join([head, *sections, _page.provenance(store)])


def _section(store: Store, collection: str, objectives: Sequence[str]) -> str:
    sizes = [figures["instances"] for _, figures in store.matching(collection=collection)]
    low, high = min(sizes), max(sizes)
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    parts = [f"## {COLLECTIONS[collection]}\n\n{size} digits.\n"]
    for task in TASKS:
        there = [o for o in objectives if drawn(store, collection, task, o, "r").values]
        if there:
            title = task.replace("-", " ").capitalize()
            parts.append(f"### {title}\n\n{_task_table(store, collection, task, there)}")
    return "\n".join(parts)


def _task_table(store: Store, collection: str, task: str, objectives: Sequence[str]) -> str:
    rows = []
    for name in objectives:
        r, q, worst, evidence = (
            drawn(store, collection, task, name, what)
            for what in ("r", "q", "worst class", "held-out evidence")
        )
        rows.append([name, *map(_percent, (r, q, worst)), f"{evidence.mean:.3f}"])
    rows.append([TASKS[task], f"{100 * chance(task):.1f}", "", "", "0"])
    return _page.table(["objective", "r", "q", "r, worst class", "held-out evidence"], rows)


def _percent(figure: Drawn) -> str:
    return f"{100 * figure.mean:.1f} ± {100 * figure.error:.1f}"


_HEAD: Final = """\
# The digits of the demo

`tacit demo` resolves scikit-learn's handwritten digits from five candidate labels each, and from
one wrong label each. Here the same is done with {n} draws of what is known, under several
objectives, all with the defaults of `tacit.BeliefClassifier`: RQ is the demo. "Warmed up" is
`warm_up=10`; "balance by beliefs" multiplies what is known by `tacit.sources.balance_of` it. Under
"{unbalanced}" five of the ten classes, drawn anew in each draw, are thinned to 15 %.

Right labels in percent, the mean over the draws and its standard error: r, the posterior; q, the
prediction; and r in the class where it is worst. Beside them the held-out evidence, in nats.
Measure it again with `tacit reproduce digits`.
"""
