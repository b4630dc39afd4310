"""What a file of beliefs is worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit.diagnostics import appraised, indistinct
from tacit.table._beliefs import read_beliefs
from tacit.table._count import own_rows
from tacit.table._errors import listed
from tacit.table._features import read_features
from tacit.table._jobs import Check
from tacit.table._join import Target
from tacit.table._sources import told_groups, told_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.diagnostics import Appraisal
    from tacit.table._beliefs import Beliefs
    from tacit.table._sources import ToldGroup

__all__ = ["run"]

_LITTLE = 0.01
"""Beliefs that tell less than this part of a label, on average, tell hardly anything."""
_NAMED = 3
"""Groups of sources, and blocks of classes, that are named."""


def run(
    beliefs: str,
    *,
    data: str | None,
    id_column: str | None,
    columns: Sequence[str] | None,
    **reading: Any,
) -> Check:
    """Check; see `tacit.table.check`."""
    if data is None:
        rows = own_rows(beliefs, id_column)
    else:
        features = read_features(data, id_column=id_column, columns=columns)
        rows = Target(len(features), features.ids)
    known = read_beliefs(beliefs, ids=rows.ids, n_rows=rows.n_rows, id_column=id_column, **reading)
    worth, groups = appraised(known.belief), told_groups(known)
    return Check(
        source=known.source,
        kind=known.kind,
        classes=known.classes,
        n_instances=len(known),
        bits=worth.bits,
        most_bits=math.log2(len(known.classes)),
        n_certain=worth.n_certain,
        n_open=worth.n_open,
        balance=worth.balance,
        findings=(*_findings(known, worth), *_alike(known), *_of_sources(known), *_apart(groups)),
        notes=(*known.notes, *_blocks(known, worth)),
        sources=told_sources(known),
        groups=groups,
    )


def _findings(known: Beliefs, worth: Appraisal) -> list[str]:
    """What should be looked at, and what to do about it."""
    found = []
    if worth.unmentioned:
        names = listed([known.classes[place] for place in worth.unmentioned])
        found.append(
            f"No row allows {names}: look for a misspelling, or leave the class out of --classes."
        )
    if worth.bits < _LITTLE * math.log2(len(known.classes)) and known.kind != "pairs":
        found.append(
            "The beliefs tell hardly anything of the labels: look for a column that was read in "
            "the wrong way, or for more knowledge."
        )
    if worth.n_certain == len(known):
        found.append(
            "Every label is certain: with nothing left to resolve, any classifier will do."
        )
    return found


_ALIKE = {
    "equal": "No belief tells {} apart: the groups will be found, but which is which is left to "
    "chance; add beliefs that name one without the others, or make one class of them.",
    "proportional": "Only how large they are tells {} apart; add beliefs that name one without the "
    "others, or make one class of them.",
    "nearly": "The beliefs hardly tell {} apart, which will take many rows; add beliefs that name "
    "one without the others.",
}


def _alike(known: Beliefs) -> list[str]:
    """Classes that the beliefs do not tell apart."""
    return [
        _ALIKE[found.kind].format(
            "the classes"
            if len(found.classes) == len(known.classes)
            else listed([known.classes[place] for place in found.classes])
        )
        for found in indistinct(known.belief)
    ]


def _of_sources(known: Beliefs) -> list[str]:
    """What is odd about the sources of votes."""
    odd = [source for source in told_sources(known) if source["finding"] is not None]
    return [f"Source {source['name']} {source['finding']}." for source in odd]


def _apart(groups: Sequence[ToldGroup]) -> list[str]:
    """Sources that no instance connects."""
    if len(groups) < 2:
        return []
    named = [f"{listed(each['sources'])} ({each['n_instances']:,} rows)" for each in groups]
    return [
        f"The sources fall into {len(groups):,} groups without a row on which both of two groups "
        f"vote: {_few(named)}. How reliable those of one group are cannot be compared with those "
        "of another, and none of one corrects one of another: let a source of each group vote on "
        "some rows of the others, or the features will have to connect them."
    ]


def _blocks(known: Beliefs, worth: Appraisal) -> list[str]:
    """Classes that no row allows together with the others: nothing is wrong with that."""
    if len(worth.blocks) < 2 or worth.n_certain == len(known):
        return []
    named = [listed([known.classes[place] for place in block]) for block in worth.blocks]
    return [
        f"The classes fall into {len(worth.blocks):,} blocks, and of each row it is known which: "
        f"{_few(named)}. Only within a block is anything left to resolve."
    ]


def _few(named: Sequence[str]) -> str:
    """The first of many, with semicolons between, and how many more there are."""
    more = len(named) - _NAMED
    return "; ".join([*named[:_NAMED], *([f"and {more:,} more"] if more > 0 else [])])
