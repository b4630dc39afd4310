"""`tacit cooccurrence`: what coarse classes tell of fine ones, counted."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import typer

from tacit.cli._ending import told
from tacit.cli._map_options import merging

__all__ = ["cooccurrence"]


def cooccurrence(
    coarse: Annotated[list[str], typer.Argument(help="The coarse map, one or several files.")],
    labels: Annotated[
        list[str], typer.Option(help="Raster of labels, a tile; repeat for more tiles.")
    ],
    classes: Annotated[
        str,
        typer.Option(
            help="Classes of the labels: chesapeake, enviroatlas, nlcd, or a CSV of code and name."
        ),
    ],
    out: Annotated[Path, typer.Option(help="CSV file to write; it must be new.")],
    coarse_classes: Annotated[
        str | None,
        typer.Option(help="Classes of the coarse map, a row for each [default: those seen]."),
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(help="FROM=INTO: a class that counts as another; repeat for more."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Count how the classes of a coarse map come with labels, where both are known.

    Tiles count the same, however large; each row adds up to one, or to zero where a coarse class
    was never seen, which then says nothing.

    **Examples**

        tacit cooccurrence nlcd.tif --labels a.tif --labels b.tif --classes labels.csv --out t.csv

        tacit cooccurrence nlcd.tif --labels a.tif --classes chesapeake --coarse-classes nlcd
        --merge "barren=impervious surface" --merge "road=impervious surface" --out table.csv
    """
    with told():
        from tacit.raster import count_rasters, read_classes
        from tacit.table import write_cooccurrence

        table = count_rasters(
            coarse,
            labels,
            classes=read_classes(classes),
            coarse_classes=None if coarse_classes is None else read_classes(coarse_classes),
            into=merging(merge),
        )
        write_cooccurrence(out, table, observed="coarse")
    seen = [name for name, row in zip(table.observed, table.table, strict=True) if row.sum() > 0]
    if as_json:
        from tacit.runs import as_json as written

        plain = {"out": str(out), "classes": list(table.classes), "seen": seen}
        typer.echo(written({**plain, "table": table.table.tolist()}))
        return
    typer.echo(f"coarse  {'  '.join(table.classes)}")
    for name, row in zip(table.observed, table.table.tolist(), strict=True):
        shares = (
            f"{share:>{len(label)}.3f}" for share, label in zip(row, table.classes, strict=True)
        )
        typer.echo(f"{name:>6}  {'  '.join(shares)}")
    typer.echo(f"{out}: {len(seen)} of {len(table.observed)} coarse classes were seen")
