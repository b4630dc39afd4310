"""The linear predictor: one weight per feature and class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tacit.errors import refuse
from tacit.predictors._checks import check_counts, check_rows, check_type
from tacit.predictors._layers import affine, source

if TYPE_CHECKING:
    from torch import Generator

__all__ = ["Linear"]

_SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


class Linear(nn.Module):
    """Logits as a weighted sum of the features, which may be sparse.

    logits = x W' + b,

    with features x `(N, n_features)`, weights W `(n_classes, n_features)` and intercepts b
    `(n_classes,)`. The features are dense or one of torch's sparse tensors (COO, CSR or CSC); a
    sparse table is multiplied as it is, and the gradient of W is dense. No gradient goes back to a
    sparse table.

    Args:
        n_features: Number of features.
        n_classes: Number of classes.
        generator: Source of the first weights, and with it their device; None is a new generator
            with seed 0, so that building twice gives the same. The global random state is not used.

    Raises:
        InvalidInputError: If a number is below 1; in a call, if the features have another shape or
            type.

    Example:
        >>> import torch
        >>> predictor = Linear(3, 2)
        >>> features = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
        >>> predictor(features).shape
        torch.Size([2, 2])
        >>> torch.allclose(predictor(features), predictor(features.to_sparse()))
        True
    """

    def __init__(
        self, n_features: int, n_classes: int, *, generator: Generator | None = None
    ) -> None:
        super().__init__()
        self.n_features, self.n_classes = check_counts(n_features=n_features, n_classes=n_classes)
        layer = affine(self.n_features, self.n_classes, source(generator))
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, features: Tensor) -> Tensor:
        """Logits `(N, n_classes)` of features `(N, n_features)`, dense or sparse."""
        check_type(features, self.weight)
        check_rows(features, self.n_features)
        if features.layout == torch.strided:
            return functional.linear(features, self.weight, self.bias)
        _check_sparse(features)
        return _sparse_product(features, self.weight) + self.bias

    def extra_repr(self) -> str:
        return f"n_features={self.n_features}, n_classes={self.n_classes}"


def _sparse_product(x: Tensor, W: Tensor) -> Tensor:
    """The product x W' of a sparse x `(N, F)` and a dense W `(C, F)`."""
    product: Tensor = _SparseProduct.apply(x, W)  # type: ignore[no-untyped-call]
    return product


class _SparseProduct(torch.autograd.Function):
    """`torch.sparse.mm`, which under `torch.vmap` multiplies by a whole stack of W at once.

    By itself it would be called for one W after the other, with a warning.
    """

    @staticmethod
    def forward(x: Tensor, W: Tensor) -> Tensor:
        # Autocast would choose a type that the product of sparse tensors may not have.
        with torch.autocast(x.device.type, enabled=False):
            product: Tensor = torch.sparse.mm(x, W.t())
        return product

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:  # noqa: ARG004
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        (x,) = ctx.saved_tensors
        return None, _sparse_product(x.t(), gradient.t()).t()

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, int | None], x: Tensor, W: Tensor
    ) -> tuple[Tensor, int]:
        stack = W.movedim(in_dims[1] or 0, 0)
        return _sparse_product(x, stack.flatten(0, 1)).unflatten(1, (info.batch_size, -1)), 1


def _check_sparse(features: Tensor) -> None:
    if features.layout not in _SPARSE:
        raise refuse(
            "features",
            "be dense, or sparse as COO, CSR or CSC",
            f"its layout is {features.layout}",
            "convert it, for example by features.to_sparse_csr()",
        )
