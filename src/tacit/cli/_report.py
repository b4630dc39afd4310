"""`tacit report`: what became of a run, as a page."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import typer

from tacit.cli._ending import told

__all__ = ["report"]


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run of tacit resolve.")],
    out: Annotated[
        Path | None, typer.Option(help="HTML file to write [default: report.html in the run].")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The features, where they lie elsewhere by now.")
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(help="True labels, joined by id: accuracy and calibration are by these."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help='Column of ids of the true labels [default: "id"].')
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is no report.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what became of a run: one HTML file that loads nothing and can be sent to anybody.

    Belief, posterior and prediction side by side, training curves and alarms, the instances whose
    features contradict their belief, the least certain ones, sources, calibration, all settings.

    **Examples**

        tacit report runs/first

        tacit report runs/first --out first.html

        tacit report runs/first --truth labels.csv
    """
    from tacit.runs import as_json as written

    with told():
        from tacit.report import write_report

        known = None
        if truth is not None:
            from tacit.table import read_truth

            known = read_truth(truth, run=run, id_column=id_column)
        labels = None if known is None else known.labels
        place = write_report(run, out, data=data, overwrite=overwrite, truth=labels)
        size = place.stat().st_size
    if as_json:
        typer.echo(written({"out": str(place), "bytes": size}))
    else:
        for note in () if known is None else known.notes:
            typer.echo(f"note: {note}")
        typer.echo(f"{place}: {size / 1000:,.0f} kB, to be opened in a browser")
