"""`tacit predict`: a model meets new data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import typer

from tacit.cli._ending import told

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(help="A run's folder, or the model in it.")],
    data: Annotated[str, typer.Argument(help="Features like those it learned from.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write; it must be new.")],
    beliefs: Annotated[
        str | None, typer.Option(help="What is known of the new labels, for the posterior.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help='Column of ids [default: "id", if there is one].')
    ] = None,
    tempering: Annotated[float | None, typer.Option(help="β; by default the model's.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict the labels of new data; with beliefs about them, resolve them.

    Writes a table with the label and the prediction q per class; with **--beliefs** the posterior
    r too, and the label is r's.

    **Examples**

        tacit predict runs/first new.parquet --out new-labels.parquet

        tacit predict runs/first new.parquet --beliefs new-excluded.csv --out resolved.parquet
    """
    from tacit.runs import as_json as written
    from tacit.table import predict as predicted

    with told():
        done = predicted(
            model,
            data,
            out,
            beliefs=beliefs,
            id_column=id_column,
            tempering=tempering,
            device=device,
        )
    if as_json:
        typer.echo(written(done.as_dict()))
        return
    for note in done.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"{out}: {done.n_instances:,} labels")
