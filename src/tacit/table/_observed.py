"""Beliefs by what was observed instead: a class of another classification."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tacit.sources import cooccurrence
from tacit.table._beliefs import finished
from tacit.table._errors import listed, refused
from tacit.table._memory import check_room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join
    from tacit.table._sets import Column

__all__ = ["observed_of_names"]


def observed_of_names(
    column: Column, asked: Asked, join: Join, notes: Sequence[str] = ()
) -> Beliefs:
    """The belief that observed classes state.

    Args:
        column: The column of their names.
        asked: What the caller says, the table of co-occurrence among it.
        join: Which row of the file speaks of which of the features.
        notes: What is odd about the file.
    """
    known, classes = asked.cooccurrence, asked.classes
    if known is None or classes is None:
        raise refused(
            column.path,
            "holds observed classes, and no table says with which classes they occur",
            "pass cooccurrence=read_cooccurrence(path), or call the column `label`",
            column=column.name,
        )
    check_room(column.path, 4 * join.n_rows * len(classes))
    seen = join.placed(column.codes(known.observed))
    table = known.table[:, [known.classes.index(name) for name in classes]]
    says = (table != table[:, :1]).any(1)
    silent = [known.observed[place] for place in np.flatnonzero(~says.numpy())]
    if silent:
        notes = (*notes, f"The table says nothing of {listed(silent)}.")
    n_informed = int(says[torch.from_numpy(seen[seen >= 0])].sum())
    # Scaled before they are narrowed: counts may be beyond what float32 holds.
    largest = table.amax(1, keepdim=True)
    belief = cooccurrence(torch.from_numpy(seen), table / largest.where(largest > 0, 1.0))
    return finished("observed", belief, classes, n_informed, column.path, (*join.notes, *notes))
