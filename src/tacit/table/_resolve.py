"""From files to resolved labels: read, fit, write."""

from __future__ import annotations

import shutil
import time
import warnings
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tacit._processes import agreed, any_process, process_number
from tacit.diagnostics import appraised, mean_entropy
from tacit.errors import CollapseWarning, refuse
from tacit.fitting import CHECKPOINT
from tacit.runs import DESCRIPTION, RunError, RunFolder
from tacit.sources import Voted
from tacit.table._advocates import ADVOCATES, write_advocates
from tacit.table._beliefs import SPECIAL
from tacit.table._features import read_features
from tacit.table._jobs import Summary
from tacit.table._paths import format_of, located
from tacit.table._read_any import files_of, read_any
from tacit.table._recipe import FREE
from tacit.table._reliabilities import write_reliabilities
from tacit.table._resolved import write_resolved
from tacit.table._sources import apart, told_groups, told_sources

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tacit.estimator import BeliefClassifier
    from tacit.fitting import Progress
    from tacit.table._beliefs import Beliefs
    from tacit.table._features import Features
    from tacit.table._recipe import Recipe

__all__ = ["MODEL", "RESOLVED", "run"]

MODEL = "model"
RESOLVED = "resolved.parquet"


def run(
    recipe: Recipe,
    out: Path,
    *,
    resume: bool = False,
    watch: Callable[[Progress], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Summary | None:
    """Resolve; see `tacit.table.resolve`."""
    started = time.monotonic()
    with ExitStack() as stack:
        folder = None
        with agreed():
            model = recipe.model()
            _look(recipe, out)
            if process_number("world") == 0:
                folder = stack.enter_context(_opened(recipe, out, resume=resume))
                _check_outputs(folder)
        done = folder.results() if folder is not None else None
        if done is not None:
            (out / CHECKPOINT).unlink(missing_ok=True)
        if any_process(done is not None):
            return _before(done, out) if done is not None else None
        with agreed():
            features, beliefs = _read(recipe)
        if tell is not None:
            for sentence in _seen(features, beliefs):
                tell(sentence)
        _fit(model, features, beliefs, out, resume=resume, watch=watch)
        if folder is None:
            return None
        _write(model, features, beliefs.learned(model.belief_), out)
        summary = _summary(model, features, beliefs, out, time.monotonic() - started)
        folder.complete(summary.as_dict())
        (out / CHECKPOINT).unlink(missing_ok=True)
        return summary


def _before(done: dict[str, Any], out: Path) -> Summary:
    """What a run came to that is done."""
    try:
        return Summary.of(done)
    except (ValueError, KeyError, AttributeError) as error:
        raise RunError(
            f"'{out / DESCRIPTION}' was changed after it was written; resolve again into a new "
            "folder."
        ) from error


def _look(recipe: Recipe, out: Path) -> None:
    """Refuse files that are not there, and a folder inside that of the images, before long work."""
    data = located(recipe.data)
    for path in (data, *map(located, files_of(recipe.beliefs))):
        format_of(path)
    if data.is_dir() and out.resolve().is_relative_to(data.resolve()):
        raise refuse(
            "out",
            "lie outside the folder of images",
            f"'{out}' is or lies in '{data}'",
            "name another folder with --out",
        )


def _opened(recipe: Recipe, out: Path, *, resume: bool) -> AbstractContextManager[RunFolder]:
    return RunFolder.opened(out, "resolve", recipe.resolved(), resume=resume, free=FREE)


def _check_outputs(folder: RunFolder) -> None:
    """Refuse to go on with a finished run that has lost what it came to."""
    for name in (MODEL, RESOLVED):
        if folder.was_complete and not (folder.path / name).exists():
            raise RunError(
                f"'{folder.path}' holds a finished run whose {name} is gone; name a new folder "
                "with --out."
            )


def _read(recipe: Recipe) -> tuple[Features, Beliefs]:
    reading = recipe.reading()
    features = read_features(recipe.data, id_column=recipe.id_column, columns=recipe.columns)
    beliefs = read_any(recipe.beliefs, ids=features.ids, n_rows=len(features), **reading)
    beliefs = beliefs.asked_for(**{name: reading[name] for name in SPECIAL})
    if recipe.learning.get("update_every") and beliefs.votes is not None:
        _check_learns(beliefs, recipe.learning["update_every"])
    return features, beliefs


def _check_learns(beliefs: Beliefs, update_every: int) -> None:
    """Refuse votes that learn nothing, and say why they do not."""
    if isinstance(beliefs.belief, Voted):
        return
    why, fix = "all votes count the same (majority)", "set votes to dawid_skene"
    if beliefs.voted is not None:
        why = f"a matrix of votes leaves rows out, as '{beliefs.source}' does"
        fix = "resolve the rows that it has"
    raise refuse(
        "update_every", f"be 0 where {why}", f"it is {update_every}", f"{fix}, or leave it out"
    )


def _seen(features: Features, beliefs: Beliefs) -> list[str]:
    shape = features.values.shape[1:]
    what = f"{shape[0]} features" if len(shape) == 1 else " x ".join(map(str, shape))
    return [
        f"{len(features):,} instances of {what} ({features.source})",
        f"{beliefs.kind} about {len(beliefs.classes)} classes ({beliefs.source}); "
        f"{beliefs.n_informed:,} of {len(beliefs):,} rows say something",
        *(f"note: {note}" for note in _notes(features, beliefs)),
    ]


def _notes(features: Features, beliefs: Beliefs) -> tuple[str, ...]:
    """What is odd about what was read, without being wrong."""
    return (*features.notes, *beliefs.notes, *apart(told_groups(beliefs)))


def _fit(
    model: BeliefClassifier,
    features: Features,
    beliefs: Beliefs,
    out: Path,
    *,
    resume: bool,
    watch: Callable[[Progress], None] | None,
) -> None:
    model.set_params(classes=list(beliefs.classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # told by the summary
        model.fit(
            features.values,
            beliefs.belief,
            beliefs.weight(),
            folder=out,
            resume=resume,
            watch=watch,
        )
    if features.names:
        model.feature_names_in_ = np.asarray(features.names, dtype=object)


def _write(model: BeliefClassifier, features: Features, beliefs: Beliefs, out: Path) -> None:
    # What an attempt that was killed had written can go: the checkpoint holds as much.
    shutil.rmtree(out / MODEL, ignore_errors=True)
    model.save(out / MODEL)
    write_reliabilities(out / MODEL, beliefs)
    write_resolved(
        out / RESOLVED,
        ids=features.ids,
        classes=beliefs.classes,
        posterior=model.posterior_,
        prediction=model.prediction_,
        belief=beliefs.belief,
        told=beliefs.told if beliefs.weight() is not None else None,
    )
    write_advocates(
        out / ADVOCATES, beliefs, prediction=model.prediction_, posterior=model.posterior_
    )


def _summary(
    model: BeliefClassifier, features: Features, beliefs: Beliefs, out: Path, seconds: float
) -> Summary:
    labels = np.bincount(model.posterior_.argmax(1), minlength=len(beliefs.classes))
    return Summary(
        out=str(out),
        n_instances=len(features),
        n_informed=beliefs.n_informed,
        kind=beliefs.kind,
        classes=beliefs.classes,
        held_out_evidence=model.held_out_evidence_,
        entropy_before=appraised(beliefs.belief).entropy,
        entropy_after=mean_entropy(torch.from_numpy(model.posterior_)),
        balance=tuple((labels / len(features)).tolist()),
        epochs=tuple(len(history) for history in model.history_),
        ended=model.ended_,
        notes=_notes(features, beliefs),
        alarms=model.alarms_,
        seconds=round(seconds, 1),
        sources=told_sources(beliefs, model.belief_ if model.update_every else None),
    )
