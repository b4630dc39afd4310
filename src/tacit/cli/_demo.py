"""`tacit demo`: the main job on real data, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli._ending import told

__all__ = ["demo"]


def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="New folder for the files and runs [default: runs/demo, demo-2, ...]."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the draws and the networks.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Resolve handwritten digits of which no label is told. Takes under a minute.

    1,797 of them, twice: from five candidate labels each, and from one wrong label each. Writes all
    that `tacit resolve` writes.

    **Examples**

        tacit demo

        tacit demo --seed 1 --out runs/another
    """
    import json

    from rich.console import Console

    from tacit import demo as job
    from tacit.fitting import progress_bar

    with told():
        console = Console(stderr=as_json)
        found = job.run(
            out or _free(Path("runs")),
            seed=seed,
            tell=lambda text: console.print(text, highlight=False, markup=False, soft_wrap=True),
            bar=progress_bar,
        )
    if as_json:
        typer.echo(json.dumps(found))


def _free(folder: Path) -> Path:
    """The first name that is not taken."""
    number, path = 1, folder / "demo"
    while path.exists():
        number += 1
        path = folder / f"demo-{number}"
    return path
