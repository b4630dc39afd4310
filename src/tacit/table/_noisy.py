"""Beliefs by labels that were written down with errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tacit.sources import noisy_labels, transition_from_trusted
from tacit.table._beliefs import finished
from tacit.table._errors import refused
from tacit.table._join import Target
from tacit.table._labels import read_labels
from tacit.table._memory import check_room

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join
    from tacit.table._sets import Column

__all__ = ["noisy_of_names"]


def noisy_of_names(
    column: Column, asked: Asked, classes: Sequence[str], join: Join, notes: Sequence[str] = ()
) -> Beliefs:
    """The belief that written labels state, given or learned how they come from true ones.

    Args:
        column: The column of their names.
        asked: What the caller says: the transition, or the file of trusted labels.
        classes: The names of the classes.
        join: Which row of the file speaks of which of the features.
        notes: What is odd about the file.
    """
    check_room(column.path, 16 * join.n_rows * len(classes))
    written = column.codes(classes)
    if asked.transition is not None:
        table, said = _in_order(asked, classes, column), "by the transition that was given"
    else:
        table, n_trusted = _counted(written, asked, classes, column)
        said = f"by {n_trusted:,} trusted ones"
    seen = join.placed(written)
    belief = noisy_labels(seen, table, learns=asked.transition is None)
    says = (table != table[:1]).any(0)
    n_informed = int(says[torch.from_numpy(seen[seen >= 0])].sum())
    share = float(belief.accuracy()[0])
    note = f"{share:.1%} of the labels were taken to be right, {said}."
    return finished("labels", belief, classes, n_informed, column.path, (*join.notes, *notes, note))


def _in_order(asked: Asked, classes: Sequence[str], column: Column) -> Tensor:
    """The transition that was given, in the order of the classes."""
    assert asked.transition is not None
    names, table = asked.transition
    if len(table) != len(classes):
        raise refused(
            column.path,
            f"is about {len(classes)} classes, and the transition about {len(table)}",
            "pass the names of all classes, in the order of the transition",
            column=column.name,
        )
    order = [*range(len(classes))] if names is None else [names.index(name) for name in classes]
    return table[order][:, order]


def _counted(
    written: NDArray[np.int64], asked: Asked, classes: Sequence[str], column: Column
) -> tuple[Tensor, int]:
    """The transition by trusted labels, and how many there are."""
    assert asked.trusted is not None
    rows = Target(len(written), column.ids)
    true = read_labels(asked.trusted, rows, classes=classes, id_column=asked.id_column).numbers
    both = (true >= 0) & (written >= 0)
    if not both.any():
        raise refused(
            str(asked.trusted),
            f"has no label of a row that has one in `{column.path}` too",
            "name true labels of some of these",
        )
    counted = transition_from_trusted(written[both], true[both], n_classes=len(classes))
    return counted, int(both.sum())
