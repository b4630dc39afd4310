"""How a file of beliefs is to be read, which its columns or keys tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.table._errors import did_you_mean, listed, refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

__all__ = ["COLUMNS", "kind_of_columns", "kind_of_keys", "passed_over"]

COLUMNS: Final = {
    "candidates": ("candidates",),
    "excluded": ("excluded",),
    "labels": ("label",),
    "pairs": ("first", "second", "relation"),
}
"""The columns of each kind of belief; probabilities have those of the classes."""

_TELLING: Final = {
    "candidates": "candidates",
    "excluded": "excluded",
    "label": "labels",
    "relation": "pairs",
}
"""Columns that stand for one kind of belief."""


def kind_of_columns(names: Sequence[str], numeric: Collection[str], path: Path) -> str:
    """Tell how a table is to be read.

    Args:
        names: Its columns beside the ids.
        numeric: Those that hold numbers.
        path: The file, for messages.
    """
    kind = next((_TELLING[name] for name in names if name in _TELLING), None)
    if kind is None:
        _check_probabilities(names, numeric, path)
        return "probabilities"
    others = [name for name in names if name not in COLUMNS[kind]]
    _check_one_way(kind, [name for name in others if name in numeric or name in _TELLING], path)
    _check_complete(kind, names, path)
    return kind


def kind_of_keys(names: Sequence[str], path: Path) -> str:
    """Tell how the arrays of an `.npz` file are to be read."""
    telling = _TELLING | {"beliefs": "probabilities"}
    found = [name for name in names if name in telling]
    if not found:
        near = next(filter(None, (did_you_mean(name, telling) for name in names)), "")
        raise refused(
            path,
            f"holds no beliefs, only {listed(names) or 'nothing'}{near}",
            f"save one of {listed(list(telling))}",
        )
    kind = telling[found[0]]
    _check_one_way(kind, found[1:], path)
    _check_complete(kind, names, path)
    return kind


def passed_over(columns: Sequence[str]) -> tuple[str, ...]:
    """A note on columns that are not read."""
    note = f"Columns that say nothing of labels were passed over: {listed(columns)}."
    return (note,) if columns else ()


def _check_one_way(kind: str, others: Sequence[str], path: Path) -> None:
    if others:
        raise refused(
            path,
            f"can be read in more than one way: as {kind}, and by {listed(others)} in another",
            "keep one kind of belief in a file",
        )


def _check_complete(kind: str, names: Sequence[str], path: Path) -> None:
    missing = [name for name in COLUMNS.get(kind, ()) if name not in names]
    if missing:
        raise refused(
            path,
            f"holds {kind} without `{missing[0]}`{did_you_mean(missing[0], names)}",
            f"save all of {listed(COLUMNS[kind])}",
        )


def _check_probabilities(names: Sequence[str], numeric: Collection[str], path: Path) -> None:
    alike = [name for name in names if name.casefold() in _TELLING]
    if alike or not set(names) & set(numeric):
        near = next(filter(None, (did_you_mean(name, _TELLING) for name in alike or names)), "")
        raise refused(
            path,
            f"tells no kind of belief by the columns {listed(names) or 'beside its ids'}{near}",
            "save a column `candidates`, `excluded`, `label` or `relation`, or one for each class",
        )
    if set(names) == {"first", "second"}:
        raise refused(
            path,
            "can be read in two ways: as pairs without `relation`, and as two classes",
            "add a column `relation`, or call the classes by other names",
        )
