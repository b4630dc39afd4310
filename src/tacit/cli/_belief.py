"""`tacit belief`: what a coarse map tells of each pixel of imagery."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli._ending import told
from tacit.cli._map_options import layer_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.raster import BeliefSummary

__all__ = ["belief"]


def belief(
    imagery: Annotated[
        list[str], typer.Argument(help="GeoTIFFs of one mosaic, whose grid the belief takes.")
    ],
    coarse: Annotated[list[str], typer.Option(help="The coarse map; repeat for several files.")],
    cooccurrence: Annotated[
        str, typer.Option(help="Table, its rows named by the codes of the coarse map.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the run; it must be new.")],
    area: Annotated[
        str | None, typer.Option(help="File of polygons, outside of which nothing is wanted.")
    ] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(
            "--layer",
            help="FILE=CLASS[,weight=20][,sigma=2][,how=sum][,layer=NAME]: a raster or vector of "
            "something that speaks for a class; repeat for more.",
        ),
    ] = None,
    sigma: Annotated[float, typer.Option(help="Of the blur, in pixels; 0 for none.")] = 31.0,
    reach: Annotated[int, typer.Option(help="Pixels after which the blur is cut off.")] = 50,
    smoothing: Annotated[float, typer.Option(help="Keeps every class possible.")] = 1e-4,
    stored: Annotated[str, typer.Option(help="Probabilities as uint8 or float32.")] = "uint8",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write what a coarse map tells of each pixel of imagery, as GeoTIFFs to look at.

    **belief.tif** has a band for the probability of each class, **classes.tif** the likeliest with
    colours, **entropy.tif** the bits that are left to find out.

    **Examples**

        tacit belief naip/*.tif --coarse nlcd.tif --cooccurrence table.csv --out runs/belief

        tacit belief naip.tif --coarse nlcd.tif --cooccurrence table.csv --area county.gpkg
        --layer roads.gpkg=road,weight=20 --out runs/county
    """
    with told(resumable=True):
        from tacit.raster import BeliefRecipe, write_belief

        recipe = BeliefRecipe(
            imagery=tuple(imagery),
            coarse=tuple(coarse),
            cooccurrence=cooccurrence,
            area=area,
            layers=tuple(layer_of(text) for text in layers or ()),
            sigma=sigma,
            reach=reach,
            smoothing=smoothing,
            stored=stored,  # type: ignore[arg-type]  # which is checked
        )
        with ExitStack() as stack:
            found = write_belief(recipe, out, resume=resume, watch=_watch(stack))
    _render(found, as_json=as_json)


def _watch(stack: ExitStack) -> Callable[[int, int], None]:
    """A progress bar on the error stream of a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    bar = stack.enter_context(Progress(console=console, disable=not console.is_terminal))
    task = bar.add_task("windows")

    def watch(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    return watch


def _render(found: BeliefSummary, *, as_json: bool) -> None:
    if as_json:
        from tacit.runs import as_json as written

        typer.echo(written(found.as_dict()))
        return
    typer.echo(
        f"{found.width:,} x {found.height:,} pixels, {found.n_pixels:,} of them with data; "
        f"{found.bits:.3f} bits are left of each, on average"
    )
    typer.echo("share of each class, as the belief has it:")
    for share, name in sorted(zip(found.balance, found.classes, strict=True), reverse=True):
        typer.echo(f"  {share:7.2%}  {name}")
    typer.echo(f"{found.out}: {', '.join(found.files)}; done in {found.seconds:.0f} s")
