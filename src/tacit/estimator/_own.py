"""Networks of the user's own: looked at before they learn."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tacit.errors import InvalidInputError, refuse
from tacit.fitting import perceive

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["built"]


def built(
    predictor: nn.Module | Callable[[torch.Generator], nn.Module],
    features: Any,
    n_classes: int,
    generator: torch.Generator,
) -> nn.Module:
    """A copy of a network, or what a function makes, if it can learn and suits the data.

    Args:
        predictor: The network or the function.
        features: What it is to predict from; it is tried on the first instance.
        n_classes: Logits that it should give for each.
        generator: For the function.
    """
    network = copy.deepcopy(predictor) if isinstance(predictor, nn.Module) else predictor(generator)
    if not isinstance(network, nn.Module):
        raise refuse(
            "predictor",
            "build a torch.nn.Module",
            f"it returns a {type(network).__name__}",
            "return the network",
        )
    shape = _shape_of_logits(network, features)
    if shape != (1, n_classes):
        raise refuse(
            "predictor",
            f"give logits (N, {n_classes}), one for each class",
            f"for one instance their shape is {shape}",
            f"let its last layer have {n_classes} outputs",
        )
    if not any(p.requires_grad for p in network.parameters()):
        raise refuse(
            "predictor",
            "have parameters to learn",
            "it has none that require a gradient",
            "switch them on with requires_grad_()",
        )
    return network


def _shape_of_logits(network: nn.Module, features: Any) -> tuple[int, ...]:
    rows = torch.zeros(1, dtype=torch.long)
    try:
        with torch.random.fork_rng(devices=[]):
            return tuple(perceive(network, features, rows=rows).shape)
    except InvalidInputError:
        raise
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise refuse(
            "predictor",
            f"take features (N, {', '.join(map(str, features.shape[1:]))})",
            f"it says: {said[0].rstrip('.')}",
            "fit it to the shape of an instance",
        ) from error
