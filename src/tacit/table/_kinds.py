"""How a file of beliefs is to be read, which its columns or keys tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.table._errors import did_you_mean, listed, refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

__all__ = [
    "COLUMNS",
    "NAMED",
    "kind_of_columns",
    "kind_of_keys",
    "names_a_class",
    "passed_over",
    "votes_in",
]

COLUMNS: Final = {
    "candidates": ("candidates",),
    "excluded": ("excluded",),
    "labels": ("label",),
    "observed": ("observed",),
    "pairs": ("first", "second", "relation"),
    "votes": ("label", "worker"),
}
"""The columns of each kind of belief; probabilities have those of the classes."""

NAMED: Final = ("candidates", "excluded", "labels")
"""The kinds that name classes, by the names of a taxonomy where there is one."""

SOURCES: Final = ("vote_", "lf_")
"""How the columns begin that are a matrix of votes, one for each source."""

_TELLING: Final = {
    "candidates": "candidates",
    "excluded": "excluded",
    "label": "labels",
    "observed": "observed",
    "relation": "pairs",
    "worker": "votes",
}
"""Columns that stand for one kind of belief; a label beside a worker is a vote."""


_WORDS: Final = {"matrix": "votes", "observed": "observed classes"}
"""What a kind is called, where that is not its name."""


def kind_of_columns(names: Sequence[str], numeric: Collection[str], path: Path) -> str:
    """Tell how a table is to be read.

    Args:
        names: Its columns beside the ids.
        numeric: Those that hold numbers.
        path: The file, for messages.
    """
    found = [name for name in names if name in _TELLING or name.startswith(SOURCES)]
    if not found:
        _check_probabilities(names, numeric, path)
        return "probabilities"
    kind = _kind(found)
    others = [name for name in found if name not in COLUMNS.get(kind, ())]
    if kind not in ("votes", "matrix"):  # whose columns go by names that no class has
        others += [name for name in names if name in numeric and name not in COLUMNS[kind]]
    if kind == "matrix":
        others = [name for name in others if not name.startswith(SOURCES)]
    _check_one_way(kind, list(dict.fromkeys(others)), path)
    _check_complete(kind, names, path)
    return kind


def votes_in(names: Sequence[str]) -> list[str]:
    """The columns of a matrix of votes."""
    return [name for name in names if name.startswith(SOURCES)]


def names_a_class(name: str) -> bool:
    """Whether a column of numbers that is called so is read as one of probabilities of a class."""
    telling = {*_TELLING, "id"}
    return name.casefold() not in telling and not name.startswith((*SOURCES, "__index_level_"))


def _kind(found: Sequence[str]) -> str:
    """The kind that the first telling column stands for."""
    if "worker" in found:
        return "votes"
    return _TELLING.get(found[0], "matrix")


def kind_of_keys(names: Sequence[str], path: Path) -> str:
    """Tell how the arrays of an `.npz` file are to be read."""
    telling = _TELLING | {"beliefs": "probabilities", "votes": "matrix"}
    found = [name for name in names if name in telling]
    if not found:
        near = next(filter(None, (did_you_mean(name, telling) for name in names)), "")
        raise refused(
            path,
            f"holds no beliefs, only {listed(names) or 'nothing'}{near}",
            f"save one of {listed(list(telling))}",
        )
    kind = "votes" if "worker" in found else telling[found[0]]
    own = COLUMNS.get(kind, ()) if kind == "votes" else found[:1]
    _check_one_way(kind, [name for name in found if name not in own], path)
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
            f"can be read in more than one way: as {_WORDS.get(kind, kind)}, and by "
            f"{listed(others)} in another",
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
            "save a column `candidates`, `excluded`, `label`, `observed`, `relation` or `worker`, "
            "or one for each class, or for each source, called `vote_` and its name",
        )
    if set(names) == {"first", "second"}:
        raise refused(
            path,
            "can be read in two ways: as pairs without `relation`, and as two classes",
            "add a column `relation`, or call the classes by other names",
        )
