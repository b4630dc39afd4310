"""`tacit learn-belief`: from auxiliary inputs and a few labels to beliefs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import typer

from tacit.cli._ending import told

__all__ = ["learn_belief"]


def learn_belief(
    auxiliary: Annotated[
        str,
        typer.Argument(help="Auxiliary inputs: numbers that tell of the labels.", metavar="AUX"),
    ],
    labels: Annotated[str, typer.Option(help="Labels of some or all of them, joined by id.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write; it must be new.")],
    new: Annotated[
        str | None,
        typer.Option("--for", help="Auxiliary inputs that the beliefs are about [default: AUX]."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help='Column of ids [default: "id", if there is one].')
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns that are inputs: a,b,c [default: all].")
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(help="Names of the classes, in order: cat,dog; or how many there are."),
    ] = None,
    folds: Annotated[
        int, typer.Option(help="Parts of the labelled rows that are left out in turn.")
    ] = 5,
    seed: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Learn a belief from inputs that the predictor does not see: maps, coarse classes, metadata.

    A small network learns the labels from the inputs, and its probabilities are written for
    **--beliefs**. Rows that have labels are predicted by networks that did not see these.

    **Examples**

        tacit learn-belief metadata.csv --labels few.csv --out beliefs.parquet

        tacit learn-belief there.csv --labels labels.csv --for here.csv --out beliefs.parquet
    """
    from tacit.runs import as_json as written

    with told():
        from tacit.table import Recipe
        from tacit.table import learn_belief as learned

        given = {"columns": columns, "classes": classes}
        recipe = Recipe.of({"data": auxiliary, "beliefs": labels, **given})
        done = learned(
            auxiliary,
            labels,
            out,
            new=new,
            id_column=id_column,
            columns=recipe.columns,
            classes=recipe.classes,
            folds=folds,
            seed=seed,
        )
    if as_json:
        typer.echo(written(done.as_dict()))
        return
    for note in done.notes:
        typer.echo(f"note: {note}")
    typer.echo(
        f"{out}: beliefs about {len(done.classes)} classes, {done.n_instances:,} rows, learned "
        f"from {done.n_labels:,} labels"
    )
