"""One small predictor of each kind, and features that suit it; no two axes are of equal length."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from tacit.predictors import (
    FCN,
    Linear,
    Perceptron,
    PooledCNN,
    PositionalFCN,
    SmallCNN,
    Standardised,
    with_position,
)

if TYPE_CHECKING:
    from collections.abc import Callable

N_CLASSES = 3


class Case(NamedTuple):
    """How to build a predictor, the shape of its features, and that of its logits."""

    build: Callable[..., nn.Module]
    shape: tuple[int, ...]
    logits: tuple[int, ...]

    def features(self, generator: torch.Generator) -> Tensor:
        drawn = torch.randn(self.shape, generator=generator)
        return with_position(drawn[:, :-2]) if self.build is _positional else drawn


def _positional(**settings: object) -> PositionalFCN:
    return PositionalFCN(2, N_CLASSES, width=4, n_frequencies=5, **settings)


def _standardised(**settings: object) -> Standardised:
    inner = Perceptron(6, N_CLASSES, **settings)
    return Standardised(inner, torch.arange(6.0), torch.arange(6.0))


CASES = {
    "Linear": Case(lambda **s: Linear(6, N_CLASSES, **s), (5, 6), (5, 3)),
    "Perceptron": Case(lambda **s: Perceptron(6, N_CLASSES, widths=(7, 4), **s), (5, 6), (5, 3)),
    "SmallCNN": Case(
        lambda **s: SmallCNN(2, (11, 9), N_CLASSES, width=4, **s), (5, 2, 11, 9), (5, 3)
    ),
    "PooledCNN": Case(
        lambda **s: PooledCNN(2, (11, 9), N_CLASSES, width=4, **s), (5, 2, 11, 9), (5, 3)
    ),
    "FCN": Case(lambda **s: FCN(2, N_CLASSES, width=4, **s), (5, 2, 11, 9), (5, 3, 11, 9)),
    "PositionalFCN": Case(_positional, (5, 4, 11, 9), (5, 3, 11, 9)),
    "Standardised": Case(_standardised, (5, 6), (5, 3)),
}


def n_weights(predictor: nn.Module) -> int:
    return sum(weights.numel() for weights in predictor.parameters())
