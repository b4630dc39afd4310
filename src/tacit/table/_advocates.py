"""Who spoke for what, of the instances whose features contradict their belief: for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from tacit._files import write_atomically
from tacit.beliefs import Independent
from tacit.diagnostics import contradiction
from tacit.runs import RunError, as_json
from tacit.sources import Fused, Voted, advocates
from tacit.table._memory import slabs

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.sources import Advocate, Votes
    from tacit.table._beliefs import Beliefs

__all__ = ["ADVOCATES", "write_advocates"]

ADVOCATES: Final = "advocates.json"
_MOST_ROWS: Final = 200
"""Instances that a report lists."""
_MOST: Final = 5
"""Sources that are named for a class."""


def write_advocates(
    path: Path,
    beliefs: Beliefs,
    *,
    prediction: NDArray[np.floating],
    posterior: NDArray[np.floating],
) -> None:
    """Write down who spoke for what, where beliefs have sources; a small file of a few instances.

    Of each instance the classes count that are likeliest by r, by p and by q.

    Args:
        path: The file.
        beliefs: Those that were learned from.
        prediction: q, `(instances, class)`.
        posterior: r, `(instances, class)`.
    """
    if not beliefs.sources or not isinstance(beliefs.belief, Independent):
        return
    rows, p = _contradicted(beliefs.belief, prediction, beliefs.told)
    asked = _asked(beliefs, rows)
    labels = torch.stack([torch.from_numpy(posterior[rows]).argmax(1), p.argmax(1)], 1)
    labels = torch.cat([labels, torch.from_numpy(prediction[rows]).argmax(1, keepdim=True)], 1)
    found: list[dict[str, Any]] = [{} for _ in rows]
    for column in labels.T:
        for told, label, who in zip(found, column.tolist(), advocates(asked, column), strict=True):
            told[beliefs.classes[label]] = _told(who, beliefs.sources)
    body = {"rows": dict(zip(map(str, rows.tolist()), found, strict=True))}
    words = as_json(body).encode() + b"\n"
    write_atomically(path, lambda file: file.write(words), error=RunError)


def _contradicted(
    belief: Independent, prediction: NDArray[np.floating], told: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The rows that are contradicted most, as a report ranks them, and their marginals."""
    against = torch.empty(len(belief), dtype=torch.float64)
    for rows in slabs(len(belief), belief.n_classes):
        # In the precision of the table that the report reads.
        q = torch.from_numpy(prediction[rows].astype(np.float32)).double()
        p = belief[rows].marginals().cpu().double()
        against[rows] = contradiction(prediction=q, marginals=p)
    if told is not None:
        against[~told] = 0.0  # by what others are like, and by nothing that is known of them
    order = against.argsort(descending=True, stable=True)[:_MOST_ROWS]
    order = order[against[order] > 0]
    return order, belief[order].marginals().cpu()


def _asked(beliefs: Beliefs, rows: Tensor) -> Voted | Fused | Votes:
    """What knows of its sources, about some of the rows."""
    if isinstance(beliefs.belief, Fused):
        return beliefs.belief[rows]
    assert beliefs.votes is not None
    votes, voted = beliefs.votes.on(rows), beliefs.voted
    if voted is None:
        return votes
    return Voted(votes, voted.reliability, voted.balance, learns=False)


def _told(found: list[Advocate], sources: tuple[str, ...]) -> dict[str, Any]:
    first = [[sources[each.source], round(each.strength, 4), each.spoke] for each in found[:_MOST]]
    return {"first": first, "n": len(found)}
