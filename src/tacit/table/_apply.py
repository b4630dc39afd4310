"""A model and new data: labels by prediction, or by posterior where beliefs come along."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from tacit.errors import ModelError, refuse
from tacit.estimator import BeliefClassifier
from tacit.table._beliefs import read_beliefs
from tacit.table._features import read_features
from tacit.table._jobs import Applied
from tacit.table._resolve import MODEL
from tacit.table._resolved import write_resolved

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.table._features import Features

__all__ = ["run"]


def run(
    model_path: Path,
    data: str,
    out: Path,
    *,
    beliefs: str | None,
    id_column: str | None,
    tempering: float | None,
    device: str,
) -> Applied:
    """Predict; see `tacit.table.predict`."""
    if out.exists():
        raise refuse("out", "be a new file", f"'{out}' is there", "name another one")
    model = BeliefClassifier.load(_folder(model_path), device=device)
    names = getattr(model, "feature_names_in_", None)
    columns = None if names is None else list(names)
    features = read_features(data, id_column=id_column, columns=columns)
    _check_shape(model, features)
    classes = tuple(map(str, model.classes_))
    with warnings.catch_warnings():
        # The names of the columns were compared when they were read.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        prediction = model.predict_proba(features.values)
        notes = features.notes
        posterior = None
        if beliefs is not None:
            known = read_beliefs(
                beliefs,
                ids=features.ids,
                n_rows=len(features),
                classes=classes,
                id_column=id_column,
            )
            notes += known.notes
            posterior = model.posterior(features.values, known.belief, tempering=tempering)
    write_resolved(
        out, ids=features.ids, classes=classes, posterior=posterior, prediction=prediction
    )
    return Applied(out=str(out), n_instances=len(features), notes=notes)


def _folder(path: Path) -> Path:
    """The model itself, or that of a run."""
    inside = path / MODEL
    if path.exists() and not inside.exists() and (path / "run.json").exists():
        raise ModelError(
            f"'{path}' holds a run that has not come to its end, and no model yet; go on with it "
            "by tacit resolve --resume."
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
