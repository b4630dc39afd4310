"""Features of any common container, as the engine takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import validate_data
from torch import Tensor

from tacit.errors import refuse

__all__ = ["read_features"]


def read_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check features and bring them to the precision in use, without a copy where they have it.

    Args:
        estimator: Remembers the shape of an instance, the names of the features and the precision.
        X: An array, a data frame, a pyarrow table, a tensor or a scipy sparse matrix.
        reset: Whether these are the features that are learned from.

    Returns:
        A tensor, a numpy array, or a sparse matrix in CSR form; `(instances, ...)`.
    """
    allowed = _precisions(estimator) if reset else [estimator.dtype_]
    if isinstance(X, Tensor):
        features: Any = _of_tensor(estimator, X, allowed, reset=reset)
    else:
        features = validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype=allowed, allow_nd=True
        )
    shape = tuple(int(side) for side in features.shape[1:])
    if reset:
        estimator.feature_shape_ = shape
        is_double = features.dtype in (np.float64, torch.float64)
        estimator.dtype_ = np.dtype(np.float64 if is_double else np.float32)
    elif shape != estimator.feature_shape_:
        raise refuse(
            "X",
            f"hold instances of shape {estimator.feature_shape_}",
            f"theirs is {shape}",
            "pass features like those that were learned from",
        )
    return features


def _precisions(estimator: Any) -> list[Any]:
    """What features may be of; others become the first.

    scikit-learn's own estimators compute in the precision of what they are given. So does this one,
    but not on a GPU, where double precision may take many times as long, nor for a predictor that
    was passed as such, which has a precision of its own.
    """
    on_cpu = estimator._execution().torch_device().type == "cpu"
    keeps_double = on_cpu and isinstance(estimator.predictor, str)
    return [np.float32, np.float64] if keeps_double else [np.float32]


def _of_tensor(estimator: Any, X: Tensor, allowed: list[Any], *, reset: bool) -> Tensor:
    X = X.detach()
    if X.ndim < 2 or X.is_sparse or X.is_complex() or not len(X):
        raise refuse(
            "X",
            "be a dense tensor (instances, features) or (instances, channel, height, width)",
            f"its shape is {tuple(X.shape)} and its type {X.dtype}",
            "add the axis that is missing",
        )
    keeps = X.dtype == torch.float64 and np.float64 in allowed
    X = X.to(torch.float64 if keeps or allowed == [np.float64] else torch.float32)
    if reset:
        estimator.n_features_in_ = X.shape[1]
        for name in ("feature_names_in_",):
            if hasattr(estimator, name):
                delattr(estimator, name)
    flat = X.reshape(len(X), -1)
    if not bool(flat.sum().isfinite()) and not bool((good := flat.isfinite().all(1)).all()):
        raise refuse(
            "X",
            "be finite",
            f"row {int((~good).nonzero()[0])} holds NaN or infinity",
            "fill what is missing, for example with scikit-learn's SimpleImputer",
        )
    return X
