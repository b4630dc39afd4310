"""`tacit evaluate`: a map beside a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli._ending import told
from tacit.cli._map_options import merging

if TYPE_CHECKING:
    from tacit.diagnostics import Scores
    from tacit.raster import Evaluation

__all__ = ["evaluate"]


def evaluate(
    map_file: Annotated[str, typer.Argument(metavar="MAP", help="A raster of classes.")],
    reference: Annotated[str, typer.Argument(help="A raster of true classes.")],
    classes: Annotated[
        str | None,
        typer.Option(
            help="Classes of the map: chesapeake, enviroatlas, nlcd, or a CSV of code and name "
            "[default: as the map tells]."
        ),
    ] = None,
    reference_classes: Annotated[
        str | None, typer.Option(help="Classes of the reference [default: those of the map].")
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(help="FROM=INTO: a class that counts as another; repeat for more."),
    ] = None,
    areas: Annotated[
        str | None, typer.Option(help="File of polygons; scores are told of each as well.")
    ] = None,
    area_names: Annotated[str | None, typer.Option(help="Its column of names.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare a map with a reference: accuracy, intersection over union, confusions.

    The mean is over the classes that the reference has. Pixels count that both know; the map is
    warped to the reference's grid where they differ.

    **Examples**

        tacit evaluate runs/belief/classes.tif labels.tif --reference-classes chesapeake

        tacit evaluate map.tif labels.tif --classes chesapeake --merge "barren=impervious surface"
        --areas counties.gpkg --area-names NAME
    """
    with told():
        from tacit.raster import evaluate as compared
        from tacit.raster import read_classes

        found = compared(
            [map_file],
            [reference],
            classes=None if classes is None else read_classes(classes),
            reference_classes=None
            if reference_classes is None
            else read_classes(reference_classes),
            into=merging(merge),
            areas=areas,
            area_names=area_names,
        )
    if as_json:
        from tacit.runs import as_json as written

        typer.echo(written(found.as_dict()))
    else:
        _render(found)


def _render(found: Evaluation) -> None:
    typer.echo(_sentence("all", found.scores))
    for name, scores in found.areas.items():
        typer.echo(_sentence(name, scores))
    width = max(map(len, found.classes))
    typer.echo("IoU of each class, and how its pixels were found:")
    for number, name in enumerate(found.classes):
        counts = found.scores.confusion[number].tolist()
        iou = float(found.scores.iou[number])
        shown = f"{iou:7.1%}" if iou == iou else "      -"
        taken = ", ".join(
            f"{n:,} {label}" for n, label in zip(counts, found.classes, strict=True) if n
        )
        typer.echo(f"{shown}  {name:{width}}  {taken}")


def _sentence(name: str, scores: Scores) -> str:
    return (
        f"{name}: accuracy {scores.accuracy:.1%}, mean IoU {scores.mean_iou:.1%} over "
        f"{int(scores.present.sum())} classes, {scores.n:,} pixels"
    )
