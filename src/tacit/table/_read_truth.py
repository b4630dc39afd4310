"""True labels from a file, in the order of a run's table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tacit.report import ids_of_run
from tacit.table._ids import checked_ids
from tacit.table._join import Target
from tacit.table._labels import read_labels
from tacit.table._truth import Truth

if TYPE_CHECKING:
    import os

__all__ = ["read"]


def read(path: str | os.PathLike[str], run: str | os.PathLike[str], id_column: str | None) -> Truth:
    """Read true labels; see `tacit.table.read_truth`."""
    ids, classes = ids_of_run(run)
    target = Target(len(ids), checked_ids(ids, len(ids)))
    labels, _, notes = read_labels(path, target, classes=classes, id_column=id_column)
    return Truth(torch.from_numpy(labels), (*notes, *_unknown(labels)))


def _unknown(labels: Any) -> tuple[str, ...]:
    n = int((labels < 0).sum())
    return (f"The true label of {n} of {len(labels)} rows is not known.",) if n else ()
