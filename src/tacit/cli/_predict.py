"""`tacit predict`: a model meets new data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import typer

from tacit.cli._ending import told
from tacit.cli._options import (  # noqa: TC001  typer reads the annotations
    Abstaining,
    Accuracies,
    CooccurrenceFile,
    IdColumn,
    Pool,
    Question,
    TaxonomyFile,
    TransitionFile,
    TrustedFile,
    Weights,
)

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(help="A run's folder, or the model in it.")],
    data: Annotated[str, typer.Argument(help="Features like those it learned from.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write; it must be new.")],
    beliefs: Annotated[
        list[str] | None,
        typer.Option(
            help="What is known of the new labels, for the posterior; several files are fused."
        ),
    ] = None,
    id_column: IdColumn = None,
    votes: Annotated[
        str | None,
        typer.Option(
            help="majority, to count all votes the same [default: as the run has learned it]."
        ),
    ] = None,
    accuracies: Accuracies = None,
    taxonomy: TaxonomyFile = None,
    cooccurrence: CooccurrenceFile = None,
    question: Question = None,
    transition: TransitionFile = None,
    trusted: TrustedFile = None,
    pool: Pool = None,
    weights: Weights = None,
    abstaining: Abstaining = None,
    tempering: Annotated[float | None, typer.Option(help="β; by default the model's.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict the labels of new data; with beliefs about them, resolve them.

    Writes a table with the label and the prediction q per class; with **--beliefs** the posterior
    r too, and the label is r's. Votes are weighed by what the run has learned of their sources,
    which go by their names.

    **Examples**

        tacit predict runs/first new.parquet --out new-labels.parquet

        tacit predict runs/first new.parquet --beliefs new-excluded.csv --out resolved.parquet

        tacit predict runs/crowd new.parquet --beliefs new-votes.csv --out resolved.parquet
    """
    from tacit.runs import as_json as written
    from tacit.table import Recipe
    from tacit.table import predict as predicted

    given = {
        "id_column": id_column,
        "votes": votes,
        "accuracies": accuracies,
        "taxonomy": taxonomy,
        "cooccurrence": cooccurrence,
        "question": question,
        "transition": transition,
        "trusted": trusted,
        "pool": pool,
        "weights": weights,
        "abstaining": abstaining,
    }
    with told():
        reading = Recipe.of({"data": data, "beliefs": beliefs or "-", **given}).reading()
        del reading["classes"]  # those of the model
        done = predicted(
            model, data, out, beliefs=beliefs or None, tempering=tempering, device=device, **reading
        )
    if as_json:
        typer.echo(written(done.as_dict()))
        return
    for note in done.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"{out}: {done.n_instances:,} labels")
