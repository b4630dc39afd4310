"""True labels from a file, in the order of a run's table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from tacit.report import ids_of_run
from tacit.table._beliefs import read_beliefs
from tacit.table._errors import refused
from tacit.table._memory import slabs
from tacit.table._truth import Truth

if TYPE_CHECKING:
    import os

__all__ = ["read"]


def read(path: str | os.PathLike[str], run: str | os.PathLike[str], id_column: str | None) -> Truth:
    """Read true labels; see `tacit.table.read_truth`."""
    ids, classes = ids_of_run(run)
    known = read_beliefs(path, ids=ids, n_rows=len(ids), classes=classes, id_column=id_column)
    if known.kind != "labels":
        raise refused(
            Path(path), f"holds {known.kind} and no true labels", "save a column called `label`"
        )
    labels = torch.full((len(ids),), -1)
    for rows in slabs(len(ids), len(classes)):
        sure, label = known.belief[rows].marginals().max(1)
        labels[rows] = label.where(sure == 1, -1)
    return Truth(labels, known.notes)
