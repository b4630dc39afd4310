"""One training step of one or several learners, called as it is or captured in a CUDA graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn.modules.dropout import _DropoutNd

from tacit._processes import joint_sum, n_processes
from tacit.fitting._augment import AUGMENTATIONS
from tacit.fitting._random import set_random_state
from tacit.fitting._rows import mixed
from tacit.fitting._together import logits_together, pays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.beliefs import Belief
    from tacit.fitting._feed import Batch, Feed
    from tacit.fitting._learner import Learner
    from tacit.fitting._settings import Execution

__all__ = ["Captured", "suits_capture", "train_step"]

_CAPTURED = ("tacit.predictors", "torch.nn.modules")
"""Where the layers come from that are captured unless told otherwise."""

_WARM = 3
"""Steps before a capture: libraries set themselves up in the first ones."""


def train_step(learners: Sequence[Learner], batches: Sequence[Batch], execution: Execution) -> None:
    """Move each learner by one step.

    Where several processes train together, each brings its own part of the batches, and all make
    the step of the joined ones: objectives add up over processes what couples instances, and
    gradients are averaged here.
    """
    device = learners[0].device
    features = [
        _augmented(learner, batch) for learner, batch in zip(learners, batches, strict=True)
    ]
    with torch.autocast(device.type, torch.bfloat16, enabled=execution.autocast):
        logits = _logits(learners, features, execution)
    losses = [
        learner.loss(each, batch.belief, weight=batch.weight, **_strata(learner, batch))
        for learner, each, batch in zip(learners, logits, batches, strict=True)
    ]
    # A loss may have no gradient where the part of this process is empty.
    torch.stack(losses).sum().backward()
    _average_gradients(learners)
    for learner, loss in zip(learners, losses, strict=True):
        learner.optimizer.step()
        learner.optimizer.zero_grad(set_to_none=True)
        learner.loss_sum += loss.detach()


def _augmented(learner: Learner, batch: Batch) -> Tensor:
    augment = AUGMENTATIONS[learner.settings.augment]
    return batch.features if augment is None else augment(batch.features, learner.generator)


def _logits(
    learners: Sequence[Learner], features: list[Tensor], execution: Execution
) -> list[Tensor]:
    networks = [learner.network for learner in learners]
    same = len({tuple(each.shape) for each in features}) == 1 and not features[0].is_sparse
    if same and not execution.compile and pays(networks, learners[0].device, execution.together):
        return logits_together(networks, torch.stack(features))
    return [
        _logits_alone(learner, each, execution)
        for learner, each in zip(learners, features, strict=True)
    ]


def _logits_alone(learner: Learner, features: Tensor, execution: Execution) -> Tensor:
    if execution.cuda_graph != "yes":  # while a step is captured the state must not be set
        set_random_state(learner.device, mixed(learner.generator.initial_seed()))
    logits: Tensor = learner.forward(features)
    return logits


def _strata(learner: Learner, batch: Batch) -> dict[str, Tensor | None]:
    return {"strata": batch.strata if learner.n_strata > 1 else None}


def _average_gradients(learners: Sequence[Learner]) -> None:
    n = n_processes("world")
    if n == 1:
        return
    parameters = [
        p for learner in learners for p in learner.network.parameters() if p.requires_grad
    ]
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    gradients = [p.grad for p in parameters if p.grad is not None]
    joint = joint_sum(torch.cat([gradient.flatten() for gradient in gradients]), "world") / n
    for gradient, part in zip(gradients, joint.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def suits_capture(learner: Learner) -> bool:
    """Whether a step is known to be one that can be captured: it waits for nothing on the GPU.

    That is so where network and objective are tacit's own. Dropout would draw other numbers.
    """
    layers = [*learner.network.modules()]
    return (
        all(type(layer).__module__.startswith(_CAPTURED) for layer in layers)
        and not any(isinstance(layer, _DropoutNd) for layer in layers)
        and type(learner.objective).__module__.startswith("tacit.objectives")
        and learner.n_strata == 1
    )


class _Graph(NamedTuple):
    """A captured step, and where it reads its rows."""

    graph: torch.cuda.CUDAGraph
    rows: list[Tensor]


class Captured:
    """Steps as CUDA graphs: one for each set of learners and shapes, captured once it is warm.

    Args:
        feed: Holds the features on the GPU.
        execution: Of the learners.
    """

    def __init__(self, feed: Feed, execution: Execution) -> None:
        self._feed, self._execution = feed, execution
        self._graphs: dict[object, _Graph] = {}
        self._warmed: dict[object, int] = {}
        self._stream = torch.cuda.Stream(feed.device)
        self._branches: list[torch.cuda.Stream] = []

    def __call__(
        self, learners: Sequence[Learner], rows: Sequence[Tensor], beliefs: Sequence[Belief]
    ) -> None:
        """Move each learner by one step.

        Args:
            learners: What learns.
            rows: The rows of each, on the GPU.
            beliefs: What each believes of the collection, placed by the feed; always the same.
        """
        key = tuple(
            (learner, learner.warming_up, len(r)) for learner, r in zip(learners, rows, strict=True)
        )
        graph = self._graphs.get(key)
        if graph is None and self._warmed.get(key, 0) >= _WARM:
            graph = self._graphs[key] = self._capture(learners, rows, beliefs)
        if graph is not None:
            for held, given in zip(graph.rows, rows, strict=True):
                held.copy_(given)
            graph.graph.replay()
            return
        self._warmed[key] = self._warmed.get(key, 0) + 1
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            self._step(learners, rows, beliefs)
        torch.cuda.current_stream().wait_stream(self._stream)

    def _step(
        self, learners: Sequence[Learner], rows: Sequence[Tensor], beliefs: Sequence[Belief]
    ) -> None:
        """All learners as one where that pays, or side by side, each on a stream of its own.

        A small network takes but a part of a GPU; side by side several fill it.
        """
        networks = [learner.network for learner in learners]
        if len(learners) == 1 or pays(networks, self._feed.device, self._execution.together):
            batches = [self._feed.batch(*own) for own in zip(rows, beliefs, strict=True)]
            train_step(learners, batches, self._execution)
            return
        present, branches = torch.cuda.current_stream(), self._streams(len(rows))
        for learner, own, belief, branch in zip(learners, rows, beliefs, branches, strict=True):
            branch.wait_stream(present)
            with torch.cuda.stream(branch):
                train_step([learner], [self._feed.batch(own, belief)], self._execution)
        for branch in branches:
            present.wait_stream(branch)

    def _streams(self, n: int) -> list[torch.cuda.Stream]:
        while len(self._branches) < n:
            self._branches.append(torch.cuda.Stream(self._feed.device))
        return self._branches[:n]

    def _capture(
        self, learners: Sequence[Learner], rows: Sequence[Tensor], beliefs: Sequence[Belief]
    ) -> _Graph:
        held = [each.clone() for each in rows]
        graph = torch.cuda.CUDAGraph()
        for learner in learners:
            graph.register_generator_state(learner.generator)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            self._step(learners, held, beliefs)
        return _Graph(graph, held)
