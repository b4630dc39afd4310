"""What a table is resolved with: files, their columns, and how to learn."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import refuse
from tacit.table._errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Recipe"]

_OWN: Final = frozenset({"verbose", "execution", "classes", "random_state", "self"})
"""Arguments of the estimator that a recipe states in its own way, or not at all."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What `resolve` is to do: plain values, as they stand in a configuration file.

    Attributes:
        data: File or folder of features, see `read_features`.
        beliefs: File of beliefs, see `read_beliefs`.
        id_column: The column of ids, in both.
        columns: The columns that are features; all but the ids unless given.
        classes: Names of the classes, in order.
        seed: Seed of everything that is random.
        learning: Settings of `tacit.BeliefClassifier`, by their names.
    """

    data: str
    beliefs: str
    id_column: str | None = None
    columns: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    seed: int = 0
    learning: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Recipe:
        """Sort the keys of a flat configuration; an unknown one is refused, with a suggestion.

        Args:
            given: Names and values, of this class and of the estimator's settings.

        Example:
            >>> recipe = Recipe.of({"data": "x.csv", "beliefs": "b.csv", "epochs": 5})
            >>> recipe.data, recipe.learning
            ('x.csv', {'epochs': 5})
        """
        own = {each.name for each in fields(cls)} - {"learning"}
        settings = cls.settings()
        for name in given:
            if name not in own and name not in settings:
                known = [*sorted(own), *settings]
                raise refuse(
                    "configuration",
                    "hold known settings only",
                    f"it holds {name!r}",
                    did_you_mean(name, known).strip(" ()?") or f"known are {', '.join(known)}",
                )
        for name in ("data", "beliefs"):
            if not given.get(name):
                raise refuse(
                    name, "be given", "it is not", f"name the file on the command line or as {name}"
                )
        return cls(
            **{name: _listed(name, value) for name, value in given.items() if name in own},
            learning={name: value for name, value in given.items() if name in settings},
        )

    @staticmethod
    def settings() -> dict[str, Any]:
        """The estimator's settings that a recipe may state, with their defaults."""
        from tacit.estimator import BeliefClassifier

        parameters = inspect.signature(BeliefClassifier.__init__).parameters
        return {name: each.default for name, each in parameters.items() if name not in _OWN}

    def resolved(self) -> dict[str, Any]:
        """All settings, defaults included, in one flat table."""
        plain = asdict(self)
        learning = plain.pop("learning")
        return plain | self.settings() | dict(learning)


def _listed(name: str, value: Any) -> Any:
    """Lists of names as tuples; a single text is a list with commas in it."""
    if name not in ("columns", "classes") or value is None:
        return value
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(str(part).strip() for part in parts)
