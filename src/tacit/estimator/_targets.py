"""What an estimator is told of labels: beliefs, or hard labels of which some may be missing."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from tacit.beliefs import Belief, Candidates
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Labels", "Target", "belief_about", "read_classes", "read_labels", "read_target"]


_ROWS: Final = 1 << 16
"""Labels that are turned into sets at a time."""

_KINDS: Final = "biufU"
"""Booleans, whole numbers, numbers and texts, as numpy abbreviates them."""


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
    names = None if classes is None else read_classes(classes)
    if isinstance(y, Belief):
        return Target(y, _names_of_belief(y, names))
    labels = read_labels(y)
    if names is None:
        names = np.unique(labels.values[labels.known])
    if len(names) < 2:
        raise refuse(
            "y",
            "name at least 2 classes",
            f"it names one class, {_shown(names[0])}" if len(names) else "every label is missing",
            "add labels of another class, or pass all names as `classes`",
        )
    return Target(_belief_of(labels, names), names)


def belief_about(y: Any, classes: NDArray[Any]) -> Belief:
    """The belief that y is or stands for, about classes that a model knows already."""
    if not isinstance(y, Belief):
        return _belief_of(read_labels(y), classes)
    if y.n_classes != len(classes):
        raise refuse(
            "y",
            f"speak of the {len(classes)} classes that the model knows",
            f"it speaks of {y.n_classes}",
            "state it about the same classes, in the order of `classes_`",
        )
    return y


def read_classes(classes: Any) -> NDArray[Any]:
    """Names of classes: different ones of one kind, in an order."""
    if isinstance(classes, str | bytes | dict | set | frozenset) or not hasattr(classes, "__len__"):
        raise _misnamed(f"it is {classes!r}")
    try:
        names, known = _flat(classes)
    except ValueError as error:
        raise _misnamed(f"it is {classes!r}") from error
    if not known.all():
        raise _misnamed("one is missing")
    if len(np.unique(names)) != len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise _misnamed(f"{_shown(twice)} comes twice")
    return names


def read_labels(y: Any) -> Labels:
    """Hard labels of any common container, and which of them are missing."""
    if y is None:
        # The words of scikit-learn, which its tools look for.
        raise ValueError(
            "This BeliefClassifier estimator requires y to be passed, but the target y is None."
        )
    if hasattr(y, "todense"):
        raise refuse(
            "y",
            "be dense",
            f"it is a {type(y).__name__}",
            "pass a list or an array of labels; sparse data was passed, but dense data is required",
        )
    values, known = _flat(y)
    if known.any():
        check_classification_targets(values[known])
    return Labels(values, known)


def _flat(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values of one type, `(instances,)`, and where there is one."""
    values = _as_array(y)
    if values.ndim == 2 and values.shape[1] > 1:
        raise _no_label(f"it has shape {values.shape}")
    if values.dtype != object:
        _check_kind(values)
    values = column_or_1d(values, warn=True)
    if values.dtype == object:
        return _of_objects(values)
    known = values == values  # NaN alone differs from itself
    _check_finite(values)
    return values, known


def _as_array(y: Any) -> NDArray[Any]:
    """As numpy has it; as objects where it is a list, or where some are missing."""
    if isinstance(y, torch.Tensor):
        return y.detach().cpu().numpy()
    if _has_nulls(y):
        # Whole numbers would become floating-point ones.
        y = y.to_pylist() if hasattr(y, "to_pylist") else y.to_list()
    if isinstance(y, list | tuple) and len(y):
        # Beside a text numpy turns None, NaN and numbers into texts.
        return np.fromiter(y, object, len(y))
    return np.asarray(y)


def _has_nulls(y: Any) -> bool:
    """Whether a column of pandas, polars or pyarrow has missing values beside its numbers."""
    if hasattr(y, "columns") or isinstance(getattr(y, "dtype", None), np.dtype):
        return False
    count = getattr(y, "null_count", getattr(y, "hasnans", 0))
    return bool(count() if callable(count) else count)


