"""Layers whose first weights come from a generator that is passed in.

torch's own layers draw theirs from the global random state as soon as they are made. These are made
without values and filled afterwards, with the distribution that torch's layers have.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import nn
from torch.nn.utils import skip_init

if TYPE_CHECKING:
    from torch import Generator

__all__ = ["affine", "convolution", "group_normalisation", "normalisation", "source"]

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d)


def source(generator: Generator | None) -> Generator:
    """The generator itself, or a new one with seed 0, so that building twice gives the same."""
    return torch.Generator().manual_seed(0) if generator is None else generator


def affine(n_inputs: int, n_outputs: int, generator: Generator) -> nn.Linear:
    """A linear map with an intercept, on the generator's device."""
    layer: nn.Linear = skip_init(nn.Linear, n_inputs, n_outputs, device=generator.device)
    return _filled(layer, n_inputs, generator)


def convolution(
    n_inputs: int, n_outputs: int, generator: Generator, *, kernel: int = 3, stride: int = 1
) -> nn.Conv2d:
    """A convolution that keeps the size of the raster (at stride 1), on the generator's device.

    Args:
        n_inputs: Channels that come in.
        n_outputs: Channels that go out.
        generator: Source of the first weights.
        kernel: Odd width of the kernel.
        stride: Step of the kernel; the outside counts as zeros.
    """
    layer: nn.Conv2d = skip_init(
        nn.Conv2d,
        n_inputs,
        n_outputs,
        kernel,
        stride=stride,
        padding=kernel // 2,
        device=generator.device,
    )
    return _filled(layer, n_inputs * kernel**2, generator)


def normalisation(n_channels: int, generator: Generator) -> nn.BatchNorm2d:
    """Batch normalisation, which starts with ones and zeros, on the generator's device."""
    return nn.BatchNorm2d(n_channels, device=generator.device)


def group_normalisation(n_groups: int, n_channels: int, generator: Generator) -> nn.GroupNorm:
    """Normalisation of groups of channels within an image, on the generator's device."""
    return nn.GroupNorm(n_groups, n_channels, device=generator.device)


@torch.no_grad()
def _filled(layer: _Layer, fan_in: int, generator: Generator) -> _Layer:
    """Weights and intercepts uniform between -1/sqrt(fan_in) and 1/sqrt(fan_in)."""
    bound = 1 / math.sqrt(fan_in)
    for parameter in layer.parameters():
        parameter.uniform_(-bound, bound, generator=generator)
    return layer
