"""The paper's network for land cover: a label for each pixel, from what is close to it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from torch import Tensor, nn
from torch.nn import functional

from tacit.errors import refuse
from tacit.predictors._checks import check_counts, check_raster, check_type
from tacit.predictors._layers import convolution, source

if TYPE_CHECKING:
    from torch import Generator

__all__ = ["FCN"]


class FCN(nn.Module):
    """Convolutions that keep the size, for rasters with a label per pixel.

    `n_layers` convolutions of 3 x 3, each followed by max(x, `negative_slope` * x), and a linear
    map of each pixel to its logits. Outside the raster all counts as zero. The defaults are the
    paper's network for land cover; the one for images of tissue has 64 channels and plain ReLU:
    `width=64, negative_slope=0.0`.

    Args:
        n_channels: Channels of the raster.
        n_classes: Number of classes.
        width: Channels of each convolution.
        n_layers: Number of convolutions; each adds two pixels to the receptive field.
        negative_slope: Slope of the leaky ReLU below zero, at least 0 and below 1; 0 is ReLU.
        generator: Source of the first weights, and with it their device; None is a new generator
            with seed 0, so that building twice gives the same. The global random state is not used.

    Raises:
        InvalidInputError: If a setting is out of its range; in a call, if the features have another
            shape or type.

    Example:
        >>> import torch
        >>> predictor = FCN(4, 5, width=8)
        >>> predictor(torch.zeros(2, 4, 20, 30)).shape
        torch.Size([2, 5, 20, 30])
        >>> predictor.receptive_field
        11
    """

    def __init__(
        self,
        n_channels: int,
        n_classes: int,
        *,
        width: int = 128,
        n_layers: int = 5,
        negative_slope: float = 0.01,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        if not 0 <= negative_slope < 1:
            raise refuse(
                "negative_slope",
                "be at least 0 and below 1",
                f"it is {negative_slope!r}",
                "pass 0.0 for plain ReLU",
            )
        self.n_channels, self.n_classes, self.width, self.n_layers = check_counts(
            n_channels=n_channels, n_classes=n_classes, width=width, n_layers=n_layers
        )
        self.negative_slope = negative_slope
        generator = source(generator)
        self.convolutions = nn.ModuleList(
            convolution(n_inputs, n_outputs, generator)
            for n_inputs, n_outputs in pairwise((self.n_channels, *[self.width] * self.n_layers))
        )
        self.readout = convolution(self.width, self.n_classes, generator, kernel=1)

    @property
    def receptive_field(self) -> int:
        """Side of the square of pixels that the logits of its central pixel depend on."""
        return 2 * self.n_layers + 1

    def forward(self, features: Tensor) -> Tensor:
        """Logits `(N, n_classes, H, W)` of rasters `(N, n_channels, H, W)`."""
        check_type(features, self.readout.weight)
        check_raster(features, self.n_channels)
        h = features
        for layer in self.convolutions:
            h = functional.leaky_relu(layer(h), self.negative_slope)
        logits: Tensor = self.readout(h)
        return logits
