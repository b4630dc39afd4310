"""Features brought to mean 0 and deviation 1 as part of the predictor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from tacit.errors import refuse
from tacit.predictors._checks import check_type

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Standardised"]


class Standardised(nn.Module):
    """A predictor that first brings its features to mean 0 and deviation 1.

    logits = predictor((x - mean) / deviation),

    so that what is learned does not depend on the units of the features, and new data are treated
    alike. Mean and deviation are constants, stored with the weights.

    Args:
        predictor: What predicts from standardised features.
        mean: Mean of each feature, `(n_features,)`, or of each channel, `(C, 1, 1)`.
        deviation: Standard deviation of each, shaped alike; of a constant feature 0, which is taken
            for 1.

    Example:
        >>> class Sum(nn.Module):
        ...     def forward(self, x):
        ...         return x.sum(1)
        >>> predictor = Standardised(Sum(), torch.tensor([1.0, 7.0]), torch.tensor([2.0, 0.0]))
        >>> predictor(torch.tensor([[3.0, 7.0], [1.0, 8.0]]))
        tensor([1., 1.])
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, predictor: nn.Module, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.predictor = predictor
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", torch.where(deviation > 0, deviation, 1.0))

    def forward(self, features: Tensor) -> Tensor:
        """Logits of features in their own units."""
        check_type(features, self.mean)
        if features.ndim != self.mean.ndim + 1 or features.shape[1] != len(self.mean):
            raise refuse(
                "features",
                f"be shaped (N, {len(self.mean)}{', H, W' if self.mean.ndim > 1 else ''})",
                f"it has shape {tuple(features.shape)}",
                "pass the features that the predictor was built for",
            )
        logits: Tensor = self.predictor((features - self.mean) / self.deviation)
        return logits
