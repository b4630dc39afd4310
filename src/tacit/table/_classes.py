"""The names of the classes: given by the caller, stored in a file, or gathered from it."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from tacit.errors import refuse
from tacit.table._errors import did_you_mean, is_utf8, listed, refused, shown
from tacit.table._ids import numbers_of, places_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "axis_of",
    "class_names",
    "codes_of",
    "enough_classes",
    "in_order",
    "sorted_names",
    "stored_classes",
]

_MOST: Final = 1 << 24
"""Classes that are given names when only their number is known."""


def class_names(classes: Sequence[str] | int) -> tuple[str, ...]:
    """The names that a caller gives, or the numbers below how many classes he says there are.

    Example:
        >>> class_names(["cat", "dog"]), class_names(3)
        (('cat', 'dog'), ('0', '1', '2'))
    """
    whole = _whole(classes)
    if whole is not None and whole <= _MOST:
        names = tuple(map(str, range(whole)))
    else:
        names = _as_names(classes)
    if len(names) < 2 or len(set(names)) < len(names) or not all(map(is_utf8, names)):
        raise refuse(
            "classes",
            "name at least 2 classes, each once",
            f"it is {shown(classes)}",
            "pass a list of different names, or how many there are",
        )
    return names


def stored_classes(names: pa.Array, path: Path) -> tuple[str, ...]:
    """The names that a file holds under the key "classes"."""
    found = tuple(map(str, names.to_pylist()))
    if len(set(found)) < len(found) or "" in found or names.null_count:
        raise refused(
            path, "names a class twice, or not at all", "name each once", column="classes"
        )
    return found


def in_order(names: Iterable[str], path: Path | str) -> tuple[str, ...]:
    """Names that were gathered, sorted; numbers by their value.

    Example:
        >>> in_order({"10", "9"}, "b.csv"), in_order({"b", "a", "9"}, "b.csv")
        (('9', '10'), ('9', 'a', 'b'))
    """
    return sorted_names(enough_classes(sorted(names), path))


def sorted_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names in their order; numbers by their value."""
    found = sorted(names)
    numbers = numbers_of(pa.array(found, pa.large_string()))[1]
    return tuple(sorted(found, key=int) if numbers else found)


def enough_classes(names: Sequence[str], path: Path | str) -> Sequence[str]:
    """Names of classes; refuses fewer than two."""
    if len(names) < 2:
        raise refused(
            path,
            f"names {f'one class only, {shown(names[0])}' if names else 'no class'}",
            "with fewer than two there is nothing to resolve: pass the names of all classes",
        )
    return names


def codes_of(
    names: pa.Array,
    classes: Sequence[str],
    path: Path,
    column: str,
    *,
    rows: NDArray[np.int64],
    ids: Any,
) -> NDArray[np.int64]:
    """The number of each named class; refuses a name that is unknown.

    Args:
        names: The names.
        classes: The names of all classes.
        path: The file, for messages.
        column: Where the names stand, for messages.
        rows: In which row each name stands, for messages.
        ids: The ids of the rows, for messages.
    """
    codes = places_of(names, pa.array(classes, pa.large_string()))
    if len(codes) and (first := int(codes.argmin())) >= 0 and codes[first] < 0:
        name = str(names[first])
        raise refused(
            path,
            f"names the class {shown(name)}, which is unknown{did_you_mean(name, classes)}",
            f"write one of {listed(classes)}",
            row=int(rows[first]),
            ids=ids,
            column=column,
        )
    return codes


def axis_of(
    length: int, given: Sequence[str] | None, stored: Sequence[str] | None, path: Path
) -> tuple[tuple[str, ...], list[int]]:
    """The names of the classes of an array, and where each stands in it.

    Args:
        length: How many classes the array has.
        given: The names that the caller gives, in the order that he wants.
        stored: The names that the file holds, in the order of the array.
        path: The file, for messages.
    """
    if length < 2 or len(stored or range(length)) != length:
        raise refused(
            path,
            f"has {length} columns of classes" + (f" and {len(stored)} names" if stored else ""),
            "save a column for each of at least 2 classes",
        )
    own = tuple(stored or given or map(str, range(length)))
    wanted = tuple(given or own)
    if sorted(wanted) != sorted(own) or len(wanted) != length:
        raise refused(
            path,
            f"has {length} classes, {listed(stored or range(length))}, and expected were "
            f"{len(wanted)}, {listed(wanted)}",
            "name those that the file has",
        )
    return wanted, [own.index(name) for name in wanted]


def _whole(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _as_names(classes: Any) -> tuple[str, ...]:
    """Names as text; nothing where they are no names."""
    try:
        names = () if isinstance(classes, str) else tuple(classes)
    except TypeError:
        return ()
    good = all(isinstance(name, str) or _whole(name) is not None for name in names)
    return tuple(map(str, names)) if good else ()
