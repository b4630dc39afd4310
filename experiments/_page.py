"""What the pages of experiments share: numbers in words, and where figures are from."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments._store import Figures, Store

__all__ = ["at_best_step", "bold", "by_step", "mean", "percent", "provenance", "spread", "table"]


def bold(text: str) -> str:
    """Text in bold."""
    return f"**{text}**"


def mean(values: Iterable[float]) -> float:
    """The mean; NaN of nothing."""
    known = [*values]
    return statistics.mean(known) if known else math.nan


def spread(values: Iterable[float]) -> float:
    """The standard deviation of the draws; 0 of a single one."""
    known = [*values]
    return statistics.stdev(known) if len(known) > 1 else 0.0


def by_step(store: Store, **settings: str | float) -> dict[float, list[Figures]]:
    """The draws of the cells that have these settings, by their step, the smallest first."""
    found: dict[float, list[Figures]] = {}
    for cell, figures in store.matching(**settings):
        found.setdefault(float(cell["step"]), []).append(figures)
    return dict(sorted(found.items()))


def at_best_step(store: Store, **settings: str | float) -> list[Figures]:
    """The draws under the step whose held-out evidence is highest in the mean."""
    return max(
        by_step(store, **settings).values(),
        key=lambda draws: mean(figures["held-out evidence"] for figures in draws),
        default=[],
    )


def percent(values: Sequence[float], digits: int = 1) -> str:
    """Mean and deviation of shares, in percent; a dash where there are none."""
    if not values:
        return "–"
    return f"{100 * mean(values):.{digits}f} ± {100 * spread(values):.{digits}f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; all columns but the first are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def provenance(store: Store) -> str:
    """Machines, versions, commits and checksums, as a folded section."""
    files = ", ".join(f"`{name}` {value}" for name, value in sorted(store.data.items()))
    told = "".join(f"- {_circumstances(each)}\n" for each in store.circumstances)
    checked = (
        f"\nData (first 16 digits of the SHA-256 of their contents): {files}.\n" if files else ""
    )
    return f"## Where the figures are from\n\n{told}{checked}"


def _circumstances(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in found["versions"].items())
    threads = "1 thread" if found["threads"] == 1 else f"{found['threads']} threads"
    where = f"{found['device']}, {threads}"
    known = f"Python {found['python']}, torch {found['torch']}, {versions}"
    return f"commit {found['commit']}: {where}, {known}"
