"""Votes in the records of WRENCH: `{"label": ..., "weak_labels": [...], "data": {...}}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.table._errors import refused, shown
from tacit.table._vote_matrix import votes_of_matrix

if TYPE_CHECKING:
    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join
    from tacit.table._records import Records

__all__ = ["votes_of_wrench"]


def votes_of_wrench(records: Records, join: Join, asked: Asked) -> Beliefs:
    """The votes of labelling functions, in the order of each record's `weak_labels`.

    The true `label`, which such a benchmark has, is never read.
    """
    rows = [_checked(records, row) for row in range(len(records.rows))]
    n_sources = len(rows[0])
    for row, votes in enumerate(rows):
        if len(votes) != n_sources:
            raise _refused(
                records, row, f"holds {len(votes)} votes, and the first row has {n_sources}"
            )
    notes = ("The labels under `label` were not read, as they are the truth.",)
    gold = any(record.get("label") is not None for record in records.rows)
    matrix = np.array(rows, dtype=np.int64).reshape(len(rows), n_sources)
    sources = [str(place) for place in range(n_sources)]
    names = (asked.classes, None)
    parts = [(0, matrix)]
    return votes_of_matrix(parts, sources, names, join, asked, records.path, notes if gold else ())


def _checked(records: Records, row: int) -> list[Any]:
    votes = records.rows[row].get("weak_labels")
    if not isinstance(votes, list) or not votes:
        raise _refused(records, row, f"holds {shown(votes)}, and not a list of votes")
    for vote in votes:
        if type(vote) is not int or abs(vote) >= 1 << 62:
            raise _refused(records, row, f"holds the vote {shown(vote)}")
    return votes


def _refused(records: Records, row: int, what: str) -> Exception:
    return refused(
        records.path,
        what,
        "write one whole number for each labelling function, -1 where it abstains",
        row=row,
        ids=records.ids,
        column="weak_labels",
    )
