"""A run's folder, read back: what was asked for, how the training went, what came out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tacit.fitting import METRICS, Record
from tacit.runs import DESCRIPTION, RunError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RESOLVED", "Run", "read_run"]

RESOLVED: Final = "resolved.parquet"
_MODEL: Final = "model/model.json"
_AGAIN: Final = "name the folder that tacit resolve wrote"
_DAMAGED: Final = "resolve again into a new folder"

_RESULTS: Final[dict[str, tuple[type, ...]]] = {
    "n_instances": (int,),
    "n_informed": (int,),
    "kind": (str,),
    "classes": (list,),
    "held_out_evidence": (float, int, type(None)),
    "entropy_before": (float, int),
    "entropy_after": (float, int),
    "epochs": (list,),
    "ended": (list,),
    "notes": (list,),
    "alarms": (list,),
    "seconds": (float, int),
}
"""What the results of a run hold, as far as a report needs it."""
_TEXTS: Final = ("classes", "ended", "notes", "alarms")
_ROUNDING: Final = 0.01
"""How far above 0 the log of a share may lie."""


class Run(NamedTuple):
    """A run that has come to its end.

    Attributes:
        path: Its folder.
        described: What `run.json` says.
        members: The records of each member, epoch by epoch.
        log_mass: Log of the class mass, `(stratum, class)`; None where the model is gone.
    """

    path: Path
    described: dict[str, Any]
    members: tuple[tuple[Record, ...], ...]
    log_mass: tuple[tuple[float, ...], ...] | None

    @property
    def results(self) -> dict[str, Any]:
        """What it came to."""
        return dict(self.described["results"])

    @property
    def recipe(self) -> dict[str, Any]:
        """What was asked for."""
        return dict(self.described["recipe"])

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return tuple(self.described["results"]["classes"])


def read_run(path: Path) -> Run:
    """Read a run's folder, but for its table; refuses what is no finished run.

    Args:
        path: The folder.
    """
    described = _described(path)
    return Run(path, described, _members(path / METRICS), _log_mass(path / _MODEL, described))


def _described(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        what = "is a file" if path.exists() else "is not there"
        raise RunError(f"'{path}' {what}; {_AGAIN}.")
    place = path / DESCRIPTION
    if not place.exists():
        raise RunError(f"'{path}' is no run: it holds no {DESCRIPTION}; {_AGAIN}.")
    described = _parsed(place)
    if not isinstance(described, dict) or described.get("what") != "a run of tacit":
        raise RunError(f"'{path}' has a {DESCRIPTION} that is not of tacit; {_AGAIN}.")
    if described.get("command") != "resolve":
        raise RunError(
            f"'{path}' holds a run of tacit {described.get('command')}, and reports are of tacit "
            f"resolve; {_AGAIN}."
        )
    if described.get("status") != "complete":
        raise RunError(
            f"'{path}' holds a run that has not come to its end; go on with it by tacit resolve "
            f"--resume --out {path}, and then report."
        )
    _check_whole(place, described)
    return described


def _check_whole(place: Path, described: dict[str, Any]) -> None:
    results = described.get("results")
    whole = (
        isinstance(described.get("recipe"), dict)
        and isinstance(results, dict)
        and all(isinstance(results.get(name), kinds) for name, kinds in _RESULTS.items())
        and all(isinstance(text, str) for name in _TEXTS for text in results[name])
    )
    if not whole:
        raise RunError(f"'{place}' was changed after it was written; {_DAMAGED}.")


def _members(place: Path) -> tuple[tuple[Record, ...], ...]:
    """The records of each member, in the order in which they were written."""
    members: dict[int, list[Record]] = {}
    for number, line in enumerate(_text(place).splitlines(), 1):
        try:
            record = Record.from_dict(json.loads(line))
            members.setdefault(record.run, []).append(record)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RunError(
                f"'{place}' is damaged in line {number}, which is no record of an epoch; "
                f"{_DAMAGED}."
            ) from error
    if not members:
        raise RunError(f"'{place}' is damaged: it holds no record of an epoch; {_DAMAGED}.")
    return tuple(tuple(members[run]) for run in sorted(members))


def _log_mass(place: Path, described: dict[str, Any]) -> tuple[tuple[float, ...], ...] | None:
    """The class mass that the model remembers."""
    if not place.exists():
        return None
    model, n_classes = _parsed(place), len(described["results"]["classes"])
    mass = model.get("log_class_mass") if isinstance(model, dict) else None
    nested = isinstance(mass, list) and bool(mass) and isinstance(mass[0], list)
    strata: list[Any] = [*mass] if nested and mass else [mass]
    for stratum in strata:
        numbers = isinstance(stratum, list) and all(
            isinstance(each, float | int) and each <= _ROUNDING for each in stratum
        )
        if not numbers or len(stratum) != n_classes:
            raise RunError(f"'{place}' is damaged: it tells no class mass; {_DAMAGED}.")
    return tuple(tuple(map(float, stratum)) for stratum in strata)


def _parsed(place: Path) -> Any:
    try:
        return json.loads(_text(place))
    except (ValueError, RecursionError) as error:
        raise RunError(f"'{place}' is damaged ({error}); {_DAMAGED}.") from error


def _text(place: Path) -> str:
    try:
        return place.read_text("utf-8")
    except FileNotFoundError as error:
        raise RunError(f"'{place}' is gone; {_DAMAGED}.") from error
    except UnicodeDecodeError as error:
        raise RunError(f"'{place}' is damaged: it is no UTF-8 text; {_DAMAGED}.") from error
    except OSError as error:
        raise RunError(f"'{place}' cannot be read ({error.strerror}); mend that.") from error
