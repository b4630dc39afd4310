"""What an estimator is told of labels: beliefs, or hard labels of which some may be missing."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from tacit.beliefs import Belief, Candidates
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Labels", "Target", "read_labels", "read_target"]


_ROWS = 1 << 16
"""Labels that are turned into sets at a time."""


class Labels(NamedTuple):
    """Hard labels.

    Attributes:
        values: The labels, of any kind, `(instances,)`.
        known: Where there is one.
    """

    values: NDArray[Any]
    known: NDArray[np.bool_]


class Target(NamedTuple):
    """What a classifier learns from.

    Attributes:
        belief: About each instance; a known label is certain, a missing one is open.
        classes: The names of the classes, in the belief's order.
    """

    belief: Belief
    classes: NDArray[Any]


def read_target(y: Any, classes: Sequence[Any] | NDArray[Any] | None) -> Target:
    """Turn beliefs or hard labels into beliefs with names for the classes.

    Args:
        y: One of tacit.beliefs, or one label per instance. NaN, None, NaT and pandas' NA are
            missing; -1 is a label like any other.
        classes: The names of the classes. Unless given, a belief's classes are numbered and labels
            name their own, in sorted order.
    """
    if isinstance(y, Belief):
        return Target(y, _names_of_belief(y, classes))
    labels = read_labels(y)
    found = np.unique(labels.values[labels.known])
    names = found if classes is None else np.asarray(classes)
    if len(names) < 2:
        raise refuse(
            "y",
            "name at least 2 classes",
            f"it names one class, {found[0]!r}" if len(found) else "every label is missing",
            "add labels of another class, or pass all names as `classes`",
        )
    return Target(_belief_of(labels, names), names)


def read_labels(y: Any) -> Labels:
    """Hard labels of any common container, and which of them are missing."""
    values = _as_array(y)
    if values.ndim == 2 and values.shape[1] > 1:
        raise refuse(
            "y",
            "be one label per instance, or one of tacit.beliefs",
            f"it has shape {values.shape}",
            "wrap a matrix of probabilities, as in tacit.beliefs.Categorical(y)",
        )
    # The words of scikit-learn, which its tools look for.
    values = column_or_1d(values, warn=True)
    if values.dtype == object:
        missing = np.fromiter(map(_is_missing, values), bool, len(values))
    elif values.dtype.kind in "fM":
        missing = values != values  # NaN and NaT alone differ from themselves
    else:
        missing = np.zeros(len(values), bool)
    known = ~missing
    if known.any():
        check_classification_targets(_plain(values[known]))
        if values.dtype == object:
            plain = _plain(values[known])
            filled = np.full(len(values), plain[0], dtype=plain.dtype)
            filled[known] = plain
            values = filled
    return Labels(values, known)


def _as_array(y: Any) -> NDArray[Any]:
    if isinstance(y, torch.Tensor):
        return y.detach().cpu().numpy()
    if y is None:
        # The words of scikit-learn, which its tools look for.
        raise ValueError(
            "This BeliefClassifier estimator requires y to be passed, but the target y is None."
        )
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if hasattr(y, "todense"):
        raise refuse(
            "y",
            "be dense",
            f"it is a {type(y).__name__}",
            "pass a list or an array of labels; sparse data was passed, but dense data is required",
        )
    return np.asarray(y)


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT or pandas' NA, which is not even unequal to itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as an array of one type, where they are of one."""
    return np.asarray(values.tolist()) if values.dtype == object else values


def _belief_of(labels: Labels, names: NDArray[Any]) -> Belief:
    """Certainty where a label is known, everything where it is not."""
    order = np.argsort(names)
    place = np.searchsorted(names, labels.values, sorter=order).clip(max=len(names) - 1)
    number = order[place]
    strange = labels.known & (names[number] != labels.values)
    if strange.any():
        row = int(strange.argmax())
        name = labels.values[row]
        near = get_close_matches(str(name), map(str, names), n=1)
        raise refuse(
            "y",
            "name the classes that are given",
            f"row {row} holds {name!r}",
            f"perhaps {near[0]!r} is meant" if near else "add it to `classes`",
        )
    parts = range(0, max(len(number), 1), _ROWS)
    return Candidates.joined(
        Candidates.from_mask(_mask(number[i : i + _ROWS], labels.known[i : i + _ROWS], len(names)))
        for i in parts
    )


def _mask(number: NDArray[np.int64], known: NDArray[np.bool_], n_classes: int) -> torch.Tensor:
    mask = torch.from_numpy(~known).unsqueeze(1).repeat(1, n_classes)
    mask[torch.arange(len(number)), torch.from_numpy(number)] = True
    return mask


def _names_of_belief(belief: Belief, classes: Sequence[Any] | NDArray[Any] | None) -> NDArray[Any]:
    if classes is None:
        return np.arange(belief.n_classes)
    if len(classes) != belief.n_classes or len(set(classes)) != len(classes):
        raise refuse(
            "classes",
            f"name the {belief.n_classes} classes of the belief, each once",
            f"it is {list(classes)!r}",
            "list them in the belief's order",
        )
    return np.asarray(classes)
