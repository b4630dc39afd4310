"""`tacit reproduce`: a table or a figure, measured again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli._ending import told

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="The experiment [default: list all of them].")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data; the list says what each needs.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Record to write or to go on with [default: reproduced/NAME.json]."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Draws of each cell [default: the experiment's].")
    ] = None,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of the draws.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Cells that have this setting alone: a set, a method; repeat for more."),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure a table or a figure of the docs again, on data of your own folder.

    Each cell (a method on a set, with one seed) is kept in the record as soon as it is done; the
    same command again measures what is missing. Beside the record a page is written, as in the
    docs. Experiments come with the source of tacit, not with the installed package.

    **Examples**

        tacit reproduce

        tacit reproduce crowd --data data

        tacit reproduce real-beliefs --data data --only youtube --seeds 2
    """
    with told():
        _reproduce(
            name, data, out, range(first_seed, first_seed + (seeds or 0)), only, device, as_json
        )


def _reproduce(
    name: str | None,
    data: Path | None,
    out: Path | None,
    seeds: range,
    only: list[str] | None,
    device: str,
    as_json: bool,
) -> None:
    import json

    experiments = _experiments()
    if name is None:
        typer.echo(_listed(experiments, as_json))
        return
    chosen = _chosen(experiments, name)
    record = _record(out, name)
    drawn = seeds or range(seeds.start, seeds.start + chosen.seeds)
    with _progress() as bar:
        store = experiments.reproduce(
            chosen,
            experiments.Means(_folder(data, chosen), device),
            out=record,
            seeds=drawn,
            only=only or (),
            watch=_watch(bar, name),
        )
    page = chosen.page(store)
    place = record.with_suffix(".md")
    place.write_text(page, "utf-8")
    for file, drawn in chosen.pictures(store).items():
        (record.parent / file).write_text(drawn, "utf-8")
    if as_json:
        typer.echo(json.dumps({"record": str(record), "page": str(place), "cells": len(store)}))
    else:
        typer.echo(page)
        cells = "1 cell" if len(store) == 1 else f"{len(store)} cells"
        typer.echo(f"{record}: {cells}; {place}: this page")


def _experiments() -> Any:
    """The package of the experiments, which lies beside the source."""
    from tacit.errors import InvalidInputError

    root = Path(__file__).parents[3]
    if not (root / "experiments" / "__init__.py").is_file():
        raise InvalidInputError(
            "The experiments are not there: they come with the source of tacit, not with the "
            "installed package; clone its repository, run `make setup` in it, and call "
            "`.venv/bin/tacit reproduce` there."
        )
    if str(root) not in sys.path:
        sys.path.append(str(root))
    import experiments

    return experiments


def _chosen(experiments: Any, name: str) -> Any:
    from tacit.errors import refuse

    if name not in experiments.MODULES:
        known = ", ".join(experiments.MODULES)
        raise refuse("NAME", f"be one of {known}", f"it is '{name}'", "pick one")
    return experiments.experiment(name)


def _listed(experiments: Any, as_json: bool) -> str:
    """All experiments: what each shows, and what it needs."""
    import json

    found = {name: experiments.experiment(name) for name in experiments.MODULES}
    if as_json:
        return json.dumps(
            {name: {"about": each.about, "needs": each.needs} for name, each in found.items()}
        )
    return "\n".join(
        f"{name}: {each.about}.\n    needs: {each.needs or 'no data'}"
        for name, each in found.items()
    )


def _record(out: Path | None, name: str) -> Path:
    from tacit.errors import refuse

    if out is not None and out.suffix != ".json":
        raise refuse(
            "--out",
            "name a file that ends in .json",
            f"it is '{out}'",
            "the page is written beside it, under the same name with .md",
        )
    return out or Path("reproduced") / f"{name}.json"


def _folder(data: Path | None, chosen: Any) -> Path:
    from tacit.errors import refuse

    if not chosen.needs:
        return data or Path()
    if data is None or not data.is_dir():
        raise refuse(
            "--data",
            f"be a folder that holds {chosen.needs}",
            "none came" if data is None else f"'{data}' is no folder",
            "name the folder above them",
        )
    return data


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Bar(
        TextColumn("{task.description}"), *columns, console=console, disable=not console.is_terminal
    )


def _watch(bar: Progress, name: str) -> Callable[[int, int, Any], None]:
    task = bar.add_task(name)

    def watch(done: int, total: int, cell: Any) -> None:
        settings = "" if cell is None else ", ".join(map(str, cell.values()))
        bar.update(task, completed=done, total=total, description=f"{name} {settings}")

    return watch
