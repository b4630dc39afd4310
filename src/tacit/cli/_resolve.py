"""`tacit resolve`: from files to resolved labels."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli._config import assigned, from_file, merged, value_of
from tacit.cli._ending import COLLAPSED, told

if TYPE_CHECKING:
    from tacit.table import Summary

__all__ = ["resolve"]

_FILES, _LEARNING, _RUN = "Files", "Learning", "Run"
_NO_SETTINGS = frozenset({"config", "settings", "resume", "as_json"})
"""Options that say how to call, not what to do; all others are settings by their names."""


def resolve(
    data: Annotated[
        str | None,
        typer.Argument(
            help="Features: .parquet, .csv, .tsv, .npy, .npz, or a folder of images.",
            show_default=False,
        ),
    ] = None,
    beliefs: Annotated[
        str | None,
        typer.Option(
            help="What is known of the labels: probabilities, candidates, excluded labels, labels "
            "or pairs.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; it must be new.", rich_help_panel=_FILES)
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Settings as TOML or YAML; options win.", rich_help_panel=_FILES),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            help='Column of ids [default: "id", if there is one].', rich_help_panel=_FILES
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns that are features: a,b,c [default: all].", rich_help_panel=_FILES
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(help="Names of the classes, in order: cat,dog.", rich_help_panel=_FILES),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(help="rq, em, free_energy, qr, union_nll, ...", rich_help_panel=_LEARNING),
    ] = None,
    predictor: Annotated[
        str | None,
        typer.Option(
            help="auto, linear, perceptron, pooled_cnn, small_cnn.", rich_help_panel=_LEARNING
        ),
    ] = None,
    mass: Annotated[
        str | None,
        typer.Option(help="auto, batch, tracked, collection.", rich_help_panel=_LEARNING),
    ] = None,
    n_members: Annotated[
        int | None,
        typer.Option(
            "--members", help="Networks that are trained and averaged.", rich_help_panel=_LEARNING
        ),
    ] = None,
    epochs: Annotated[
        str | None, typer.Option(help="A number, or auto.", rich_help_panel=_LEARNING)
    ] = None,
    batch_size: Annotated[
        str | None, typer.Option(help="A number, or auto.", rich_help_panel=_LEARNING)
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Largest step.", rich_help_panel=_LEARNING)
    ] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(help="Epochs of soft cross-entropy first.", rich_help_panel=_LEARNING),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(help="Share kept out to judge by, or auto.", rich_help_panel=_LEARNING),
    ] = None,
    tempering: Annotated[
        float | None,
        typer.Option(help="β: below 1 for too sure predictions.", rich_help_panel=_LEARNING),
    ] = None,
    augment: Annotated[
        str | None, typer.Option(help="none, or shift (images).", rich_help_panel=_LEARNING)
    ] = None,
    on_collapse: Annotated[
        str | None,
        typer.Option(help="warn, stop, restore or restart.", rich_help_panel=_LEARNING),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any other setting of tacit.BeliefClassifier, as name=value.",
            rich_help_panel=_LEARNING,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of all that is random [default: 0].", rich_help_panel=_RUN)
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="auto, cpu, cuda, cuda:1.", rich_help_panel=_RUN)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out.", rich_help_panel=_RUN)
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=_RUN)
    ] = False,
) -> None:
    """Find the labels of a collection, and a predictor for new data.

    Writes a folder: **resolved.parquet** (label, posterior r and prediction q per class, entropy),
    **model/** for `tacit predict`, **metrics.jsonl**, and **run.json** with all settings.

    **Examples**

    Rows of a table, each known not to be some class:

        tacit resolve features.parquet --beliefs excluded.csv --out runs/first

    Quicker and rougher, on a GPU:

        tacit resolve x.npy --beliefs p.npy --out runs/quick --members 1 --epochs 10 --device cuda

    From a file of settings, and on after an interruption:

        tacit resolve --config run.toml --out runs/long

        tacit resolve --config run.toml --out runs/long --resume

    On two processes:

        torchrun --nproc-per-node 2 -m tacit resolve x.npy --beliefs p.npy --out runs/two
    """
    given = {name: value for name, value in locals().items() if name not in _NO_SETTINGS}
    for name in ("epochs", "batch_size", "held_out"):
        given[name] = None if given[name] is None else value_of(given[name])
    with told(resumable=True):
        summary = _run(merged(from_file(config), assigned(settings or ()), given), resume, as_json)
    if summary is None:
        return
    _render(summary, as_json=as_json)
    if "collapsed" in summary.ended and on_collapse == "stop":
        raise typer.Exit(COLLAPSED)


def _run(given: dict[str, Any], resume: bool, as_json: bool) -> Summary | None:
    import os

    from rich.console import Console

    from tacit._processes import joined, process_number
    from tacit.errors import refuse
    from tacit.fitting import progress_bar
    from tacit.table import Recipe, resolve

    out = given.pop("out", None)
    if out is None:
        raise refuse("--out", "be given", "it is not", "name a new folder, such as runs/first")
    recipe = Recipe.of(given)
    again = resume or int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
    with ExitStack() as stack:
        stack.enter_context(joined())
        leads = process_number("world") == 0
        shown = Console(stderr=as_json)
        return resolve(
            recipe,
            Path(out),
            resume=again,
            watch=stack.enter_context(progress_bar()) if leads else None,
            tell=(lambda text: shown.print(text, highlight=False)) if leads else None,
        )


def _render(summary: Summary, *, as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps(summary.as_dict(), ensure_ascii=False))
        return
    out = Path(summary.out)
    score = summary.held_out_evidence
    judged = "" if score is None else f", held-out evidence {score:.3f} nats"
    typer.echo(
        f"entropy of the labels: {summary.entropy_before:.3f} nats before, "
        f"{summary.entropy_after:.3f} after"
    )
    for alarm in summary.alarms:
        typer.echo(f"warning: {alarm}")
    typer.echo(f"{out / 'resolved.parquet'}: {summary.n_instances:,} labels")
    typer.echo(f"{out / 'model'}: the predictor{judged}")
    typer.echo(f"done in {summary.seconds:.0f} s")
