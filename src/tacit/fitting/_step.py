"""One training step of one or several runs, called as it is or captured in a CUDA graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from tacit._processes import joint_sum, n_processes
from tacit.fitting._augment import AUGMENTATIONS
from tacit.fitting._together import logits_together, pays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.fitting._feed import Batch, Feed
    from tacit.fitting._run import Run
    from tacit.fitting._settings import Execution

__all__ = ["Captured", "train_step"]

_WARM = 3
"""Steps before a capture: libraries set themselves up in the first ones."""


def train_step(runs: Sequence[Run], batches: Sequence[Batch], execution: Execution) -> None:
    """Move each run by one step.

    Where several processes train together, each brings its own part of the batches, and all make
    the step of the joined ones: objectives add up over processes what couples instances, and
    gradients are averaged here.
    """
    device = runs[0].device
    features = [_augmented(run, batch) for run, batch in zip(runs, batches, strict=True)]
    with torch.autocast(device.type, torch.bfloat16, enabled=execution.autocast):
        logits = _logits(runs, features, execution)
    losses = [
        run.loss(each, batch.belief, weight=batch.weight, **_strata(run, batch))
        for run, each, batch in zip(runs, logits, batches, strict=True)
    ]
    # A loss may have no gradient where the part of this process is empty.
    torch.stack(losses).sum().backward()
    _average_gradients(runs)
    for run, loss in zip(runs, losses, strict=True):
        run.optimizer.step()
        run.optimizer.zero_grad(set_to_none=True)
        run.loss_sum += loss.detach()


def _augmented(run: Run, batch: Batch) -> Tensor:
    augment = AUGMENTATIONS[run.settings.augment]
    return batch.features if augment is None else augment(batch.features)


def _logits(runs: Sequence[Run], features: list[Tensor], execution: Execution) -> list[Tensor]:
    networks = [run.network for run in runs]
    same = len({tuple(each.shape) for each in features}) == 1 and not features[0].is_sparse
    if same and not execution.compile and pays(networks, runs[0].device, execution.together):
        return logits_together(networks, torch.stack(features))
    return [run.forward(each) for run, each in zip(runs, features, strict=True)]


def _strata(run: Run, batch: Batch) -> dict[str, Tensor | None]:
    n_strata = getattr(getattr(run.loss, "mass", None), "n_strata", 1)
    return {"strata": batch.strata if n_strata > 1 else None}


def _average_gradients(runs: Sequence[Run]) -> None:
    n = n_processes("world")
    if n == 1:
        return
    parameters = [p for run in runs for p in run.network.parameters() if p.requires_grad]
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    gradients = [p.grad for p in parameters if p.grad is not None]
    joint = joint_sum(torch.cat([gradient.flatten() for gradient in gradients]), "world") / n
    for gradient, part in zip(gradients, joint.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


class _Graph(NamedTuple):
    """A captured step, and where it reads its rows."""

    graph: torch.cuda.CUDAGraph
    rows: list[Tensor]


class Captured:
    """Steps as CUDA graphs: one for each set of runs and shapes, captured when it has been warmed.

    Args:
        feed: Holds the features on the GPU.
        execution: Of the runs.
    """

    def __init__(self, feed: Feed, execution: Execution) -> None:
        self._feed, self._execution = feed, execution
        self._graphs: dict[object, _Graph] = {}
        self._warmed: dict[object, int] = {}
        self._stream = torch.cuda.Stream(feed.device)

    def __call__(self, runs: Sequence[Run], rows: Sequence[Tensor]) -> None:
        """Move each run by one step, on the rows given, which lie on the GPU."""
        key = tuple(
            (run.number, run.restarts, run.warming_up, len(r))
            for run, r in zip(runs, rows, strict=True)
        )
        graph = self._graphs.get(key)
        if graph is None and self._warmed.get(key, 0) >= _WARM:
            graph = self._graphs[key] = self._capture(runs, rows)
        if graph is not None:
            for held, given in zip(graph.rows, rows, strict=True):
                held.copy_(given)
            graph.graph.replay()
            return
        self._warmed[key] = self._warmed.get(key, 0) + 1
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            self._step(runs, rows)
        torch.cuda.current_stream().wait_stream(self._stream)

    def _step(self, runs: Sequence[Run], rows: Sequence[Tensor]) -> None:
        train_step(runs, [self._feed.batch(each) for each in rows], self._execution)

    def _capture(self, runs: Sequence[Run], rows: Sequence[Tensor]) -> _Graph:
        held = [each.clone() for each in rows]
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            self._step(runs, held)
        return _Graph(graph, held)
