"""A model and new data: labels by prediction, or by posterior where beliefs come along."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from tacit.beliefs import Categorical
from tacit.errors import ModelError, refuse
from tacit.estimator import BeliefClassifier
from tacit.table._accuracies import Accuracies
from tacit.table._asked import check_way
from tacit.table._beliefs import SPECIAL
from tacit.table._errors import listed, shown
from tacit.table._features import read_features
from tacit.table._jobs import Applied
from tacit.table._paths import format_of, located
from tacit.table._read_any import files_of, read_any
from tacit.table._reliabilities import read_reliabilities
from tacit.table._resolve import MODEL
from tacit.table._resolved import write_resolved
from tacit.table._write import check_new

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit.table._asked import How
    from tacit.table._beliefs import Beliefs
    from tacit.table._features import Features
    from tacit.table._reliabilities import Reliabilities

__all__ = ["run"]


def run(
    model_path: Path,
    data: str,
    out: Path,
    *,
    beliefs: str | Sequence[str] | None,
    id_column: str | None,
    tempering: float | None,
    device: str,
    votes: How | Accuracies | None,
    **reading: Any,
) -> Applied:
    """Predict; see `tacit.table.predict`."""
    _check(data, out, beliefs, {"tempering": tempering, "votes": votes, **reading})
    folder = _folder(model_path)
    model = BeliefClassifier.load(folder, device=device)
    features, notes = _read(model, data, id_column)
    _check_shape(model, features)
    classes = tuple(map(str, model.classes_))
    known = None
    if beliefs is not None:
        known = read_any(
            beliefs,
            ids=features.ids,
            n_rows=len(features),
            classes=classes,
            id_column=id_column,
            votes=_way(folder, votes),
            **reading,
        ).asked_for(votes=votes, **{name: reading.get(name) for name in SPECIAL[1:]})
        notes += known.notes
        known = _about_the_untold(known, model)
    posterior = None
    with warnings.catch_warnings():
        # The names of the columns were compared when they were read.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        prediction = model.predict_proba(features.values)
        if known is not None:
            posterior = model.posterior(features.values, known.belief, tempering=tempering)
    write_resolved(
        out,
        ids=features.ids,
        classes=classes,
        posterior=posterior,
        prediction=prediction,
        belief=None if known is None else known.belief,
    )
    return Applied(out=str(out), n_instances=len(features), notes=notes)


def _about_the_untold(known: Beliefs, model: BeliefClassifier) -> Beliefs:
    """Of rows that no vote tells of only the run's balance is known: their r is q.

    What the other rows of the call say of the balance does not matter.
    """
    if known.told is None or known.voted is not None:
        return known
    table = known.belief.marginals()
    table[~known.told] = torch.from_numpy(model.class_mass_).to(table.dtype)
    return replace(known, belief=Categorical(table))


def _way(folder: Path, asked: How | Accuracies | None) -> How | Reliabilities | Accuracies:
    """How votes become a belief: as the run has learned it, so that no row depends on the others.

    Args:
        folder: Of the model.
        asked: What the caller asks for, if anything.
    """
    if isinstance(asked, Accuracies):
        return asked
    learned = None if asked == "majority" else read_reliabilities(folder)
    if learned is None and asked == "dawid_skene":
        raise refuse(
            "votes",
            "be majority for a model whose run has learned of no sources",
            f"it is {asked}",
            "leave it out, or resolve the new data with their votes",
        )
    return learned or "majority"


def _check(
    data: str, out: Path, beliefs: str | Sequence[str] | None, about: dict[str, Any]
) -> None:
    """Refuse before long work what would be refused after it."""
    check_new(out)
    for path in (data, *files_of(beliefs or ())):
        format_of(located(path))
    if beliefs is None:
        for name, value in about.items():
            _check_left_out(name, value)
    check_way(about["votes"])
    tempering = about["tempering"]
    if tempering is not None and not 0 <= tempering < math.inf:
        raise refuse("tempering", "be finite and at least 0", f"it is {tempering}", "try 0.5")


def _check_left_out(name: str, value: object) -> None:
    if value is not None:
        said = isinstance(value, Accuracies)
        raise refuse(
            "accuracies" if said else name,
            "be left out where there are no beliefs, as it is of these or of the posterior",
            "they came" if said else f"it is {shown(value)}",
            "pass beliefs, or leave it out",
        )


def _read(
    model: BeliefClassifier, data: str, id_column: str | None
) -> tuple[Features, tuple[str, ...]]:
    """Features by the names that the model knows, or in its order where there are no names."""
    names = list(getattr(model, "feature_names_in_", ()))
    if not names or format_of(located(data)) in ("parquet", "csv"):
        features = read_features(data, id_column=id_column, columns=names or None)
        return features, features.notes
    features = read_features(data, id_column=id_column)
    note = f"Features without names were taken to be, in this order, {listed(names)}."
    return features, (*features.notes, note)


def _folder(path: Path) -> Path:
    """The model itself, or that of a run."""
    inside = path / MODEL
    if path.exists() and not inside.exists() and (path / "run.json").exists():
        raise ModelError(
            f"'{path}' holds a run without a model: it has not come to its end, or its model was "
            "removed; go on with it by tacit resolve --resume."
        )
    return inside if inside.is_dir() else path


def _check_shape(model: BeliefClassifier, features: Features) -> None:
    shape = tuple(features.values.shape[1:])
    if shape != model.feature_shape_:
        raise refuse(
            "data",
            f"hold instances of shape {model.feature_shape_}, like those that were learned from",
            f"those of '{features.source}' have {shape}",
            "pass the same columns, or images of the same size",
        )
