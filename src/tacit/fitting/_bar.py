"""A progress bar with the numbers that matter; silent where nobody looks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from tacit.fitting._engine import Progress
    from tacit.fitting._record import Record

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(
    what: str = "fitting", console: Console | None = None
) -> Iterator[Callable[[Progress], None]]:
    """Show how far a fit is, its held-out evidence, and each alarm once.

    The bar is drawn on the error stream, and only where that is a terminal. Alarms are printed in
    any case, when they begin.

    Args:
        what: What is going on.
        console: Where to draw; the error stream unless given.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    shown = console or Console(stderr=True)
    told: dict[int, set[str]] = {}
    columns = ("{task.description}", BarColumn(), "{task.fields[seen]}", TimeRemainingColumn())
    bar = Bar(
        *(TextColumn(column) if isinstance(column, str) else column for column in columns),
        console=shown,
        transient=True,
        disable=not shown.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=1.0, seen="")

        def watch(progress: Progress) -> None:
            bar.update(task, completed=progress.done, total=progress.epochs)
            if progress.record is not None:
                bar.update(task, seen=_seen(progress.record))
                _warn(shown, progress.record, told)

        yield watch


def _seen(record: Record) -> str:
    score = record.held_out_evidence
    parts = [f"epoch {record.epoch}", f"loss {record.loss:.3f}"]
    if score is not None:
        parts.append(f"held-out evidence {score:.3f}{'*' if record.best else ''}")
    return ", ".join(parts)


def _warn(shown: Console, record: Record, told: dict[int, set[str]]) -> None:
    """Print the alarms that the run did not raise in its last epoch."""
    before = told.get(record.run, set())
    for alarm in record.alarms:
        if alarm.kind not in before:
            where = f"network {record.run + 1}, epoch {record.epoch}"
            shown.print(f"[yellow]warning[/yellow]: {where}: {alarm.message}", soft_wrap=True)
    told[record.run] = {alarm.kind for alarm in record.alarms}
