"""Where the beliefs came from, and what each source is worth, where the run says so.

The results of a run may hold a list under "sources", one table for each:

    {"name": "keyword", "coverage": 0.4, "conflict": 0.1, "accuracy": 0.93, "learned": 0.9,
     "finding": null}

`coverage` is the share of the instances that it speaks of, `conflict` the share of its votes that
another source contradicts, `accuracy` how often it is right when it speaks, as its belief has it,
`learned` the same after the belief has learned along with the predictor, and `finding` what is odd
about it. All but the name may be missing or null.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tacit.runs import DESCRIPTION, RunError

if TYPE_CHECKING:
    from tacit.report._run import Run

__all__ = ["Source", "sources_of"]

_KEY: Final = "sources"
_FIGURES: Final = ("coverage", "conflict", "accuracy", "learned")


class Source(NamedTuple):
    """What a source is worth.

    Attributes:
        name: What it is called.
        coverage: Share of the instances that it speaks of.
        conflict: Share of its votes that another source contradicts.
        accuracy: How often it is right when it speaks, as its belief was stated.
        learned: The same after the belief has learned along with the predictor.
        finding: What is odd about it, or empty.
    """

    name: str
    coverage: float | None
    conflict: float | None
    accuracy: float | None
    learned: float | None
    finding: str


def sources_of(run: Run) -> list[Source]:
    """The sources of a run, in its order; none where it tells of none.

    Args:
        run: The run.
    """
    told = run.results.get(_KEY) or []
    if not isinstance(told, list) or not all(_is_source(each) for each in told):
        raise RunError(
            f"'{run.path / DESCRIPTION}' has sources that are no list of sources; resolve again "
            "into a new folder."
        )
    return [
        Source(
            name=str(each["name"]),
            finding=str(each.get("finding") or ""),
            **{name: _figure(each.get(name)) for name in _FIGURES},
        )
        for each in told
    ]


def _is_source(told: Any) -> bool:
    numbers = (float, int, type(None))
    return (
        isinstance(told, dict)
        and "name" in told
        and all(isinstance(told.get(name), numbers) for name in _FIGURES)
    )


def _figure(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
