"""Correlation and convolution in log space, in memory that does not grow with their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch.nn.functional import pad

from tacit.beliefs._logspace import LOG_ZERO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from torch import Tensor

__all__ = ["log_convolve", "log_correlate"]

_SLAB: Final = 1 << 21
"""Terms that are held at once: large enough to keep a processor busy, 16 MiB in float64."""


def log_convolve(first: Tensor, second: Tensor, length: int) -> Tensor:
    """Convolve in log space.

        z_m = log Σ_i exp(x_i + y_{m-i})

    Args:
        first: The sequence x, `(..., i)`, finite.
        second: The sequence y, `(..., j)`, finite.
        length: How many terms of z to compute.

    Returns:
        The sequence z, `(..., length)`.

    Example:
        >>> import torch
        >>> coin = torch.tensor([0.5, 0.5]).log()
        >>> log_convolve(coin, coin, 3).exp()
        tensor([0.2500, 0.5000, 0.2500])
    """
    reach = first.shape[-1] - 1
    beyond = max(length - second.shape[-1], 0)
    padded = pad(second[..., :length], (reach, beyond), value=LOG_ZERO)
    return log_correlate(padded, first.flip(-1))


def log_correlate(long: Tensor, short: Tensor) -> Tensor:
    """Correlate in log space.

        z_j = log Σ_i exp(x_{i+j} + y_i)

    Args:
        long: The sequence x, `(..., position)`, finite.
        short: The sequence y, `(..., i)`, finite and no longer than x.

    Returns:
        The sequence z wherever y fits into x, `(..., j)`.

    Example:
        >>> import torch
        >>> long, short = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 10.0])
        >>> log_correlate(long.log(), short.log()).exp()
        tensor([21.0000, 32.0000])
    """
    correlated: Tensor = _LogCorrelate.apply(long, short)  # type: ignore[no-untyped-call]
    return correlated


class _LogCorrelate(torch.autograd.Function):
    """Keeps the two sequences and the result; the table of their terms is computed anew."""

    @staticmethod
    def forward(ctx: Any, long: Tensor, short: Tensor) -> Tensor:
        slabs = [_terms(long, short, rows).logsumexp(-1) for rows in _slabs(long, short)]
        correlated = torch.cat(slabs, -1)
        ctx.save_for_backward(long, short, correlated)
        return correlated

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        long, short, correlated = ctx.saved_tensors
        to_long, to_short = torch.zeros_like(long), torch.zeros_like(short)
        for rows in _slabs(long, short):
            log_weights = _terms(long, short, rows) - correlated[..., rows].unsqueeze(-1)
            pulled = log_weights.exp() * gradient[..., rows].unsqueeze(-1)
            to_short += pulled.sum(-2)
            to_long[..., rows.start : rows.stop + short.shape[-1] - 1] += _diagonal_sums(pulled)
        return to_long, to_short


def _slabs(long: Tensor, short: Tensor) -> Iterator[slice]:
    """Cut the places of y along x into slices of so many that their terms fit into a slab."""
    places = long.shape[-1] - short.shape[-1] + 1
    step = max(1, _SLAB // max(short.numel(), 1))
    for start in range(0, places, step):
        yield slice(start, min(start + step, places))


def _terms(long: Tensor, short: Tensor, rows: slice) -> Tensor:
    """The sums x_{i+j} + y_i, `(..., j, i)`, for the places j in `rows`."""
    size = short.shape[-1]
    windows = long[..., rows.start : rows.stop + size - 1].unfold(-1, size, 1)
    return windows + short.unsqueeze(-2)


def _diagonal_sums(table: Tensor) -> Tensor:
    """Sum entries (j, i) of equal j + i, `(..., j, i)` to `(..., j + i)`."""
    rows, columns = table.shape[-2:]
    # Padded rows, read as if they were one shorter, slip by one place each.
    slipped = pad(table, (0, rows)).flatten(-2)[..., : rows * (rows + columns - 1)]
    sums: Tensor = slipped.unflatten(-1, (rows, rows + columns - 1)).sum(-2)
    return sums
