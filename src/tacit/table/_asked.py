"""What a caller says of a file of beliefs beside its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

from tacit.errors import refuse
from tacit.table._classes import class_names
from tacit.table._errors import did_you_mean, listed

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from tacit.sources import Taxonomy
    from tacit.table._accuracies import Accuracies
    from tacit.table._cooccurrence import Cooccurrence
    from tacit.table._reliabilities import Reliabilities
    from tacit.table._transition import Transition

__all__ = ["Asked", "How", "Pool", "asked", "check_way"]

How: TypeAlias = Literal["dawid_skene", "majority"]
"""The ways in which votes become a belief."""

Pool: TypeAlias = Literal["product", "linear"]
"""The ways in which the beliefs of several files become one, see `tacit.sources.fuse`."""

_HOW: Final = get_args(How)


class Asked(NamedTuple):
    """What a caller says of a file of beliefs, checked.

    Attributes:
        classes: The names of the classes, in his order; None for those of the file.
        id_column: The column of ids.
        votes: How votes become a belief, or how reliable their sources are; None for what these
            allow.
        taxonomy: The tree that labels are names of.
        cooccurrence: How observed classes come with the classes.
        question: What an export is asked for, of several questions.
        transition: How labels that were written down come from true ones.
        trusted: A file of true labels, to count that from.
    """

    classes: tuple[str, ...] | None = None
    id_column: str | None = None
    votes: How | Reliabilities | Accuracies | None = None
    taxonomy: Taxonomy | None = None
    cooccurrence: Cooccurrence | None = None
    question: str | None = None
    transition: Transition | None = None
    trusted: str | os.PathLike[str] | None = None


def asked(
    classes: Sequence[str] | int | None,
    id_column: str | None,
    votes: How | Reliabilities | Accuracies | None,
    taxonomy: Taxonomy | None,
    cooccurrence: Cooccurrence | None,
    question: str | None,
    transition: Transition | None = None,
    trusted: str | os.PathLike[str] | None = None,
) -> Asked:
    """Check what a caller says; what else is read may name the classes too."""
    from tacit.sources import Taxonomy
    from tacit.table._cooccurrence import Cooccurrence
    from tacit.table._reliabilities import Reliabilities
    from tacit.table._transition import Transition

    learned = votes if isinstance(votes, Reliabilities) else None
    if learned is None:
        check_way(votes)
    _check_kind("taxonomy", taxonomy, Taxonomy, "read_taxonomy(path)")
    _check_kind("cooccurrence", cooccurrence, Cooccurrence, "read_cooccurrence(path)")
    _check_kind("transition", transition, Transition, "read_transition(path)")
    _check_errors(transition, trusted, taxonomy)
    _check_kind("question", question, str, "its name")
    names = None if classes is None else class_names(classes)
    named = {
        "taxonomy": taxonomy,
        "cooccurrence": cooccurrence,
        "votes": learned,
        "transition": transition,
    }
    for argument, source in named.items():
        if source is not None and source.classes is not None:
            names = _same(names, source.classes, argument)
    return Asked(names, id_column, votes, taxonomy, cooccurrence, question, transition, trusted)


def check_way(votes: object) -> None:
    """Refuse what is no way in which votes become a belief."""
    from tacit.table._accuracies import Accuracies

    if votes is not None and not isinstance(votes, Accuracies) and votes not in _HOW:
        near = did_you_mean(str(votes), _HOW)
        raise refuse("votes", f"be one of {', '.join(_HOW)}", f"it is {votes!r}{near}", "pick one")


def _check_errors(transition: object, trusted: object, taxonomy: object) -> None:
    """Refuse two ways to say how labels come from true ones, and one of labels of many levels."""
    if transition is not None and trusted is not None:
        raise refuse(
            "trusted",
            "be left out where the transition is given, which would be counted from it",
            f"it is {str(trusted)!r}",
            "give one of the two",
        )
    if taxonomy is not None and (transition is not None or trusted is not None):
        raise refuse(
            "taxonomy",
            "be left out where labels have errors, as these are between classes",
            "both came",
            "write labels that are leaves, or take the labels for certain",
        )


def _check_kind(argument: str, value: Any, kind: type, fix: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise refuse(argument, f"be a {kind.__name__}", f"it is {value!r}", f"pass {fix}")


def _same(names: tuple[str, ...] | None, stated: tuple[str, ...], argument: str) -> tuple[str, ...]:
    """The names in the caller's order, where he gives them; refuses two lists that differ."""
    if names is not None and sorted(names) != sorted(stated):
        odd = sorted(set(names) ^ set(stated))
        raise refuse(
            argument,
            f"have the classes that are named elsewhere, {listed(names)}",
            f"its own are {listed(stated)}, and {listed(odd, 3)} is in one of the two only",
            "leave `classes` out, or mend it",
        )
    return names or stated
