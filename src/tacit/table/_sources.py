"""What the sources of votes do, in a form that is shown and stored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

from tacit.sources import grouped, summarised

if TYPE_CHECKING:
    from tacit.table._beliefs import Beliefs

__all__ = ["ToldGroup", "ToldSource", "told_groups", "told_sources"]


class ToldSource(TypedDict):
    """One source; what is not known is None.

    Attributes:
        name: What it is called.
        coverage: Share of the instances that it votes on.
        conflict: Share of its votes that another source contradicts.
        accuracy: Share of its votes that are right, as far as the votes themselves tell.
        finding: What is odd about it, and what to do.
    """

    name: str
    coverage: float | None
    conflict: float | None
    accuracy: float | None
    finding: str | None


class ToldGroup(TypedDict):
    """Sources whose reliabilities can be compared with each other, and with no others.

    Attributes:
        sources: What they are called.
        n_instances: Number of instances that they vote on.
    """

    sources: tuple[str, ...]
    n_instances: int


def told_groups(beliefs: Beliefs) -> tuple[ToldGroup, ...]:
    """Say which sources no instance connects, see `tacit.sources.grouped`; the largest first."""
    if beliefs.votes is None:
        return ()
    return tuple(
        ToldGroup(
            sources=tuple(beliefs.sources[number] for number in group.sources),
            n_instances=group.n_items,
        )
        for group in grouped(beliefs.votes)
    )


def told_sources(beliefs: Beliefs) -> tuple[ToldSource, ...]:
    """Say what each source does; nothing where there are no votes."""
    if beliefs.votes is None:
        return ()
    accuracy = None if beliefs.voted is None else beliefs.voted.accuracy().tolist()
    return tuple(
        ToldSource(
            name=name,
            coverage=_known(found.coverage),
            conflict=_known(found.conflict),
            accuracy=None if accuracy is None else _known(accuracy[number]),
            finding=found.finding,
        )
        for number, (name, found) in enumerate(
            zip(beliefs.sources, summarised(beliefs.votes), strict=True)
        )
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
