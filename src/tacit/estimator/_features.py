"""Features of any common container, as the engine takes them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from sklearn.utils.validation import validate_data
from torch import Tensor

from tacit.errors import refuse
from tacit.estimator._plans import execution_of
from tacit.fitting._collection import is_sparse

if TYPE_CHECKING:
    from tacit.estimator._classifier import BeliefClassifier

__all__ = ["read_features"]

_NUMBERS: Final = 1 << 22
"""Numbers that are looked at at a time, once it is known that one of them is bad."""


def read_features(model: BeliefClassifier, X: Any, *, reset: bool) -> Any:
    """Check features and bring them to the precision in use, without a copy where they have it.

    Args:
        model: Remembers the shape of an instance, the names of the features and the precision.
        X: An array, a data frame, a pyarrow table, a tensor or a scipy sparse matrix.
        reset: Whether these are the features that are learned from.

    Returns:
        A tensor, a numpy array, or a sparse matrix in CSR form; `(instances, ...)`.
    """
    allowed = _precisions(model) if reset else [model.dtype_]
    features = (
        _of_tensor(model, X, allowed, reset=reset)
        if isinstance(X, Tensor)
        else _of_container(model, X, allowed, reset=reset)
    )
    _check_finite(features)
    shape = tuple(int(side) for side in features.shape[1:])
    if reset:
        model.feature_shape_, model.sparse_ = shape, is_sparse(features)
        is_double = features.dtype in (np.float64, torch.float64)
        model.dtype_ = np.dtype(np.float64 if is_double else np.float32)
    elif shape != model.feature_shape_:
        raise refuse(
            "X",
            f"hold instances of shape {model.feature_shape_}",
            f"theirs is {shape}",
            "pass features like those that were learned from",
        )
    return features


def _precisions(model: BeliefClassifier) -> list[Any]:
    """What features may be of; others become the first.

    scikit-learn's own estimators compute in the precision of what they are given. So does this one,
    but not on a GPU, where double precision may take many times as long, nor for a predictor that
    was passed as such, which has a precision of its own.
    """
    on_cpu = execution_of(model).torch_device().type == "cpu"
    keeps_double = on_cpu and isinstance(model.predictor, str)
    return [np.float32, np.float64] if keeps_double else [np.float32]


def _of_container(model: BeliefClassifier, X: Any, allowed: list[Any], *, reset: bool) -> Any:
    try:
        with np.errstate(over="ignore"):  # what becomes infinite is refused later, with its row
            features = validate_data(
                model,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype="numeric",
                allow_nd=True,
                ensure_all_finite=False,
            )
            precision = features.dtype if features.dtype in allowed else allowed[0]
            return features.astype(precision, copy=False)
    except ValueError as error:
        if not re.search("could not convert|dtype='numeric'", str(error)):
            raise
        raise refuse(
            "X",
            "be numbers",
            f"it is said that {str(error).splitlines()[0].rstrip('.')}",
            "turn texts into numbers, for example by scikit-learn's OneHotEncoder",
        ) from error


def _of_tensor(model: BeliefClassifier, X: Tensor, allowed: list[Any], *, reset: bool) -> Tensor:
    X = X.detach()
    if X.ndim < 2 or X.layout != torch.strided or X.is_complex() or not X.numel():
        raise refuse(
            "X",
            "be a dense tensor (instances, features) or (instances, channel, height, width)",
            f"its shape is {tuple(X.shape)}, its type {X.dtype} and its layout {X.layout}",
            "add the axis that is missing, or pass a scipy matrix where it is sparse",
        )
    keeps = X.dtype == torch.float64 and np.float64 in allowed
    if reset:
        model.n_features_in_ = X.shape[1]
        if hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
    return X.to(torch.float64 if keeps or allowed == [np.float64] else torch.float32)


def _check_finite(features: Any) -> None:
    """Refuse NaN and infinity with the first row that holds one; a sum where all is well."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float((features.data if is_sparse(features) else features).sum())
    if math.isfinite(total):
        return
    step = max(1, _NUMBERS // math.prod(features.shape[1:]))
    for start in range(0, features.shape[0], step):
        bad = _bad_rows(features[start : start + step])
        if len(bad):
            raise refuse(
                "X",
                "be finite",
                f"row {start + int(bad.min())} holds NaN, infinity, or more than its precision can",
                "fill what is missing, for example with scikit-learn's SimpleImputer",
            )


def _bad_rows(part: Any) -> Any:
    """Numbers of the rows that are not finite throughout."""
    if is_sparse(part):
        entries = part.tocoo()
        return entries.row[~np.isfinite(entries.data)]
    table = part.cpu().numpy() if isinstance(part, Tensor) else part
    return np.flatnonzero(~np.isfinite(table.reshape(len(table), -1)).all(1))
