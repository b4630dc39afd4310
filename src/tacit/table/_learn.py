"""Beliefs learned from auxiliary inputs in files, written as a file of probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import torch

from tacit._files import write_atomically
from tacit.errors import refuse
from tacit.sources import learned_belief, learned_out_of_fold
from tacit.sources._learned import SETTINGS
from tacit.table._classes import class_names
from tacit.table._errors import listed, refused
from tacit.table._features import read_features
from tacit.table._jobs import Learned
from tacit.table._join import Target
from tacit.table._kinds import names_a_class
from tacit.table._labels import read_labels
from tacit.table._write import check_new

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from tacit.fitting import Settings
    from tacit.table._features import Features
    from tacit.table._labels import Labels

__all__ = ["run"]


def run(
    auxiliary: str,
    labels: str,
    out: Path,
    *,
    new: str | None,
    id_column: str | None,
    columns: Sequence[str] | None,
    classes: Sequence[str] | int | None,
    folds: int,
    seed: int,
) -> Learned:
    """Learn a belief; see `tacit.table.learn_belief`."""
    check_new(out)
    _check_seed(seed)
    inputs = read_features(auxiliary, id_column=id_column, columns=columns)
    others = inputs
    if new is not None:
        named = columns or inputs.names or None
        others = read_features(new, id_column=id_column, columns=named)
    rows = Target(len(inputs), inputs.ids)
    names = None if classes is None else class_names(classes)
    known = read_labels(labels, rows, classes=names, id_column=id_column)
    _check(known, labels, folds, within=new is None)
    settings = replace(SETTINGS, seed=seed)
    p = _believed(inputs, None if new is None else others, known, folds, settings)
    _write(out, others.ids, known.classes, p)
    return Learned(
        out=str(out),
        n_instances=len(others),
        n_labels=int((known.numbers >= 0).sum()),
        classes=known.classes,
        notes=(*dict.fromkeys((*inputs.notes, *others.notes, *known.notes)),),
    )


def _believed(
    inputs: Features, new: Features | None, known: Labels, folds: int, settings: Settings
) -> Tensor:
    """Probabilities of other rows, or of the inputs themselves, which no network has seen."""
    values, labels = torch.from_numpy(inputs.values), torch.from_numpy(known.numbers)
    has = labels >= 0
    own, truth = values[has], labels[has]
    how: dict[str, Any] = {"n_classes": len(known.classes), "settings": settings}
    if new is not None:
        return learned_belief(own, truth, torch.from_numpy(new.values), **how).marginals()
    p = torch.empty(len(values), len(known.classes))
    p[has] = learned_out_of_fold(own, truth, folds=folds, **how).marginals()
    if not bool(has.all()):
        p[~has] = learned_belief(own, truth, values[~has], **how).marginals()
    return p


def _check(known: Labels, path: str, folds: int, *, within: bool) -> None:
    """Refuse labels from which nothing can be learned, and names that no column may have."""
    n = int((known.numbers >= 0).sum())
    least = max(folds, 2) if within else 2
    if n < least:
        raise refused(path, f"has labels of {n} of the inputs", f"name those of at least {least}")
    if folds < 2:
        raise refuse("folds", "be at least 2", f"it is {folds}", "try 5")
    odd = [name for name in known.classes if not names_a_class(name)]
    if odd:
        raise refused(
            path,
            f"has a class called {listed(odd)}, which means something else as a column of beliefs",
            "call the class otherwise",
        )


def _check_seed(seed: int) -> None:
    if not 0 <= seed < 1 << 63:
        raise refuse("seed", "be at least 0 and below 2^63", f"it is {seed}", "try 0")


def _write(out: Path, ids: pa.Array | None, classes: Sequence[str], p: Tensor) -> None:
    """Write a column of probabilities for each class, beside the ids where there are any."""
    import pyarrow.parquet as pq

    columns = {} if ids is None else {"id": ids}
    table = np.ascontiguousarray(p.numpy().T)
    columns |= {name: pa.array(column) for name, column in zip(classes, table, strict=True)}
    write_atomically(out, lambda file: pq.write_table(pa.table(columns), file))
