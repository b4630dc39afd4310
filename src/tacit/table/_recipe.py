"""What a table is resolved with: files, their columns, and how to learn."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import refuse
from tacit.table._errors import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.estimator import BeliefClassifier
    from tacit.table._accuracies import Accuracies
    from tacit.table._asked import How, Pool

__all__ = ["FREE", "Recipe", "names_of"]

_OWN: Final = frozenset({"verbose", "execution", "classes", "random_state", "self"})
"""Arguments of the estimator that a recipe states in its own way, or not at all."""

_ELSEWHERE: Final = {
    "random_state": "the seed is called `seed`",
    "members": "the number of networks is called `n_members`",
    "execution": "name its settings themselves, such as `autocast` or `checkpoint_every`",
}
"""What somebody may write for a setting that a recipe calls by another name."""

_NAMES: Final = ("predictor", "objective", "mass", "device")
"""Settings that are names in a recipe, whatever else the estimator takes for them."""

_OPTIONAL: Final = (
    *(
        "id_column",
        "votes",
        "accuracies",
        "taxonomy",
        "cooccurrence",
        "question",
        "transition",
        "trusted",
    ),
    "pool",
)
"""Texts that may be left out."""

_CARRIED_OUT: Final = (
    *("hold", "together", "cuda_graph", "autocast", "channels_last", "compile"),
    "checkpoint_every",
)
"""Settings of `tacit.fitting.Execution`, but for the device, which is the estimator's."""

FREE: Final = ("device", *_CARRIED_OUT)
"""Settings that may change when a run goes on: they say how, not what."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What `resolve` is to do: plain values, as they stand in a configuration file.

    Attributes:
        data: File or folder of features, see `read_features`.
        beliefs: File of beliefs, see `read_beliefs`; several are fused, see `read_fused`.
        id_column: The column of ids, in both.
        columns: The columns that are features; all but the ids unless given.
        classes: Names of the classes, in order, or how many there are.
        votes: How votes become a belief, as for `read_beliefs`.
        accuracies: File of how often the sources of votes are right, see `read_accuracies`.
        taxonomy: File of a tree that labels are names of, see `read_taxonomy`.
        cooccurrence: File of a table for observed classes, see `read_cooccurrence`.
        question: The question of an export whose answers are read.
        transition: File of how labels come from true ones, see `read_transition`.
        trusted: File of a few true labels, from which that is counted.
        pool: Of several files, how they are fused: "product" or "linear".
        weights: The weight of each file, in their order.
        abstaining: Share of each file's belief that is spread over all classes.
        seed: Seed of everything that is random.
        learning: Settings of `tacit.BeliefClassifier`, by their names.
        execution: Settings of `tacit.fitting.Execution`, by their names.
    """

    data: str
    beliefs: str | tuple[str, ...]
    id_column: str | None = None
    columns: tuple[str, ...] | None = None
    classes: tuple[str, ...] | int | None = None
    votes: How | None = None
    accuracies: str | None = None
    taxonomy: str | None = None
    cooccurrence: str | None = None
    question: str | None = None
    transition: str | None = None
    trusted: str | None = None
    pool: Pool | None = None
    weights: tuple[float, ...] | None = None
    abstaining: float | None = None
    seed: int = 0
    learning: Mapping[str, Any] = field(default_factory=dict)
    execution: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Recipe:
        """Sort the keys of a flat configuration; an unknown one is refused, with a suggestion.

        Args:
            given: Names and values, of this class and of the estimator's settings.

        Example:
            >>> recipe = Recipe.of({"data": "x.csv", "beliefs": "b.csv", "epochs": 5})
            >>> recipe.data, recipe.learning
            ('x.csv', {'epochs': 5})
            >>> Recipe.of({"data": "x.csv", "beliefs": "b.csv", "epoch": 5})
            Traceback (most recent call last):
            ...
            tacit.errors.InvalidInputError: `configuration` must hold known settings only, but it
            holds `epoch`; did you mean `epochs`.
        """
        own = {each.name for each in fields(cls)} - {"learning", "execution"}
        learning = cls.settings()
        for name in given:
            _check_known(name, [*sorted(own), *learning, *_CARRIED_OUT])
        for name in ("data", "beliefs"):
            if not given.get(name):
                raise refuse(
                    name, "be given", "it is not", f"name the file on the command line or as {name}"
                )
        return cls(
            **{name: _checked(name, value) for name, value in given.items() if name in own},
            learning={name: _checked(name, given[name]) for name in learning if name in given},
            execution={name: given[name] for name in _CARRIED_OUT if name in given},
        )

    @staticmethod
    def settings() -> dict[str, Any]:
        """The estimator's settings that a recipe may state, with their defaults."""
        from tacit.estimator import BeliefClassifier

        parameters = inspect.signature(BeliefClassifier.__init__).parameters
        return {name: each.default for name, each in parameters.items() if name not in _OWN}

    def model(self) -> BeliefClassifier:
        """The estimator that the recipe asks for; refuses settings that cannot be meant."""
        from tacit.estimator import BeliefClassifier
        from tacit.fitting import Execution

        execution = Execution(**self.execution)
        own = None if execution == Execution() else execution  # as if nothing had been said
        return BeliefClassifier(**self.learning, execution=own, random_state=self.seed).check()

    def reading(self) -> dict[str, Any]:
        """How the files of beliefs are to be read, with what other files say."""
        from tacit.table._cooccurrence import read_cooccurrence
        from tacit.table._taxonomies import read_taxonomy
        from tacit.table._transition import read_transition

        return {
            "classes": self.classes,
            "id_column": self.id_column,
            "votes": self.votes if self.accuracies is None else self._accuracies(),
            "taxonomy": None if self.taxonomy is None else read_taxonomy(self.taxonomy),
            "cooccurrence": (
                None if self.cooccurrence is None else read_cooccurrence(self.cooccurrence)
            ),
            "question": self.question,
            "transition": None if self.transition is None else read_transition(self.transition),
            "trusted": self.trusted,
            "pool": self.pool,
            "weights": self.weights,
            "abstaining": self.abstaining,
        }

    def _accuracies(self) -> Accuracies:
        """How often sources are right; refuses another way beside it."""
        from tacit.table._accuracies import read_accuracies

        if self.votes is not None:
            raise refuse(
                "votes",
                "be left out where the accuracies of their sources are given",
                f"it is {self.votes!r}",
                "give one of the two",
            )
        assert self.accuracies is not None
        return read_accuracies(self.accuracies)

    def resolved(self) -> dict[str, Any]:
        """All settings, defaults included, in one flat table."""
        from tacit.fitting import Execution

        plain = asdict(self)
        learning, execution = plain.pop("learning"), plain.pop("execution")
        defaults = {name: getattr(Execution(), name) for name in _CARRIED_OUT}
        return plain | self.settings() | dict(learning) | defaults | dict(execution)


