"""The commands, and how each of them ends."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from tacit.cli import (
    _belief,
    _check,
    _cooccurrence,
    _demo,
    _evaluate,
    _learn_belief,
    _predict,
    _report,
    _reproduce,
    _resolve,
)

__all__ = ["app", "main"]

app = typer.Typer(
    name="tacit",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("tacit-learn"))
        raise typer.Exit


@app.callback()
def tacit(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Learn labels from what you already believe about them.

    Start with **tacit demo**. With data of your own: **tacit check** says what beliefs are worth,
    **tacit resolve** finds the labels, **tacit predict** carries them to new data, **tacit report**
    shows what became of a run; **tacit learn-belief** makes beliefs of side information and a few
    labels. With maps: **tacit cooccurrence** counts what a coarse map tells, **tacit belief**
    writes what it tells of each pixel, **tacit evaluate** scores a map.

    Exit status: 0 done, 1 something cannot be used (a sentence says what and how to fix it), 2 the
    command line was not understood, 3 the run collapsed and was told to stop, 130 interrupted.
    Results go to the standard output; warnings, errors and progress to the error stream.
    """
    del version


app.command("demo")(_demo.demo)
app.command("resolve")(_resolve.resolve)
app.command("predict")(_predict.predict)
app.command("check")(_check.check)
app.command("learn-belief")(_learn_belief.learn_belief)
app.command("cooccurrence")(_cooccurrence.cooccurrence)
app.command("belief")(_belief.belief)
app.command("evaluate")(_evaluate.evaluate)
app.command("report")(_report.report)
app.command("reproduce")(_reproduce.reproduce)


def main() -> None:
    """Run the command that the arguments name."""
    # Threads of torch, which is not loaded yet, sleep when they wait for each other: on a machine
    # that is busy with other work, spinning made `tacit demo` take twenty times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Names of files may hold what cannot be printed.
            stream.reconfigure(errors="backslashreplace")
    app()
