"""`tacit check`: what beliefs are worth, before anything is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli._ending import told

if TYPE_CHECKING:
    from tacit.table import Check

__all__ = ["check"]

_SHOWN = 20
"""Classes whose share is printed."""


def check(
    beliefs: Annotated[str, typer.Argument(help="A file of beliefs.")],
    data: Annotated[
        str | None, typer.Option(help="The features, to see whether the ids join.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help='Column of ids [default: "id", if there is one].')
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Names of the classes, in order: cat,dog.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what beliefs are worth: how much they tell, of how many rows, about which classes.

    **Examples**

        tacit check excluded.csv

        tacit check candidates.parquet --data features.parquet
    """
    import json

    from tacit.table import check as checked

    with told():
        names = None if classes is None else [part.strip() for part in classes.split(",")]
        found = checked(beliefs, data=data, id_column=id_column, classes=names)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), ensure_ascii=False))
    else:
        _render(found)


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
    for finding in (*found.findings, *(f"note: {note}" for note in found.notes)):
        typer.echo(finding)
