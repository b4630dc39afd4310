"""`tacit resolve`: from files to resolved labels."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli._config import assigned, from_file, merged, value_of
from tacit.cli._ending import COLLAPSED, told
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
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.fitting import Progress
    from tacit.table import Recipe, Summary

__all__ = ["resolve"]

_SHOWN = 8
"""Classes whose share of the labels is printed."""
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
        list[str] | None,
        typer.Option(
            help="What is known of the labels: probabilities, candidates, excluded labels, labels, "
            "votes, observed classes or pairs; several files are fused.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; it must be new.", rich_help_panel=_FILES)
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="Settings as TOML or YAML, or the run.json of a run; options win.",
            rich_help_panel=_FILES,
        ),
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
    update_every: Annotated[
        int | None,
        typer.Option(
            help="Epochs between updates of what sources of votes are worth [default: never].",
            rich_help_panel=_LEARNING,
        ),
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
        str | None,
        typer.Option(help="none, shift or shift_mirror (images).", rich_help_panel=_LEARNING),
    ] = None,
    on_collapse: Annotated[
        str | None,
        typer.Option(help="warn, stop, restore or restart.", rich_help_panel=_LEARNING),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any other setting of tacit.BeliefClassifier or tacit.fitting.Execution, as "
            "name=value.",
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

    By what people and a model know, the model being too sure:

        tacit resolve x.csv --beliefs people.csv --beliefs model.csv --weights 1,0.5 --out runs/both

    From a file of settings, and on after an interruption:

        tacit resolve --config run.toml --out runs/long

        tacit resolve --out runs/long --resume

    As another run was, but for the seed:

        tacit resolve --config runs/first/run.json --seed 1 --out runs/second

    On two processes:

        torchrun --nproc-per-node 2 -m tacit resolve x.npy --beliefs p.npy --out runs/two
    """
    given = {name: value for name, value in locals().items() if name not in _NO_SETTINGS}
    given["beliefs"] = beliefs or None
    from tacit._processes import agreed, joined

    for name in ("epochs", "batch_size", "held_out"):
        given[name] = None if given[name] is None else value_of(given[name])
    with told(resumable=True), joined():
        with agreed():
            wanted = merged(from_file(config), assigned(settings or ()), given)
            recipe, folder = _recipe(wanted, resume=resume)
        summary = _run(recipe, folder, resume=resume, as_json=as_json)
    if summary is None:
        return
    _render(summary, as_json=as_json)
    if "collapsed" in summary.ended and recipe.learning.get("on_collapse") == "stop":
        raise typer.Exit(COLLAPSED)


def _recipe(given: dict[str, Any], *, resume: bool) -> tuple[Recipe, Path]:
    """What to do, and the run's folder; of a run that goes on, what is not said is as it was."""
    from tacit.runs import recipe_of
    from tacit.table import Recipe

    out = given.pop("out", None)
    if not out or not isinstance(out, str | Path):
        came = "it is not" if out is None else f"it is {out!r}"
        raise refuse("--out", "be given", came, "name a new folder, such as runs/first")
    folder = Path(out)
    before = recipe_of(folder) if resume else None
    return Recipe.of(merged(before or {}, given)), folder


def _run(recipe: Recipe, out: Path, *, resume: bool, as_json: bool) -> Summary | None:
    import os

    from tacit._processes import process_number
    from tacit.table import resolve

    again = resume or int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
    leads = process_number("world") == 0
    with ExitStack() as stack:
        return resolve(
            recipe,
            out,
            resume=again,
            watch=_watch(stack) if leads else None,
            tell=(lambda text: typer.echo(text, err=as_json)) if leads else None,
        )


def _watch(stack: ExitStack) -> Callable[[Progress], None]:
    """A progress bar that opens at the first step: while it is open, it takes all that is said."""
    from tacit.fitting import progress_bar

    opened: list[Callable[[Progress], None]] = []

    def watch(progress: Progress) -> None:
        if not opened:
            opened.append(stack.enter_context(progress_bar()))
        opened[0](progress)

    return watch


def _render(summary: Summary, *, as_json: bool) -> None:
    from tacit.runs import as_json as written

    if as_json:
        typer.echo(written(summary.as_dict()))
        return
    out = Path(summary.out)
    score = summary.held_out_evidence
    judged = "" if score is None else f", held-out evidence {score:.3f} nats"
    typer.echo(
        f"entropy of the labels: {summary.entropy_before:.3f} nats before, "
        f"{summary.entropy_after:.3f} after"
    )
    typer.echo(f"labels: {_balance(summary)}")
    for alarm in summary.alarms:
        typer.echo(f"warning: {alarm}")
    typer.echo(f"{out / 'resolved.parquet'}: {summary.n_instances:,} labels")
    typer.echo(f"{out / 'model'}: the predictor{judged}")
    typer.echo(f"done in {summary.seconds:.0f} s")


def _balance(summary: Summary) -> str:
    """The shares of the commonest classes among the labels."""
    order = sorted(zip(summary.balance, summary.classes, strict=True), key=lambda each: -each[0])
    more = len(order) - _SHOWN
    shown = ", ".join(f"{name} {share:.1%}" for share, name in order[:_SHOWN])
    return shown + (f", and {more} classes more" if more > 0 else "")
