"""The table of a run, read some rows at a time: belief p, posterior r and prediction q."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from tacit.runs import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

__all__ = ["Part", "ids_of", "parts_of"]

_CELLS: Final = 1 << 20
"""Probabilities of one kind that are held at a time."""
_MOST: Final = 1.01
"""Probabilities at the most, for rounding."""
_FIX: Final = "resolve again into a new folder"


class Part(NamedTuple):
    """Rows that follow each other.

    Attributes:
        start: Number of the first of them.
        ids: What they are called.
        labels: Their classes; None where belief and evidence exclude each other.
        p: Belief, `(rows, class)`; None where the table has none.
        r: Posterior.
        q: Prediction.
        told: The rows that sources tell of; None for all.
    """

    start: int
    ids: pa.Array
    labels: list[str | None]
    p: Tensor | None
    r: Tensor
    q: Tensor
    told: Tensor | None = None


def parts_of(path: Path, classes: Sequence[str], n_rows: int) -> Iterator[Part]:
    """Read the table part by part; refuses one that is damaged or of another run.

    Args:
        path: The file.
        classes: Names of the classes.
        n_rows: How many rows it must have.
    """
    with _reading(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        names = file.schema_arrow.names
        kinds = [kind for kind in "prq" if all(f"{kind}_{name}" in names for name in classes)]
        fits = {"r", "q"} <= {*kinds} and {"id", "label"} <= {*names}
        if not fits or file.metadata.num_rows != n_rows:
            raise _other(path)
        columns = ["id", "label", *(f"{kind}_{name}" for kind in kinds for name in classes)]
        has_told = "told" in names
        columns += ["told"] if has_told else []
        start = 0
        for batch in file.iter_batches(max(1, _CELLS // len(classes)), columns=columns):
            tables = {kind: _stacked(batch, kind, classes) for kind in kinds}
            if not all(bool(((each >= 0) & (each <= _MOST)).all()) for each in tables.values()):
                raise _other(path)
            labels = batch.column("label").to_pylist()
            if not {*labels} <= {None, *classes}:
                raise _other(path)
            known = (tables.get("p"), tables["r"], tables["q"])
            told = _truths(batch.column("told"), path) if has_told else None
            yield Part(start, batch.column("id"), labels, *known, told)
            start += len(batch)


def ids_of(path: Path) -> pa.Array:
    """What the rows of a table are called.

    Args:
        path: The file.
    """
    with _reading(path):
        return pq.read_table(path, columns=["id"])["id"].combine_chunks()


def _other(path: Path) -> RunError:
    return RunError(f"'{path}' is not the table of this run; {_FIX}.")


def _truths(column: Any, path: Path) -> Tensor:
    if not pa.types.is_boolean(column.type) or column.null_count:
        raise _other(path)
    return torch.from_numpy(column.to_numpy(zero_copy_only=False).copy())


def _stacked(batch: Any, kind: str, classes: Sequence[str]) -> Tensor:
    columns = [batch.column(f"{kind}_{name}").to_numpy(zero_copy_only=False) for name in classes]
    return torch.from_numpy(np.stack(columns, 1).astype(np.float64))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise RunError(f"'{path}' is gone; {_FIX}.") from error
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise RunError(f"'{path}' is damaged ({reason}); {_FIX}.") from error
