"""`tacit check`: what beliefs are worth, before anything is learned."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli._config import from_file, merged
from tacit.cli._ending import told
from tacit.cli._options import (  # noqa: TC001  typer reads the annotations
    Abstaining,
    Accuracies,
    Classes,
    Columns,
    CooccurrenceFile,
    IdColumn,
    Pool,
    Question,
    TaxonomyFile,
    TransitionFile,
    TrustedFile,
    VotesAs,
    Weights,
)

if TYPE_CHECKING:
    from tacit.table import Check

__all__ = ["check"]

_SHOWN = 20
"""Classes whose share is printed."""


def check(
    beliefs: Annotated[
        list[str] | None,
        typer.Argument(help="A file of beliefs; several are fused.", show_default=False),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="The features, to see whether the ids join.")
    ] = None,
    id_column: IdColumn = None,
    columns: Columns = None,
    classes: Classes = None,
    votes: VotesAs = None,
    accuracies: Accuracies = None,
    taxonomy: TaxonomyFile = None,
    cooccurrence: CooccurrenceFile = None,
    question: Question = None,
    transition: TransitionFile = None,
    trusted: TrustedFile = None,
    pool: Pool = None,
    weights: Weights = None,
    abstaining: Abstaining = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Settings as for tacit resolve; those about files count."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what beliefs are worth: how much they tell, of how many rows, about which classes.

    **Examples**

        tacit check excluded.csv

        tacit check candidates.parquet --data features.parquet

        tacit check pairs.csv --classes low,middle,high

        tacit check crowd.csv --votes majority

        tacit check crowd.csv --accuracies people.csv

        tacit check labels.csv --taxonomy tree.yaml

        tacit check labels.csv --trusted few.csv

        tacit check people.csv model.csv --weights 1,0.5

        tacit check --config run.toml
    """
    given = {
        "beliefs": beliefs or None,
        "data": data,
        "id_column": id_column,
        "columns": columns,
        "classes": classes,
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
        found = _check(merged(from_file(config), given))
    if as_json:
        from tacit.runs import as_json as written

        typer.echo(written(found.as_dict()))
    else:
        _render(found)


def _check(given: dict[str, Any]) -> Check:
    from tacit.table import Recipe
    from tacit.table import check as checked

    given.pop("out", None)
    # A recipe wants features too, which beliefs may be checked without.
    recipe = Recipe.of({"data": "-", **given})
    return checked(
        recipe.beliefs,
        data=given.get("data"),
        columns=recipe.columns,
        **recipe.reading(),
    )


def _render(found: Check) -> None:
    n = found.n_instances
    typer.echo(f"{found.kind} about {len(found.classes)} classes, {n:,} rows ({found.source})")
    typer.echo(
        f"{found.bits:.3f} bits of {found.most_bits:.3f} a label, on average; "
        f"{found.n_certain:,} labels are certain, of {found.n_open:,} nothing is known"
    )
    typer.echo("share of each class, as the beliefs have it:")
    for name, share in sorted(
        zip(found.classes, found.balance, strict=True), key=lambda each: -each[1]
    )[:_SHOWN]:
        typer.echo(f"  {share:7.2%}  {name}")
    if len(found.classes) > _SHOWN:
        typer.echo(f"  ... and {len(found.classes) - _SHOWN} classes more")
    if found.sources:
        _render_sources(found)
    for finding in (*found.findings, *(f"note: {note}" for note in found.notes)):
        typer.echo(finding)


def _render_sources(found: Check) -> None:
    typer.echo("speaks of, contradicted, and right as far as the votes tell:")
    for source in found.sources[:_SHOWN]:
        shares = (source[key] for key in ("coverage", "conflict", "accuracy"))
        shown = "".join(f"{'-' if share is None else f'{share:.1%}':>9}" for share in shares)
        typer.echo(f"{shown}  {source['name']}")
    if len(found.sources) > _SHOWN:
        typer.echo(f"  ... and {len(found.sources) - _SHOWN} sources more")
