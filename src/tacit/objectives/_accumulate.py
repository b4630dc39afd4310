"""Gradient accumulation that equals the joined batch, though objectives couple instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.beliefs import Belief
    from tacit.objectives._objective import Objective

__all__ = ["backward_in_parts"]


def backward_in_parts(
    objective: Objective,
    predict: Callable[[Tensor], Tensor],
    parts: Sequence[Tensor],
    belief: Tensor | Belief | None = None,
    *,
    mask: Tensor | None = None,
    weight: Tensor | None = None,
    strata: Tensor | None = None,
) -> Tensor:
    """Loss and gradient of a batch too large to hold activations for, in two passes over its parts.

    First the logits of all parts without graph, the joint loss and its gradient with respect to the
    logits; then each part again, with the same random state, to carry that gradient into the
    parameters. The result is that of the joined batch, batch statistics inside the network apart.

    Args:
        objective: Any objective.
        predict: Logits from features, for example a network.
        parts: Features of the parts, each of any number of instances.
        belief: Belief about the joined batch.
        mask: True where an instance of the joined batch counts.
        weight: Weights for the joined batch.
        strata: Strata of the joined batch.

    Returns:
        The loss of the joined batch, detached; gradients have been added to the parameters.

    Example:
        >>> from tacit.objectives import RQ
        >>> network = torch.nn.Linear(2, 3)
        >>> features, belief = torch.rand(6, 2), torch.rand(6, 3)
        >>> loss = backward_in_parts(RQ(), network, features.split(2), belief)
        >>> bool(torch.isclose(loss, RQ()(network(features), belief)))
        True
    """
    if not len(parts):
        raise refuse("parts", "hold at least one part", "it is empty", "skip empty batches")
    if objective.reduction == "none":
        raise refuse(
            "objective",
            "reduce to one number",
            'its reduction is "none"',
            'make it with reduction="mean" or "sum"',
        )
    devices = sorted({part.device.index or 0 for part in parts if part.device.type == "cuda"})
    states = []
    logits = []
    with torch.no_grad():
        for part in parts:
            states.append(_random_state(devices))
            logits.append(predict(part))
    joined = torch.cat(logits).requires_grad_()
    loss: Tensor = objective(joined, belief, mask=mask, weight=weight, strata=strata)
    (gradient,) = torch.autograd.grad(loss, joined)
    after = _random_state(devices)
    pieces = gradient.split([len(part) for part in logits])
    for part, state, piece in zip(parts, states, pieces, strict=True):
        _restore(state, devices)
        predict(part).backward(piece)
    _restore(after, devices)
    return loss.detach()


def _random_state(devices: list[int]) -> tuple[Tensor, list[Tensor]]:
    return torch.get_rng_state(), [torch.cuda.get_rng_state(device) for device in devices]


def _restore(state: tuple[Tensor, list[Tensor]], devices: list[int]) -> None:
    torch.set_rng_state(state[0])
    for device, own in zip(devices, state[1], strict=True):
        torch.cuda.set_rng_state(own, device)