def names_of(classes: Any, argument: str = "classes") -> tuple[str, ...] | int | None:
    """Names of classes as somebody writes them: a list, text with commas in it, or their number.

    Args:
        classes: What was written.
        argument: What the caller calls it.

    Example:
        >>> names_of("cat, dog"), names_of("10"), names_of(["a", "b"])
        (('cat', 'dog'), 10, ('a', 'b'))
    """
    if classes is None or (isinstance(classes, int) and not isinstance(classes, bool)):
        return classes
    if isinstance(classes, str) and classes.strip().isdecimal():
        return int(classes)
    return _listed(argument, classes)


def _check_known(name: str, known: list[str]) -> None:
    if name in known:
        return
    near = did_you_mean(name, known).strip(" ()?")
    raise refuse(
        "configuration",
        "hold known settings only",
        f"it holds `{shown(name)}`",
        _ELSEWHERE.get(name) or near or f"known are {', '.join(known)}",
    )


def _checked(name: str, value: Any) -> Any:
    """A value of the kind that its setting takes; what the estimator checks itself is let by."""
    if name == "classes":
        from tacit.table._classes import class_names

        names = names_of(value)
        if names is not None:
            class_names(names)
        return names
    if name in _LISTS:
        return _LISTS[name](name, value)
    kinds: dict[str, tuple[Any, str]] = {
        **dict.fromkeys(("data", *_OPTIONAL), (str, "a text")),
        "abstaining": (float | int | None, "a number"),
        **dict.fromkeys(_NAMES, (str, "a name")),
        "seed": (int, "a whole number"),
        "scale": (bool, "true or false"),
    }
    kind, words = kinds.get(name, (object, ""))
    is_truth = isinstance(value, bool) and kind not in (bool, object)
    if (not isinstance(value, kind) or is_truth) and not (name in _OPTIONAL and value is None):
        raise refuse(name, f"be {words}", f"it is {value!r}", f"write {words}")
    if name == "seed" and not 0 <= value < 1 << 63:
        raise refuse("seed", "be at least 0 and below 2^63", f"it is {value}", "try 0")
    return value


def _columns(name: str, value: Any) -> tuple[str, ...] | None:
    return None if value is None else _listed(name, value)


def _files(name: str, value: Any) -> str | tuple[str, ...]:
    """A path, or several; a list of one is that one."""
    paths = [value] if isinstance(value, str) else value
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
        raise refuse(
            name, "be a text, or a list of them", f"it is {value!r}", 'write a path as "b.csv"'
        )
    return paths[0] if len(paths) == 1 else tuple(paths)


def _numbers(name: str, value: Any) -> tuple[float, ...] | None:
    """Numbers in a list, or in a text with commas in it."""
    if value is None:
        return None
    parts = value.split(",") if isinstance(value, str) else value
    parts = parts if isinstance(parts, list | tuple) else [parts]
    try:
        if any(isinstance(part, bool) for part in parts):
            raise TypeError
        return tuple(float(part) for part in parts)
    except (TypeError, ValueError) as error:
        raise refuse(
            name, "be numbers, with commas between", f"it is {value!r}", 'write them as "1,0.5"'
        ) from error


_LISTS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "beliefs": _files,
    "columns": _columns,
    "weights": _numbers,
}
"""Settings that may be several values."""


def _listed(name: str, value: Any) -> tuple[str, ...]:
    """Names as a tuple; a single text is a list with commas in it."""
    parts = value.split(",") if isinstance(value, str) else value
    kinds = str if name == "columns" else str | int
    good = isinstance(parts, list | tuple) and all(
        isinstance(part, kinds) and not isinstance(part, bool) for part in parts
    )
    if not good:
        raise refuse(name, "be a list of names", f"it is {value!r}", 'write them as "a,b,c"')
    return tuple(str(part).strip() for part in parts)
