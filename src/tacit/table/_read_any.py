"""Beliefs as a command asks for them: of one file, or of several that are fused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_args

from tacit.errors import refuse
from tacit.table._asked import Pool
from tacit.table._beliefs import read_beliefs
from tacit.table._fused import read_fused
from tacit.table._read_fused import by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.table._beliefs import Beliefs

__all__ = ["POOLING", "files_of", "read_any"]

POOLING: Final = ("pool", "weights", "abstaining")
"""What is said of several files only."""


def files_of(beliefs: str | Sequence[str]) -> tuple[str, ...]:
    """The paths that a caller names, one or several."""
    return (beliefs,) if isinstance(beliefs, str) else tuple(beliefs)


def read_any(beliefs: str | Sequence[str], *, ids: Any, n_rows: int, **reading: Any) -> Beliefs:
    """Read the beliefs of a file, or fuse those of several.

    Args:
        beliefs: The path, or the paths.
        ids: As for `read_beliefs`, like `n_rows`.
        n_rows: Number of the features' rows.
        reading: What `read_beliefs` takes, and `pool` (`how` of `read_fused`), `weights`, one for
            each file in their order, and `abstaining`.
    """
    paths = files_of(beliefs)
    pooling = {name: reading.pop(name, None) for name in POOLING}
    rows = {"ids": ids, "n_rows": n_rows}
    if len(paths) == 1:
        return _noted(read_beliefs(paths[0], **rows, **reading), pooling)
    return read_fused(paths, **rows, **reading, **_pooled(paths, **pooling))


def _noted(beliefs: Beliefs, pooling: dict[str, Any]) -> Beliefs:
    notes = [
        f"`{name}` was given and does nothing, as there is one file of beliefs."
        for name, value in pooling.items()
        if value is not None
    ]
    return replace(beliefs, notes=(*beliefs.notes, *notes))


def _pooled(
    paths: Sequence[str],
    pool: str | None,
    weights: Sequence[float] | None,
    abstaining: float | None,
) -> dict[str, Any]:
    """What `read_fused` is told."""
    if pool not in (None, *get_args(Pool)):
        ways = " or ".join(get_args(Pool))
        raise refuse("pool", f"be {ways}", f"it is {pool!r}", "pick one")
    if weights is not None and len(weights) != len(paths):
        raise refuse(
            "weights",
            f"be {len(paths)} numbers, one for each file of beliefs, in their order",
            f"they are {len(weights)}",
            "write 1 for a file that counts as it is",
        )
    by_file = None if weights is None else dict(zip(by_name(paths), weights, strict=True))
    return {"how": pool or "product", "weights": by_file, "abstaining": abstaining or 0.0}
