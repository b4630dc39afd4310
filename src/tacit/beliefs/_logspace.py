"""Sums in log space that stay differentiable where some of the weights are zero.

Minus infinity is the right log of zero but a bad citizen in a gradient: the derivative of
`logsumexp` is NaN where all of its arguments are minus infinity, that of `logcumsumexp` where the
first one is, even if nobody asks for it. Inference therefore computes with `LOG_ZERO`, from which
exp gives an exact zero, and puts minus infinity back at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LOG_ZERO", "Rescaled", "normalised", "rescaled"]

LOG_ZERO: Final = -1e30
"""Stands for the log of zero: far below any sum of log-weights, and float32 holds many of it."""

_SOME: Final = LOG_ZERO / 10
"""Log-weights above this are of something possible; `LOG_ZERO` plus anything real stays below."""


class Rescaled(NamedTuple):
    """Log-weights with a row maximum of zero, `(..., class)`, and what was taken off, `(...)`."""

    log_weights: Tensor
    log_scale: Tensor


def rescaled(log_weights: Tensor) -> Rescaled:
    """Take the maximum off each row, and `LOG_ZERO` for minus infinity.

    Float32 resolves 1e-3 at ten thousand, so sums along a long group drown unless the common part
    of each row is kept aside. It is constant to autograd: what is added back later has the same
    value, so that totals keep their exact gradient and marginals do not depend on it.

    Args:
        log_weights: Log-weights, `(..., class)`.

    Example:
        >>> import torch
        >>> log_weights, log_scale = rescaled(torch.tensor([[1e4, 1e4 - 2.0, -torch.inf]]))
        >>> log_weights, log_scale
        (tensor([[ 0.0000e+00, -2.0000e+00, -1.0000e+30]]), tensor([10000.]))
    """
    log_weights = log_weights.clamp(min=LOG_ZERO)
    largest = log_weights.detach().amax(-1)
    log_scale = largest.where(largest > _SOME, 0.0)
    return Rescaled(log_weights - log_scale.unsqueeze(-1), log_scale)


def normalised(log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """Normalise rows of log-weights, with minus infinity for what is impossible.

    Args:
        log_weights: Log-weights, `(..., class)`, with about `LOG_ZERO` or less for zero.

    Returns:
        Log-probabilities `(..., class)`, and the log of each row's total, `(...)`. A row in which
        nothing is possible is minus infinity throughout, and so is its total.

    Example:
        >>> import torch
        >>> normalised(torch.tensor([[0.0, 0.0, LOG_ZERO], [LOG_ZERO, LOG_ZERO, LOG_ZERO]]))
        (tensor([[-0.6931, -0.6931,    -inf],
                [   -inf,    -inf,    -inf]]), tensor([0.6931,   -inf]))
    """
    # Comparing this way round lets NaN through, so that it is seen.
    never = log_weights <= _SOME
    hopeless = never.all(-1)
    # A sum over nothing but minus infinity has no gradient: hopeless rows are left out of it.
    possible = log_weights.masked_fill(never, -torch.inf).masked_fill(hopeless.unsqueeze(-1), 0.0)
    # The maximum is taken off first: beside a large one the log of the sum would be lost.
    top = possible.detach().amax(-1, keepdim=True)
    shifted = possible - top
    log_sum = shifted.logsumexp(-1, keepdim=True)
    return (
        (shifted - log_sum).masked_fill(never, -torch.inf),
        (top + log_sum).squeeze(-1).masked_fill(hopeless, -torch.inf),
    )
