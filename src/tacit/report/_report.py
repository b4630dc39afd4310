"""From a run's folder to a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit._files import write_atomically
from tacit.errors import refuse
from tacit.report._run import RESOLVED, read_run

if TYPE_CHECKING:
    import os

    import pyarrow as pa
    from torch import Tensor

    from tacit.report._run import Run

__all__ = ["ids_of_run", "write_report"]

REPORT: Final = "report.html"
"""What the report is called in the run's folder."""
GENERATOR: Final = "tacit report"
"""What the page says it was made by; a page that says so may be replaced."""
_BEGINNING: Final = 4096
"""Bytes within which a page says it."""


def write_report(
    run: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    truth: Tensor | None = None,
) -> Path:
    """Write a report of a run: one HTML file, which loads nothing and can be sent to anybody.

    It shows class balance and certainty before and after, how the training went, the instances
    whose features contradict their belief and those that are least certain, with their pictures or
    the beginning of their rows, the sources, calibration, and all settings.

    Args:
        run: The folder that `tacit.table.resolve` wrote.
        out: The file; `report.html` in the run's folder unless given. A report that is there is
            replaced.
        data: The features, where they lie elsewhere than when the run was made.
        overwrite: Whether to replace a file that is no report.
        truth: True labels by their numbers, -1 where unknown, in the order of the run's table, see
            `tacit.table.read_truth`: accuracy, confusion and calibration are then by these.

    Returns:
        The file.

    Raises:
        RunError: If the folder holds no run, or one that has not come to its end, or if its files
            are damaged.
        InvalidInputError: If the file to write is there and no report.
        TacitError: If it cannot be written.
    """
    folder = Path(run)
    place = folder / REPORT if out is None else Path(out)
    _check_name(place)
    found = read_run(folder)  # a folder that is no run comes first
    _check_free(place, overwrite=overwrite)
    page = _page(found, None if data is None else Path(data), truth)
    write_atomically(place, lambda file: file.write(page.encode("utf-8", "replace")))
    return place


def ids_of_run(run: str | os.PathLike[str]) -> tuple[pa.Array, tuple[str, ...]]:
    """What the instances of a run are called, in the order of its table, and its classes.

    Args:
        run: The folder that `tacit.table.resolve` wrote.

    Raises:
        RunError: If the folder holds no run that has come to its end.
    """
    from tacit.report._resolved import ids_of

    found = read_run(Path(run))
    return ids_of(found.path / RESOLVED), found.classes


def _page(run: Run, data: Path | None, truth: Tensor | None) -> str:
    from tacit.report._data import looks_of
    from tacit.report._page import page
    from tacit.report._resolved import parts_of
    from tacit.report._tally import gathered

    parts = parts_of(run.path / RESOLVED, run.classes, run.results["n_instances"])
    _check_truth(truth, run)
    tally = gathered(parts, run.classes, truth)
    rows = {each.row: each.id for each in (*tally.conflicts, *tally.uncertain)}
    return page(run, tally, looks_of(run.recipe, rows, tally.n_rows, data))


def _check_truth(truth: Tensor | None, run: Run) -> None:
    n_rows = run.results["n_instances"]
    if truth is not None and tuple(truth.shape) != (n_rows,):
        raise refuse(
            "truth",
            f"have one label for each of the {n_rows} instances of the run",
            f"its shape is {tuple(truth.shape)}",
            "read it by tacit.table.read_truth",
        )


def _check_name(place: Path) -> None:
    if place.suffix.lower() not in (".html", ".htm"):
        raise refuse(
            "out", "end in .html, which is what is written", f"it is '{place}'", "let it end so"
        )


def _check_free(place: Path, *, overwrite: bool) -> None:
    """Refuse to replace what is no report."""
    try:
        if overwrite or not place.exists() or (place.is_file() and _is_report(place)):
            return
    except OSError as error:
        raise refuse(
            "out",
            "name a file that can be written",
            f"of '{place}' the system says: {error.strerror}",
            "name another one",
        ) from error
    what = "a folder" if place.is_dir() else "a file that is no report"
    fix = "name another one" if place.is_dir() else "name another one, or pass --overwrite"
    raise refuse("out", "be a new file, or a report", f"'{place}' is {what}", fix)


def _is_report(place: Path) -> bool:
    with place.open("rb") as file:
        return f'<meta name="generator" content="{GENERATOR}'.encode() in file.read(_BEGINNING)
