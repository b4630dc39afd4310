"""How instances reach the device: held there, or streamed batch by batch."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from tacit.beliefs import Independent
from tacit.errors import refuse
from tacit.fitting._collection import Features, features_at, is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tacit.beliefs import Belief
    from tacit.fitting._collection import Collection
    from tacit.fitting._settings import Execution

__all__ = ["Batch", "Feed", "Share", "fits"]

_AHEAD = 2
"""Batches that are read while the device works."""


class Batch(NamedTuple):
    """Some instances on the device.

    Attributes:
        features: `(N, ...)`.
        belief: About these instances.
        weight: Their weights, if any.
        strata: Their strata, if any.
    """

    features: Tensor
    belief: Belief
    weight: Tensor | None
    strata: Tensor | None


class Share(NamedTuple):
    """What one run takes in a step.

    Attributes:
        rows: Row numbers.
        counts: Whether they count, or are only there so that something is.
        belief: As `Feed.placed` gives it; that of the collection unless given.
    """

    rows: Tensor
    counts: bool = True
    belief: Belief | None = None


class Feed:
    """A collection, and where its parts lie.

    Args:
        collection: What to learn from.
        device: Where to learn.
        execution: Whether to hold or to stream.
    """

    def __init__(self, collection: Collection, device: torch.device, execution: Execution) -> None:
        self.device = device
        if execution.hold == "yes" and is_sparse(collection.features):
            raise refuse(
                "hold",
                "be 'auto' or 'no' for a scipy sparse matrix",
                "it is 'yes'",
                "leave it out, or make the features dense",
            )
        self.held = execution.hold != "no" and (
            execution.hold == "yes" or fits(collection.features, device)
        )
        self.features: Features = collection.features
        self._stated = collection.belief
        self.belief, self.weight, self.strata = (
            collection.belief,
            collection.weight,
            collection.strata,
        )
        if self.held:
            self.features = _on_device(collection.features, device, execution.channels_last)
            self.belief = self.belief.to(device)
            self.weight = None if self.weight is None else self.weight.to(device)
            self.strata = None if self.strata is None else self.strata.to(device)
        self._channels_last = execution.channels_last

    def placed(self, belief: Belief) -> Belief:
        """A belief about the collection where the feed takes it from."""
        if belief is self._stated:
            return self.belief
        return belief.to(self.device) if self.held else belief

    def batch(self, rows: Tensor, belief: Belief | None = None) -> Batch:
        """Some instances; rows on the device where the features are held, else on the host.

        Args:
            rows: Row numbers.
            belief: As `placed` gives it; that of the collection unless given.
        """
        features = features_at(self.features, rows)
        whole = self.belief if belief is None else belief
        belief = whole.rows_at(rows) if isinstance(whole, Independent) else whole[rows]
        weight = None if self.weight is None else self.weight[rows]
        strata = None if self.strata is None else self.strata[rows]
        if self.held:
            return Batch(features, belief, weight, strata)
        return Batch(
            self._moved(features),
            belief.to(self.device),
            None if weight is None else weight.to(self.device),
            None if strata is None else strata.to(self.device),
        )

    def stream(self, plan: Iterable[Sequence[Share]]) -> Iterator[list[Batch]]:
        """The batches of several runs, step by step; read ahead by a thread when not held.

        Args:
            plan: For each step what each run takes.
        """
        steps = iter(plan)
        if self.held:
            yield from map(self._read, steps)
            return
        with ThreadPoolExecutor(1, thread_name_prefix="tacit-feed") as reader:
            waiting = [reader.submit(self._read, step) for step in islice(steps, _AHEAD)]
            while waiting:
                ready = waiting.pop(0).result()
                if (following := next(steps, None)) is not None:
                    waiting.append(reader.submit(self._read, following))
                yield ready

    def _read(self, step: Sequence[Share]) -> list[Batch]:
        ready = []
        for rows, counts, belief in step:
            batch = self.batch(rows.to(self.device) if self.held else rows, belief)
            if not counts:
                nothing = torch.zeros(len(rows), device=self.device)
                batch = batch._replace(weight=nothing)
            ready.append(batch)
        return ready

    def _moved(self, features: Tensor) -> Tensor:
        if self.device.type == "cuda" and not features.is_sparse:
            features = features.pin_memory()
        moved = features.to(self.device, non_blocking=True)
        if self._channels_last and moved.ndim == 4:
            moved = moved.contiguous(memory_format=torch.channels_last)
        return moved


def fits(features: Features, device: torch.device) -> bool:
    """Whether features may be held on a device: they take at most half of what is free there.

    On the CPU what is in memory is held, and what is a file stays one.
    """
    if is_sparse(features):
        return False
    if device.type != "cuda":
        return isinstance(features, Tensor) or not hasattr(features, "filename")
    free, _ = torch.cuda.mem_get_info(device)
    return bool(features.nbytes <= free / 2)


def _shared(features: Features) -> Tensor:
    """An array as a tensor without a copy; torch warns of those that must not be written to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.as_tensor(features)


def _on_device(features: Features, device: torch.device, channels_last: bool) -> Tensor:
    tensor = features if isinstance(features, Tensor) else _shared(features)
    tensor = tensor.to(device)
    if channels_last and tensor.ndim == 4:
        tensor = tensor.contiguous(memory_format=torch.channels_last)
    return tensor
