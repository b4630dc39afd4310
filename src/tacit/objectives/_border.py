"""The border of the objectives: arguments are read and checked here, and trusted inside."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tacit.beliefs import Belief, Independent
from tacit.errors import refuse
from tacit.objectives._formula import CLASS

__all__ = ["Batch", "Dense", "compute_dtype", "read"]


class Dense(NamedTuple):
    """An independent belief as one tensor beside the prediction.

    Attributes:
        table: p or log p, shaped like the scores; rows are known up to a factor.
        in_logs: Whether it holds logs.
    """

    table: Tensor
    in_logs: bool


class Batch(NamedTuple):
    """The arguments of an objective, with all instance axes but the first in one.

    Attributes:
        scores: Logits or log q, `(N, class)` or `(N, class, M)`.
        are_logits: Whether the scores are logits.
        belief: A dense belief, one with its own inference, or none.
        weight: Weight of each instance with masked ones at 0, `(N,)` or `(N, M)`, if any.
        strata: Stratum of each instance, `(N,)` or `(N, M)`, if any.
        shape: Shape of the per-instance values, `(N,)` or `(N, *)`.
    """

    scores: Tensor
    are_logits: bool
    belief: Dense | Belief | None
    weight: Tensor | None
    strata: Tensor | None
    shape: torch.Size


def compute_dtype(scores: Tensor) -> torch.dtype:
    """The type to compute in: half precision is widened."""
    return torch.promote_types(scores.dtype, torch.float32)


def read(
    logits: Tensor | None,
    log_prediction: Tensor | None,
    belief: Tensor | Belief | None,
    *,
    mask: Tensor | None,
    weight: Tensor | None,
    strata: Tensor | None,
) -> Batch:
    """Check the shapes and types of an objective's arguments and bring them into one form."""
    scores, name = _scores(logits, log_prediction)
    shape = torch.Size((scores.shape[0], *scores.shape[2:]))
    flat = scores if scores.ndim == 2 else scores.flatten(2)
    return Batch(
        scores=flat,
        are_logits=logits is not None,
        belief=_belief(belief, scores, flat, name),
        weight=_flat(_weight(mask, weight, shape, scores), flat),
        strata=_flat(_strata(strata, shape, scores), flat),
        shape=shape,
    )


def _scores(logits: Tensor | None, log_prediction: Tensor | None) -> tuple[Tensor, str]:
    if (logits is None) == (log_prediction is None):
        raise refuse(
            "logits",
            "be given, or log_prediction instead",
            "both came" if logits is not None else "neither came",
            "pass the network's raw output as logits, or normalised log-probabilities by name",
        )
    scores, name = (logits, "logits") if logits is not None else (log_prediction, "log_prediction")
    assert scores is not None
    if not isinstance(scores, Tensor) or scores.ndim < 2 or not scores.is_floating_point():
        got = f"{scores.dtype} of {tuple(scores.shape)}" if isinstance(scores, Tensor) else scores
        raise refuse(
            name,
            "be a floating-point tensor (N, class) or (N, class, *)",
            f"it is {got}" if isinstance(scores, Tensor) else f"it is a {type(scores).__name__}",
            "put the classes on axis 1",
        )
    if scores.shape[CLASS] < 2:
        raise refuse(
            name,
            "have at least 2 classes on axis 1",
            f"its shape is {tuple(scores.shape)}",
            "for a yes-or-no question pass two columns",
        )
    if scores.numel() == 0:
        raise refuse(
            name,
            "hold at least one instance",
            f"its shape is {tuple(scores.shape)}",
            "skip empty batches",
        )
    return scores, name


