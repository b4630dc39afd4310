"""What must be the same when a run is resumed, in a few words."""

from __future__ import annotations

import zlib
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from tacit.beliefs import Belief
from tacit.fitting._collection import is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.fitting._collection import Collection
    from tacit.fitting._run import Plan, Run

__all__ = ["checksum", "digest", "fingerprint"]

_PARTS: Final = 256
_PART: Final = 1 << 20
"""Bytes of a part: tables of up to 256 MiB are read whole, of larger ones as much is read in parts
spread over them, which takes a fifth of a second."""


def fingerprint(runs: Sequence[Run], plans: Sequence[Plan], of: Collection) -> dict[str, Any]:
    """Describe runs and their collection, as JSON has it."""
    return {
        "settings": [asdict(plan.settings) for plan in plans],
        "objectives": [_of_module(plan.objective, values=True) for plan in plans],
        "predictors": [_of_module(run.learner.network, values=False) for run in runs],
        "features": digest(of.features),
        "beliefs": _of_belief(of.belief),
        "beliefs of their own": [plan.belief and _of_belief(plan.belief) for plan in plans],
        "weights": None if of.weight is None else digest(of.weight),
        "strata": None if of.strata is None else digest(of.strata),
    }


def digest(table: Any) -> str:
    """Shape, type and checksum of a tensor, an array or a scipy sparse matrix."""
    shape = "x".join(str(int(side)) for side in table.shape)
    value = 0
    for part in _parts(table):
        value = checksum(part, value)
    return f"{shape} {str(table.dtype).removeprefix('torch.')} {value:08x}"


def checksum(values: Tensor, start: int = 0) -> int:
    """CRC-32 of the bytes of a tensor, or of several one after the other.

    Args:
        values: The tensor.
        start: The checksum so far.
    """
    plain = values.detach().cpu().contiguous().flatten().view(torch.uint8)
    return zlib.crc32(plain.numpy().data, start)


def _parts(table: Any) -> Iterator[Tensor]:
    """A table as tensors, a few rows at a time."""
    if is_sparse(table):
        rows = table.tocsr()
        for values in (rows.indptr, rows.indices, rows.data):
            yield from _parts(values)
        return
    if isinstance(table, Tensor) and table.is_sparse:
        whole = table.coalesce()
        yield from _parts(whole.indices().T)
        yield from _parts(whole.values())
        return
    if not table.ndim:
        yield torch.as_tensor(table)
        return
    n_rows = int(table.shape[0])
    n_parts = max(1, min(_PARTS, n_rows, -(-table.nbytes // _PART)))
    ends = np.linspace(0, n_rows, n_parts + 1).astype(int)
    most = n_rows if table.nbytes <= _PARTS * _PART else max(1, _PART * n_rows // table.nbytes)
    for start, end in pairwise(ends):
        part = table[start : min(end, start + most)]
        yield part if isinstance(part, Tensor) else torch.from_numpy(np.array(part))


def _of_module(module: nn.Module, *, values: bool) -> str:
    """A checksum of layers, shapes and types, and of the values where they are settings."""
    state = module.state_dict()
    kinds = {name: f"{tuple(tensor.shape)} {tensor.dtype}" for name, tensor in state.items()}
    found = zlib.crc32(f"{module!r} {kinds}".encode())
    for tensor in state.values() if values else ():
        found = checksum(tensor, found)
    return f"{type(module).__name__} {found:08x}"


def _of_belief(belief: Belief) -> list[Any]:
    """The belief's own words and tables, and those of the beliefs that it is made of."""
    tables = (value for value in vars(belief).values() if isinstance(value, Tensor))
    within = (value for value in vars(belief).values() if isinstance(value, Belief))
    return [repr(belief), *map(digest, tables), *map(_of_belief, within)]
