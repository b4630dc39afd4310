"""The perceptron: linear maps with ReLU between them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from torch import Tensor, nn

from tacit.errors import refuse
from tacit.predictors._checks import check_counts
from tacit.predictors._layers import source
from tacit.predictors._linear import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Generator

__all__ = ["Perceptron"]


class Perceptron(nn.Module):
    """Linear maps with ReLU between them; the features may be sparse.

    h = max(0, W_1 x + b_1), ..., logits = W_k h + b_k,

    with features x `(N, n_features)`, dense or one of torch's sparse tensors, and hidden values h
    as wide as `widths` says.

    Args:
        n_features: Number of features.
        n_classes: Number of classes.
        widths: Number of hidden units in each hidden layer.
        generator: Source of the first weights, and with it their device; None is a new generator
            with seed 0, so that building twice gives the same. The global random state is not used.

    Raises:
        InvalidInputError: If a number is below 1 or there is no hidden layer; in a call, if the
            features have another shape or type.

    Example:
        >>> import torch
        >>> predictor = Perceptron(64, 10, widths=(128,))
        >>> predictor(torch.zeros(5, 64)).shape
        torch.Size([5, 10])
        >>> sum(weights.numel() for weights in predictor.parameters())
        9610
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        widths: Sequence[int] = (128,),
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.n_features, self.n_classes = check_counts(n_features=n_features, n_classes=n_classes)
        self.widths = _widths(widths)
        generator = source(generator)
        self.maps = nn.ModuleList(
            Linear(n_inputs, n_outputs, generator=generator)
            for n_inputs, n_outputs in pairwise((self.n_features, *self.widths, self.n_classes))
        )

    def forward(self, features: Tensor) -> Tensor:
        """Logits `(N, n_classes)` of features `(N, n_features)`, dense or sparse."""
        h: Tensor = self.maps[0](features)
        for layer in self.maps[1:]:
            h = layer(h.relu())
        return h


def _widths(widths: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(widths, list | tuple) or not widths:
        raise refuse(
            "widths",
            "name the width of at least one hidden layer",
            f"it is {widths!r}",
            "pass for example (128,), or build a Linear",
        )
    return tuple(check_counts(**{f"widths[{layer}]": width for layer, width in enumerate(widths)}))