def _of_objects(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    known = np.fromiter((not _is_missing(value) for value in values), bool, len(values))
    found = values[known].tolist()
    if not found:
        return np.zeros(len(values)), known
    types = set(map(type, found))
    if len({issubclass(each, str) for each in types}) > 1:
        raise refuse(
            "y",
            "hold labels of one kind",
            "some are texts and some are not",
            "turn all into texts, for example by [str(label) for label in y]",
        )
    if any(hasattr(each, "__len__") and not issubclass(each, str | bytes) for each in types):
        names = sorted(each.__name__ for each in types)
        raise _no_label(f"it holds entries of type {', '.join(names)}")
    plain = np.asarray(found)
    _check_kind(plain)
    _check_finite(plain)
    filled = np.full(len(values), plain[0], dtype=plain.dtype)
    filled[known] = plain
    return filled, known


def _check_kind(values: NDArray[Any]) -> None:
    if values.dtype.kind not in _KINDS:
        raise refuse(
            "y",
            "hold texts, whole numbers or booleans",
            f"its type is {values.dtype}",
            "turn labels of another kind into texts",
        )


def _check_finite(values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise refuse(
            "y", "hold labels", "infinity is among them", "pass NaN where a label is missing"
        )


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT or pandas' NA, which is not even unequal to itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _belief_of(labels: Labels, names: NDArray[Any]) -> Belief:
    """Certainty where a label is known, everything where it is not."""
    number = _numbers(labels, names)
    parts = range(0, max(len(number), 1), _ROWS)
    return Candidates.joined(
        Candidates.from_mask(_mask(number[i : i + _ROWS], labels.known[i : i + _ROWS], len(names)))
        for i in parts
    )


def _numbers(labels: Labels, names: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each label's class; whatever where it is missing."""
    values, known = labels
    if not known.any():
        return np.zeros(len(values), np.int64)
    number, strange = np.zeros(len(values), np.int64), known
    if (values.dtype.kind == "U") == (names.dtype.kind == "U"):
        order = np.argsort(names)
        place = np.searchsorted(names, values, sorter=order).clip(max=len(names) - 1)
        number = order[place]
        strange = known & (names[number] != values)
    if strange.any():
        row = int(strange.argmax())
        near = {str(name): name for name in names}
        found = get_close_matches(str(values[row]), near, n=1)
        raise refuse(
            "y",
            "name classes that there are",
            f"row {row} holds {_shown(values[row])}",
            f"perhaps {_shown(near[found[0]])} is meant" if found else "add it to `classes`",
        )
    return number


def _mask(number: NDArray[np.int64], known: NDArray[np.bool_], n_classes: int) -> torch.Tensor:
    mask = torch.from_numpy(~known).unsqueeze(1).repeat(1, n_classes)
    mask[torch.arange(len(number)), torch.from_numpy(number)] = True
    return mask


def _names_of_belief(belief: Belief, names: NDArray[Any] | None) -> NDArray[Any]:
    if names is None:
        return np.arange(belief.n_classes)
    if len(names) != belief.n_classes:
        raise refuse(
            "classes",
            f"name the {belief.n_classes} classes of the belief",
            f"it names {len(names)}",
            "list them in the belief's order",
        )
    return names


def _no_label(got: str) -> Exception:
    return refuse(
        "y",
        "be one label per instance, or one of tacit.beliefs",
        got,
        "wrap a matrix of probabilities, as in tacit.beliefs.Categorical(y), and sets of labels, "
        "as in Candidates(y, n_classes=...)",
    )


def _misnamed(got: str) -> Exception:
    return refuse(
        "classes",
        "be a list of different names, all texts or all numbers",
        got,
        "list the names of all classes in their order",
    )


def _shown(value: Any) -> str:
    """A label as its owner wrote it."""
    return repr(value.item() if isinstance(value, np.generic) else value)
