"""The paper's small network for small images."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

from torch import Tensor, nn

from tacit.predictors._checks import check_counts, check_raster, check_size, check_type
from tacit.predictors._layers import affine, convolution, source

if TYPE_CHECKING:
    from torch import Generator

__all__ = ["SmallCNN"]

_STRIDES = (1, 2, 2, 2)
"""The paper writes "stride 2". At stride 2 throughout it would have 29 thousand weights on MNIST;
with a first layer at stride 1, as its code has it, it has the 33 thousand that the paper counts."""


class SmallCNN(nn.Module):
    """Four convolutions with ReLU and a linear map, for small images with one label each.

    Kernels are 3 x 3. The first convolution keeps the size, the other three halve it, rounding up:
    28 x 28 and 32 x 32 both end at 4 x 4. With 10 classes that makes 33,194 weights for one channel
    of 28 x 28 and 33,770 for three of 32 x 32, which are the paper's "33k" and "34k".

    Args:
        n_channels: Channels of an image.
        size: Height and width of an image. They may be of any size, but they are fixed, since the
            linear map sees all that is left of the image.
        n_classes: Number of classes.
        width: Channels of each convolution.
        generator: Source of the first weights, and with it their device; None is a new generator
            with seed 0, so that building twice gives the same. The global random state is not used.

    Raises:
        InvalidInputError: If a number is below 1 or `size` is not two numbers; in a call, if the
            features have another shape or type.

    Example:
        >>> import torch
        >>> predictor = SmallCNN(1, (28, 28), 10)
        >>> predictor(torch.zeros(5, 1, 28, 28)).shape
        torch.Size([5, 10])
        >>> sum(weights.numel() for weights in predictor.parameters())
        33194
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
        channels = pairwise((self.n_channels, *[self.width] * len(_STRIDES)))
        self.convolutions = nn.ModuleList(
            convolution(n_inputs, n_outputs, generator, stride=stride)
            for (n_inputs, n_outputs), stride in zip(channels, _STRIDES, strict=True)
        )
        # Sides are halved and rounded up once for each stride; doing it at once gives the same.
        height, width_left = (-(-side // prod(_STRIDES)) for side in self.size)
        self.readout = affine(self.width * height * width_left, self.n_classes, generator)

    def forward(self, features: Tensor) -> Tensor:
        """Logits `(N, n_classes)` of images `(N, n_channels, *size)`."""
        check_type(features, self.readout.weight)
        check_raster(features, self.n_channels, self.size)
        h = features
        for layer in self.convolutions:
            h = layer(h).relu()
        logits: Tensor = self.readout(h.flatten(1))
        return logits
