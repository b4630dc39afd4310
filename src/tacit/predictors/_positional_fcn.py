"""The paper's network for video: a label for each pixel, from what is close to it and from where.

The paper leaves open how many frequencies there are, how large they start and how wide the layer is
that joins the branches; the defaults for these are ours.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tacit.errors import refuse
from tacit.predictors._checks import check_counts, check_pixels, check_raster, check_type
from tacit.predictors._layers import convolution, normalisation, source

if TYPE_CHECKING:
    from torch import Generator

__all__ = ["PositionalFCN", "with_position"]

_IMAGE_LAYERS = 4
_POSITION_LAYERS, _POSITION_WIDTH = 3, 16
_FIX = "put the channels before the rows and columns, the position's two last (see with_position)"


class PositionalFCN(nn.Module):
    """Convolutions over the image beside a perceptron over the position, for labels per pixel.

    The last two channels of the features are each pixel's position v = (row, column), which
    `with_position` appends. They are channels so that a patch that is cut out of a picture keeps
    the positions that its pixels have in the picture.

    - Image: four convolutions of 3 x 3 with `width` channels.
    - Position: [sin(W v), cos(W v)] with learned W `(n_frequencies, 2)`, then three linear maps of
      each pixel with 16 channels.
    - Both, concatenated: one convolution of 3 x 3 with `width` channels, then a linear map of each
      pixel to its logits.

    ReLU and batch normalisation, in this order, follow each layer but the last. In training, batch
    normalisation makes a pixel's logits depend on the rest of the batch.

    Args:
        n_channels: Channels of the image, the two of the position not counted.
        n_classes: Number of classes.
        width: Channels of each convolution.
        n_frequencies: Rows of W; the position has twice as many features.
        frequency: Standard deviation of W at the start, in radians per unit of position. The
            default makes one wave over half the longer side of the picture typical.
        generator: Source of the first weights, and with it their device; None is a new generator
            with seed 0, so that building twice gives the same. The global random state is not used.

    Raises:
        InvalidInputError: If a setting is out of its range; in a call, if the features have another
            shape or type, or are a single pixel in training.

    Example:
        >>> import torch
        >>> predictor = PositionalFCN(3, 8, width=8)
        >>> predictor(with_position(torch.zeros(2, 3, 20, 30))).shape
        torch.Size([2, 8, 20, 30])
    """

    def __init__(
        self,
        n_channels: int,
        n_classes: int,
        *,
        width: int = 64,
        n_frequencies: int = 16,
        frequency: float = 2 * math.pi,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.n_channels, self.n_classes, self.width, self.n_frequencies = check_counts(
            n_channels=n_channels, n_classes=n_classes, width=width, n_frequencies=n_frequencies
        )
        _check_frequency(frequency)
        self.frequency = frequency
        generator = source(generator)
        self.image = _stack([self.n_channels, *[self.width] * _IMAGE_LAYERS], generator)
        start = torch.empty(self.n_frequencies, 2, device=generator.device)
        self.frequencies = nn.Parameter(start.normal_(0, frequency, generator=generator))
        widths = [2 * self.n_frequencies, *[_POSITION_WIDTH] * _POSITION_LAYERS]
        self.position = _stack(widths, generator, kernel=1)
        self.join = _stack([self.width + _POSITION_WIDTH, self.width], generator)
        self.readout = convolution(self.width, self.n_classes, generator, kernel=1)

    @property
    def receptive_field(self) -> int:
        """Side of the square of pixels that the logits of its central pixel depend on."""
        return 2 * (_IMAGE_LAYERS + 1) + 1

    def forward(self, features: Tensor) -> Tensor:
        """Logits `(N, n_classes, H, W)` of rasters `(N, n_channels + 2, H, W)`."""
        check_type(features, self.readout.weight)
        check_raster(features, self.n_channels + 2, fix=_FIX)
        check_pixels(features, training=self.training)
        image, position = features.split([self.n_channels, 2], 1)
        waves = self._waves(*position.split(1, 1))
        both = torch.cat([self.image(image), self.position(waves)], 1)
        logits: Tensor = self.readout(self.join(both))
        return logits

    def _waves(self, rows: Tensor, columns: Tensor) -> Tensor:
        """[sin(W v), cos(W v)] `(N, 2 * n_frequencies, H, W)` of v's two parts `(N, 1, H, W)`."""
        down, across = self.frequencies[:, :, None, None].unbind(1)
        # No matrix product: autocast would round a phase of many radians to 8 bits.
        phase = down * rows + across * columns
        return torch.cat([phase.sin(), phase.cos()], 1)


def with_position(images: Tensor) -> Tensor:
    """Whole pictures with two more channels: the row and the column of each pixel.

    Positions run from -1 to 1 between the centres of the outermost pixels of the longer side; the
    shorter side has the same scale. Append them before a picture is cut into patches.

    Args:
        images: Pictures `(N, n_channels, H, W)`, each of them whole.

    Returns:
        `(N, n_channels + 2, H, W)`, for `PositionalFCN`.

    Raises:
        InvalidInputError: If the pictures have another shape or are not floating-point numbers.

    Example:
        >>> import torch
        >>> with_position(torch.zeros(1, 1, 2, 3))[0, 1:]
        tensor([[[-0.5000, -0.5000, -0.5000],
                 [ 0.5000,  0.5000,  0.5000]],
        <BLANKLINE>
                [[-1.0000,  0.0000,  1.0000],
                 [-1.0000,  0.0000,  1.0000]]])
    """
    is_tensor = isinstance(images, Tensor)
    if not is_tensor or images.ndim != 4 or not images.is_floating_point():
        raise refuse(
            "images",
            "be a tensor of floating-point numbers shaped (N, C, H, W)",
            f"it holds {images.dtype} of shape {tuple(images.shape)}"
            if is_tensor
            else f"it is a {type(images).__name__}",
            "convert it, and add axes of length one where there is a single picture or channel",
        )
    height, width = images.shape[2:]
    longer = max(height, width, 2) - 1
    # Half precision cannot count the pixels of a large picture.
    precise = torch.promote_types(images.dtype, torch.float32)
    rows, columns = (
        (2 * torch.arange(side, dtype=precise, device=images.device) - (side - 1)) / longer
        for side in (height, width)
    )
    position = torch.stack(torch.meshgrid(rows, columns, indexing="ij")).to(images.dtype)
    return torch.cat([images, position.expand(len(images), 2, height, width)], 1)


def _stack(widths: list[int], generator: Generator, *, kernel: int = 3) -> nn.Sequential:
    """Convolutions, each followed by ReLU and batch normalisation."""
    return nn.Sequential(
        *(
            layer
            for n_inputs, n_outputs in pairwise(widths)
            for layer in (
                convolution(n_inputs, n_outputs, generator, kernel=kernel),
                nn.ReLU(),
                normalisation(n_outputs, generator),
            )
        )
    )


def _check_frequency(frequency: float) -> None:
    if not 0 < frequency < math.inf:
        raise refuse(
            "frequency",
            "be above 0 and finite",
            f"it is {frequency!r}",
            "pass radians per unit of position, for example 6.3",
        )
