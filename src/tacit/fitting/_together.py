"""Several networks evaluated as one: small ones leave a GPU idle when they take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.fitting._settings import Together

__all__ = ["alike", "logits_together", "pays"]


def alike(networks: Sequence[nn.Module]) -> bool:
    """Whether networks have the same layers and shapes, so that one can stand for all."""
    return len({_signature(network) for network in networks}) == 1


def pays(networks: Sequence[nn.Module], device: torch.device, together: Together) -> bool:
    """Whether to evaluate networks as one.

    On a CPU that pays for linear maps, which become one batched product, and not for convolutions.
    """
    if len(networks) < 2 or together == "no" or not alike(networks):
        return False
    if together == "yes" or device.type != "cpu":
        return True
    layers = (layer for layer in networks[0].modules() if not [*layer.children()])
    return not any(isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Conv3d) for layer in layers)


def logits_together(networks: Sequence[nn.Module], features: Tensor) -> list[Tensor]:
    """Logits of each network on its own features.

    Parameters are stacked within the graph, so that each network keeps its own, with its own
    gradient and optimizer. Buffers, such as running means, are written back.

    Args:
        networks: Alike, and in the same mode.
        features: `(network, N, ...)`.
    """
    parameters = _stacked([dict(network.named_parameters()) for network in networks])
    own_buffers = [dict(network.named_buffers()) for network in networks]
    buffers = {name: tensor.clone() for name, tensor in _stacked(own_buffers).items()}

    def call(state: dict[str, Tensor], buffers: dict[str, Tensor], features: Tensor) -> Tensor:
        logits: Tensor = functional_call(networks[0], (state, buffers), (features,))
        return logits

    logits = vmap(call, randomness="different")(parameters, buffers, features)
    if networks[0].training:
        with torch.no_grad():
            for name, values in buffers.items():
                for own, value in zip(own_buffers, values.detach().unbind(), strict=True):
                    own[name].copy_(value)
    return list(logits.unbind())


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: torch.stack([state[name] for state in states]) for name in states[0]}


def _signature(network: nn.Module) -> tuple[object, ...]:
    layers = tuple(
        (name, type(layer), layer.extra_repr()) for name, layer in network.named_modules()
    )
    state = tuple((name, tuple(t.shape), t.dtype) for name, t in network.state_dict().items())
    return (network.training, layers, state)
