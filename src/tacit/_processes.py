"""Sums over all processes that train together; the identity where there is only one."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
import torch.distributed as dist
from torch import Tensor

__all__ = ["Group", "joint_logsumexp", "joint_max", "joint_sum", "n_processes"]

Group: TypeAlias = "dist.ProcessGroup | Literal['world'] | None"
"""Who takes part: a process group, all processes that torch.distributed runs, or this one."""


def n_processes(group: Group) -> int:
    """Number of processes that take part."""
    if group is None or not dist.is_available() or not dist.is_initialized():
        return 1
    return dist.get_world_size(_resolved(group))


def joint_sum(values: Tensor, group: Group) -> Tensor:
    """Sum of a tensor over the processes, the same on each."""
    if n_processes(group) == 1:
        return values
    total = values.clone()
    dist.all_reduce(total, group=_resolved(group))
    return total


def joint_max(value: Tensor, group: Group) -> Tensor:
    """Largest value over the processes, the same on each."""
    if n_processes(group) == 1:
        return value
    top = value.clone()
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=_resolved(group))
    return top


def joint_logsumexp(log_values: Tensor, group: Group) -> Tensor:
    """Logarithm of the sum over the processes of exp(log_values), the same on each."""
    size = n_processes(group)
    if size == 1:
        return log_values
    parts = [torch.empty_like(log_values) for _ in range(size)]
    dist.all_gather(parts, log_values.contiguous(), group=_resolved(group))
    return torch.stack(parts).logsumexp(0)


def _resolved(group: Group) -> dist.ProcessGroup | None:
    return None if isinstance(group, str) else group
