"""Who spoke for what, of the instances whose features contradict their belief.

A run whose beliefs have sources keeps `advocates.json`, by the numbers of rows and by classes:

    {"rows": {"17": {"cat": {"first": [["ann", 1.2, true]], "n": 3}, "dog": {"first": [], "n": 0}}}}

`first` names the sources that speak for a class most, with their strength in nats and whether they
voted (or spoke by their silence), and `n` says how many there are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tacit.runs import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Side", "Speaker", "advocates_of"]

ADVOCATES: Final = "advocates.json"


class Speaker(NamedTuple):
    """A source that speaks for a class.

    Attributes:
        name: What it is called.
        strength: How strongly, in nats, or its number of votes.
        spoke: Whether it voted.
    """

    name: str
    strength: float
    spoke: bool

    @property
    def words(self) -> str:
        """What it is called beside figures: a name that is a number would pass for one."""
        return f"source {self.name}" if self.name.isdecimal() else self.name


class Side(NamedTuple):
    """Those that speak for a class.

    Attributes:
        label: The class.
        speakers: The sources that speak for it most.
        n_more: How many there are beside these.
    """

    label: str
    speakers: tuple[Speaker, ...]
    n_more: int


def advocates_of(run: Path) -> Mapping[int, tuple[Side, ...]]:
    """The sides of each row that is told of; nothing where the run tells of none.

    Args:
        run: The run's folder.
    """
    path = run / ADVOCATES
    try:
        told = json.loads(path.read_text("utf-8"))
        return {
            int(row): tuple(_side(label, each) for label, each in own.items())
            for row, own in told["rows"].items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RunError(f"'{path}' is damaged; resolve again into a new folder.") from error


def _side(label: str, told: dict[str, Any]) -> Side:
    speakers = tuple(
        Speaker(str(name), float(strength), bool(spoke)) for name, strength, spoke in told["first"]
    )
    return Side(label, speakers, int(told["n"]) - len(speakers))