def _belief(
    belief: Tensor | Belief | None, scores: Tensor, flat: Tensor, name: str
) -> Dense | Belief | None:
    if belief is None:
        return None
    if isinstance(belief, Tensor):
        return _dense_tensor(belief, scores, flat, name)
    if not isinstance(belief, Belief):
        raise refuse(
            "belief",
            "be a tensor of probabilities or one of tacit.beliefs",
            f"it is a {type(belief).__name__}",
            "convert it with torch.as_tensor, class axis 1",
        )
    n_instances = scores.numel() // scores.shape[CLASS]
    if (len(belief), belief.n_classes) != (n_instances, scores.shape[CLASS]):
        raise refuse(
            "belief",
            f"cover the {n_instances} instances and {scores.shape[CLASS]} classes of `{name}`",
            f"it covers {len(belief)} instances and {belief.n_classes} classes",
            "take the batch's rows with belief[rows]",
        )
    _same_device(belief.device, scores.device, name)
    if not isinstance(belief, Independent):
        return belief
    table, in_logs = belief.dense()
    if flat.ndim == 3:
        table = table.unflatten(0, (flat.shape[0], flat.shape[2])).movedim(-1, CLASS)
    return Dense(table, in_logs)


def _dense_tensor(belief: Tensor, scores: Tensor, flat: Tensor, name: str) -> Dense:
    if belief.shape != scores.shape:
        raise refuse(
            "belief",
            f"have the shape of `{name}`, {tuple(scores.shape)}",
            f"its shape is {tuple(belief.shape)}",
            "give one probability per instance and class; turn hard labels into one-hot rows "
            "with torch.nn.functional.one_hot(labels, n_classes).float()",
        )
    if not belief.is_floating_point() and belief.dtype != torch.bool:
        raise refuse(
            "belief",
            "hold probabilities (floating point) or a mask of candidates (bool)",
            f"it is {belief.dtype}",
            "convert it with belief.float()",
        )
    _same_device(belief.device, scores.device, name)
    return Dense(belief.reshape(flat.shape), in_logs=False)


def _weight(
    mask: Tensor | None, weight: Tensor | None, shape: torch.Size, scores: Tensor
) -> Tensor | None:
    mask = _per_instance(mask, "mask", shape, scores)
    weight = _per_instance(weight, "weight", shape, scores)
    if mask is not None and mask.dtype != torch.bool:
        raise refuse(
            "mask",
            "be a boolean tensor, true where an instance counts",
            f"it is {mask.dtype}",
            "compare it first, as in mask > 0; fractional weights go into weight",
        )
    dtype = compute_dtype(scores)
    if weight is None or mask is None:
        given = mask if weight is None else weight
        return None if given is None else given.detach().to(dtype)
    return torch.where(mask, weight.detach().to(dtype), 0.0)


def _strata(strata: Tensor | None, shape: torch.Size, scores: Tensor) -> Tensor | None:
    strata = _per_instance(strata, "strata", shape, scores)
    if strata is None:
        return None
    if strata.is_floating_point() or strata.is_complex() or strata.dtype == torch.bool:
        raise refuse(
            "strata",
            "be whole numbers, counted from 0",
            f"it is {strata.dtype}",
            "convert it with strata.long()",
        )
    # Torch would take numbers of one byte for a mask.
    return strata.long()


def _per_instance(
    values: Tensor | None, argument: str, shape: torch.Size, scores: Tensor
) -> Tensor | None:
    if values is not None and not isinstance(values, Tensor):
        raise refuse(
            argument,
            "be a tensor with one entry per instance",
            f"it is a {type(values).__name__}",
            "convert it with torch.as_tensor",
        )
    if values is not None and values.shape != shape:
        raise refuse(
            argument,
            f"have one entry per instance, shape {tuple(shape)}",
            f"its shape is {tuple(values.shape)}",
            "drop the class axis",
        )
    if values is not None and values.device != scores.device:
        raise refuse(
            argument,
            f"be on {scores.device}",
            f"it is on {values.device}",
            f"move it with {argument}.to(...)",
        )
    return values


def _same_device(own: torch.device, other: torch.device, name: str) -> None:
    if own != other:
        raise refuse(
            "belief",
            f"be on {other} with `{name}`",
            f"it is on {own}",
            "move it with belief.to(...)",
        )


def _flat(values: Tensor | None, flat: Tensor) -> Tensor | None:
    """Per-instance values with the axes of the scores but the class axis."""
    if values is None:
        return None
    return values.reshape(flat.shape[0]) if flat.ndim == 2 else values.reshape(flat.shape[0], -1)
