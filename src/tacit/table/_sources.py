"""What the sources of votes do, in a form that is shown and stored."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Final, TypedDict

from tacit.sources import Fused, Voted, grouped, summarised
from tacit.table._errors import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.beliefs import Belief
    from tacit.table._beliefs import Beliefs

__all__ = ["ToldGroup", "ToldSource", "apart", "few", "told_groups", "told_sources"]

_NAMED: Final = 3
"""Groups of sources, and blocks of classes, that are named."""


class ToldSource(TypedDict):
    """One source; what is not known is None.

    Attributes:
        name: What it is called.
        coverage: Share of the instances that it votes on.
        conflict: Share of its votes that another source contradicts.
        accuracy: Share of its votes that are right, as far as the votes themselves tell.
        learned: The same as far as votes and features tell together; None where the belief did not
            learn along.
        finding: What is odd about it, and what to do.
    """

    name: str
    coverage: float | None
    conflict: float | None
    accuracy: float | None
    learned: float | None
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


def apart(groups: Sequence[ToldGroup]) -> list[str]:
    """What to say of sources that no instance connects; nothing where one group holds all."""
    if len(groups) < 2:
        return []
    named = [f"{listed(each['sources'])} ({each['n_instances']:,} rows)" for each in groups]
    return [
        f"The sources fall into {len(groups):,} groups without a row on which both of two groups "
        f"vote: {few(named)}. How reliable those of one group are cannot be compared with those "
        "of another, and none of one corrects one of another: let a source of each group vote on "
        "some rows of the others, or the features will have to connect them."
    ]


def few(named: Sequence[str]) -> str:
    """The first of many, with semicolons between, and how many more there are."""
    more = len(named) - _NAMED
    return "; ".join([*named[:_NAMED], *([f"and {more:,} more"] if more > 0 else [])])


def told_sources(beliefs: Beliefs, learned: Belief | None = None) -> tuple[ToldSource, ...]:
    """Say what each source does; nothing where there are neither votes nor several files.

    Of several files each is a source, followed by those whose votes it holds.

    Args:
        beliefs: As they were read.
        learned: The belief after it has learned along with a predictor, if it has.
    """
    if beliefs.parts:
        return tuple(chain(*_told_parts(beliefs, learned)))
    if beliefs.votes is None:
        return ()
    stated, taught = _accuracies(beliefs.voted), _accuracies(learned)
    return tuple(
        ToldSource(
            name=name,
            coverage=_known(found.coverage),
            conflict=_known(found.conflict),
            accuracy=None if stated is None else _known(stated[number]),
            learned=None if taught is None else _known(taught[number]),
            finding=found.finding,
        )
        for number, (name, found) in enumerate(
            zip(beliefs.sources, summarised(beliefs.votes), strict=True)
        )
    )


def _told_parts(beliefs: Beliefs, learned: Belief | None) -> Iterator[list[ToldSource]]:
    """Each file that was fused, and the sources of votes in it."""
    for name, part in zip(beliefs.sources, beliefs.parts, strict=True):
        coverage = part.n_informed / len(part)
        yield [
            ToldSource(
                name=name,
                coverage=coverage,
                conflict=None,
                accuracy=None,
                learned=None,
                finding=None,
            )
        ]
        own = learned.parts[name] if isinstance(learned, Fused) else None
        for each in told_sources(part, own):
            each["name"] = f"{name}: {each['name']}"
            yield [each]


def _accuracies(belief: Belief | None) -> list[float] | None:
    """How often each source is right, where the belief knows."""
    return belief.accuracy().tolist() if isinstance(belief, Voted) else None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
