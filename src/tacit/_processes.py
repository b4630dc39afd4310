"""Sums over all processes that train together; the identity where there is only one."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import torch
import torch.distributed as dist
from torch import Tensor

from tacit.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "ElsewhereError",
    "Group",
    "agreed",
    "any_process",
    "joined",
    "joint_logsumexp",
    "joint_max",
    "joint_rows",
    "joint_sum",
    "n_processes",
    "process_number",
    "same_everywhere",
    "share_first",
]

Group: TypeAlias = "dist.ProcessGroup | Literal['world'] | None"
"""Who takes part: a process group, all processes that torch.distributed runs, or this one."""


_WAIT: Final = 0.02
"""Seconds between two looks at what other processes have written."""


class ElsewhereError(TacitError):
    """Another process could not go on, and says why."""


def n_processes(group: Group) -> int:
    """Number of processes that take part."""
    if group is None or not dist.is_available() or not dist.is_initialized():
        return 1
    return dist.get_world_size(_resolved(group))


def process_number(group: Group) -> int:
    """Number of this process among those that take part, from 0."""
    return dist.get_rank(_resolved(group)) if n_processes(group) > 1 else 0


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


def any_process(holds: bool) -> bool:
    """Whether something holds on any of the processes."""
    return (
        holds if n_processes("world") == 1 else bool(joint_max(torch.tensor(int(holds)), "world"))
    )


def same_everywhere(number: int) -> bool:
    """Whether a whole number below 2^63 is the same on all processes."""
    if n_processes("world") == 1:
        return True
    extremes = joint_max(torch.tensor([number, -number]), "world")
    return bool(extremes[0] == -extremes[1])


def share_first(tensors: Iterable[Tensor]) -> None:
    """Give all processes the values that the first has, in place."""
    if n_processes("world") > 1:
        for tensor in tensors:
            dist.broadcast(tensor, 0)


@contextmanager
def agreed() -> Iterator[None]:
    """End all processes where something inside is refused on one: they would wait for it for ever.

    The first that refused says why; the others raise `ElsewhereError`.
    """
    failed: Exception | None = None
    try:
        yield
    except Exception as error:
        failed = error
    before = n_processes("world") - process_number("world")
    first = int(joint_max(torch.tensor(before if failed else 0), "world"))
    if failed is not None and first == before:
        raise failed
    if first:
        raise ElsewhereError("Another process could not go on, and says why.")


@contextmanager
def joined() -> Iterator[None]:
    """Take part in the training that torchrun has started this process for, if it has.

    Sums go over gloo for tensors of the host and over NCCL for those of a GPU; the n-th process of
    a machine takes its n-th GPU.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2 or dist.is_initialized():
        yield
        return
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
        backend = "cpu:gloo,cuda:nccl"
    from torch.distributed.rendezvous import rendezvous

    store, number, size = next(rendezvous("env://"))
    fresh = _of_this_start(store, number, size)
    dist.init_process_group(backend, store=fresh, rank=number, world_size=size)
    try:
        yield
    finally:
        dist.destroy_process_group()


def _of_this_start(store: Any, number: int, size: int) -> Any:
    """The part of a store that no process of an earlier start has written to.

    Torchrun's store outlives a restart, and with it the addresses of processes that are dead; the
    count of restarts may differ between machines. So each process leaves a mark that is new, and
    all go on once all have seen the same marks: an old set of them cannot hold one's own.
    """
    from torch.distributed.distributed_c10d import PrefixStore

    store.set(f"tacit/mark/{number}", secrets.token_hex(8))
    while True:
        marks = b"/".join(store.get(f"tacit/mark/{other}") for other in range(size))
        store.set(f"tacit/seen/{number}", marks)
        if all(store.get(f"tacit/seen/{other}") == marks for other in range(size)):
            return PrefixStore(marks.decode(), store)
        time.sleep(_WAIT)


def joint_logsumexp(log_values: Tensor, group: Group) -> Tensor:
    """Logarithm of the sum over the processes of exp(log_values), the same on each."""
    size = n_processes(group)
    if size == 1:
        return log_values
    parts = [torch.empty_like(log_values) for _ in range(size)]
    dist.all_gather(parts, log_values.contiguous(), group=_resolved(group))
    return torch.stack(parts).logsumexp(0)


def joint_rows(own: Tensor, n_rows: int) -> Tensor:
    """All rows of a table of which process k of n holds those from k/n to (k + 1)/n.

    A process that holds none may not know the columns.
    """
    n = n_processes("world")
    if n == 1:
        return own
    columns = int(joint_max(torch.tensor(own.shape[1]), "world"))
    padded = own.new_zeros(-(-n_rows // n), columns)
    if len(own):
        padded[: len(own)] = own
    parts = [torch.empty_like(padded) for _ in range(n)]
    dist.all_gather(parts, padded)
    ends = [n_rows * number // n for number in range(n + 1)]
    return torch.cat([part[: ends[k + 1] - ends[k]] for k, part in enumerate(parts)])


def _resolved(group: Group) -> dist.ProcessGroup | None:
    return None if isinstance(group, str) else group
