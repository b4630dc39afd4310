"""A network for small images that learns quickly from few of them."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Final

from torch import Tensor, nn
from torch.nn.functional import max_pool2d

from tacit.predictors._checks import check_counts, check_raster, check_size, check_type
from tacit.predictors._layers import affine, convolution, group_normalisation, source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Generator

__all__ = ["PooledCNN"]

_SMALLEST: Final = 3
"""Images are halved until no side is longer than this."""
_WIDEST: Final = 4
"""Channels double with each halving, up to so many times the first width."""
_GROUPS: Final = 8


class PooledCNN(nn.Module):
    """Convolutions that halve an image until little of it is left, and a linear map.

    Each stage is a 3 x 3 convolution, a normalisation, ReLU, and the maximum of each 2 x 2 pixels.
    28 x 28 pixels take four stages, of 32, 64, 128 and 128 channels.

    Channels are normalised in groups, within each image. Normalising over the batch would make what
    is said of an image depend on the others beside it, and on how a batch is shared by processes.

    Args:
        n_channels: Channels of an image.
        size: Height and width of an image; any, but fixed.
        n_classes: Number of classes.
        width: Channels of the first stage.
        generator: Source of the first weights, and with it their device; None is a new generator
            with seed 0, so that building twice gives the same. The global random state is not used.

    Raises:
        InvalidInputError: If a number is below 1 or `size` is not two numbers; in a call, if the
            features have another shape or type.

    Example:
        >>> import torch
        >>> predictor = PooledCNN(1, (8, 8), 10)
        >>> predictor(torch.zeros(5, 1, 8, 8)).shape
        torch.Size([5, 10])
        >>> sum(weights.numel() for weights in predictor.parameters())
        21578
    """

    def __init__(
        self,
        n_channels: int,
        size: tuple[int, int],
        n_classes: int,
        *,
        width: int = 32,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.size = check_size(size)
        self.n_channels, self.n_classes, self.width = check_counts(
            n_channels=n_channels, n_classes=n_classes, width=width
        )
        generator = source(generator)
        self.convolutions, self.normalisations = nn.ModuleList(), nn.ModuleList()
        n_inputs = self.n_channels
        for n_outputs in _stages(self.size, self.width):
            self.convolutions.append(convolution(n_inputs, n_outputs, generator))
            groups = gcd(_GROUPS, n_outputs)
            self.normalisations.append(group_normalisation(groups, n_outputs, generator))
            n_inputs = n_outputs
        # Halving a side and rounding up, again and again, is dividing once and rounding up.
        height, width_left = (-(-side >> len(self.convolutions)) for side in self.size)
        self.readout = affine(n_inputs * height * width_left, self.n_classes, generator)

    def forward(self, features: Tensor) -> Tensor:
        """Logits `(N, n_classes)` of images `(N, n_channels, *size)`."""
        check_type(features, self.readout.weight)
        check_raster(features, self.n_channels, self.size)
        h = features
        for convolved, normalised in zip(self.convolutions, self.normalisations, strict=True):
            h = max_pool2d(normalised(convolved(h)).relu(), 2, ceil_mode=True)
        logits: Tensor = self.readout(h.flatten(1))
        return logits


def _stages(size: tuple[int, int], width: int) -> Iterator[int]:
    """Channels of each stage; there is always one."""
    side, n_outputs = max(size), width
    while True:
        yield n_outputs
        side, n_outputs = -(-side // 2), min(2 * n_outputs, _WIDEST * width)
        if side <= _SMALLEST:
            return
