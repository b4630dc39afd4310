"""What a predictor says of a collection, and what its beliefs become: q, S and r."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tacit._processes import joint_rows, n_processes, process_number
from tacit.beliefs import Independent
from tacit.errors import refuse
from tacit.evidence import evidence
from tacit.fitting._collection import Features, features_at, is_sparse, sample_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.beliefs import Belief

__all__ = ["perceive", "posterior"]

_WHOLE = 64
"""Batches are filled up to a multiple of this with rows that are left out again: matrix products
round the last few of an odd number otherwise, and no row should depend on how many there are."""

_NUMBERS = {"cpu": 1 << 18, "cuda": 1 << 20}
"""Numbers of features that are looked at at a time: what a network makes of an image takes many
times its size. A CPU is quicker where it fits into its caches, a GPU where there is much of it."""
_BATCHES = {"cpu": (256, 1024), "cuda": (256, 1 << 14)}

_ROWS = 1 << 18
"""Rows whose posterior is inferred at a time, where rows stand alone."""


@torch.no_grad()
def perceive(
    network: nn.Module,
    features: Features,
    *,
    rows: Tensor | None = None,
    batch_size: int | None = None,
    autocast: bool = False,
    watch: Callable[[int], None] | None = None,
) -> Tensor:
    """Log of the prediction q, batch by batch, in evaluation mode.

    Where several processes train together each takes a share, and all get the whole.

    Args:
        network: Gives logits `(N, class)`.
        features: `(instances, ...)`, in any form that a `Collection` takes.
        rows: Which instances; all by default.
        batch_size: Instances at a time; by default fewer the larger they are.
        autocast: Whether the network computes in bfloat16.
        watch: Told after each batch how many instances are done.

    Returns:
        `(instances, class)`, float32 or better, on the CPU.
    """
    n_instances = int(features.shape[0]) if rows is None else len(rows)
    device = _device(network)
    was_training = network.training
    network.eval()
    start, end = _own_part(n_instances)
    batch_size = batch_size or _batch_size(features, device)
    log_q: Tensor | None = None
    for first in range(start, end, batch_size):
        last = min(first + batch_size, end)
        part = torch.arange(first, last) if rows is None else rows[first:last]
        filled = torch.cat([part, part[:1].expand(-len(part) % _WHOLE)])
        given = features_at(features, filled).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=autocast):
            logits = network(given)[: len(part)]
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        own = logits.log_softmax(1).cpu()
        if log_q is None:
            log_q = own.new_empty((end - start, *own.shape[1:]))
        log_q[first - start : last - start] = own
        if watch is not None:
            watch(last)
    network.train(was_training)
    if log_q is None:
        log_q = torch.empty(0, 0, dtype=_precision(network))
    return joint_rows(log_q, n_instances)


def posterior(
    log_prediction: Tensor,
    belief: Belief,
    *,
    log_mass: Tensor,
    strata: Tensor | None = None,
    tempering: float = 1.0,
) -> Tensor:
    """Log of r ∝ p (q / S)^β, the belief updated by tempered evidence.

    Args:
        log_prediction: Log of q, `(instances, class)`.
        belief: p.
        log_mass: Log of S, of the collection that the predictor was fitted to, `(class,)` or
            `(strata, class)`.
        strata: Stratum of each instance, where the mass has several.
        tempering: β, what the evidence is multiplied by before the belief sees it. Below 1 for
            predictions that are too sure of themselves or correlated.

    Returns:
        Log marginals, `(instances, class)`.
    """
    if not 0 <= tempering < float("inf"):
        raise refuse("tempering", "be finite and at least 0", f"it is {tempering}", "try 0.5")
    # Where rows stand alone a part of them at a time, so that nothing is held twice.
    n, step = len(belief), _ROWS if isinstance(belief, Independent) else max(len(belief), 1)
    log_r = torch.empty_like(log_prediction)
    for start in range(0, n, step):
        part = slice(start, start + step)
        own = None if strata is None else strata[part]
        a = tempering * evidence(log_prediction[part], log_mass=log_mass, strata=own)
        log_r[part] = belief[part].posterior(a).log_marginals
    return log_r


def _own_part(n_instances: int) -> tuple[int, int]:
    number, n = process_number("world"), n_processes("world")
    return n_instances * number // n, n_instances * (number + 1) // n


def _precision(network: nn.Module) -> torch.dtype:
    given = next((p.dtype for p in network.parameters()), torch.float32)
    return torch.promote_types(given, torch.float32)


def _batch_size(features: Features, device: torch.device) -> int:
    kind = "cuda" if device.type == "cuda" else "cpu"
    least, most = _BATCHES[kind]
    size = max(torch.Size(sample_shape(features)).numel(), 1)
    return most if is_sparse(features) else min(max(_NUMBERS[kind] // size, least), most)


def _device(network: nn.Module) -> torch.device:
    return next((p.device for p in network.parameters()), torch.device("cpu"))
