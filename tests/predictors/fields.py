"""Which pixels reach a logit, measured by gradients instead of counted by layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["extent", "reached", "shift_agrees"]


def all_positive(predictor: nn.Module) -> nn.Module:
    """The predictor with weights that let no ReLU close and no two paths cancel."""
    with torch.no_grad():
        for weights in predictor.parameters():
            weights.abs_()
    return predictor.double().eval()


def reached(predictor: nn.Module, features: Tensor, *place: int) -> Tensor:
    """Which pixels `(H, W)` change the first instance's logits, at a place if they have any."""
    features = features.double().requires_grad_()
    logits = all_positive(predictor)(features)
    logits[(0, slice(None), *place)].sum().backward()
    assert features.grad is not None
    return features.grad[0].ne(0).any(0)


def extent(pixels: Tensor) -> tuple[tuple[int, int], tuple[int, int]]:
    """First and last row, first and last column of the pixels that are set, a full rectangle."""
    rows, columns = (pixels.any(axis).nonzero().flatten().tolist() for axis in (1, 0))
    assert pixels.sum() == len(rows) * len(columns)
    return (rows[0], rows[-1]), (columns[0], columns[-1])


def shift_agrees(predictor: nn.Module, features: Tensor, margin: int, shift: int = 3) -> bool:
    """Whether away from the border the logits of a part are that part of the logits."""
    whole = predictor(features)[..., shift + margin : -margin, margin:-margin]
    part = predictor(features[..., shift:, :])[..., margin:-margin, margin:-margin]
    assert whole.shape == part.shape
    assert whole.numel() > 0
    return torch.allclose(whole, part, atol=1e-6)
