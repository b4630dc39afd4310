"""What a file of beliefs is worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit.diagnostics import appraised, indistinct
from tacit.table._beliefs import SPECIAL
from tacit.table._count import own_rows
from tacit.table._errors import listed
from tacit.table._features import read_features
from tacit.table._jobs import Check
from tacit.table._join import Target
from tacit.table._read_any import files_of, read_any
from tacit.table._sources import apart, few, told_groups, told_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.diagnostics import Appraisal
    from tacit.table._beliefs import Beliefs
__all__ = ["run"]

_LITTLE = 0.01
"""Beliefs that tell less than this part of a label, on average, tell hardly anything."""


def run(
    beliefs: str | Sequence[str],
    *,
    data: str | None,
    id_column: str | None,
    columns: Sequence[str] | None,
    **reading: Any,
) -> Check:
    """Check; see `tacit.table.check`."""
    if data is None:
        rows = own_rows(files_of(beliefs), id_column)
    else:
        features = read_features(data, id_column=id_column, columns=columns)
        rows = Target(len(features), features.ids)
    known = read_any(beliefs, ids=rows.ids, n_rows=rows.n_rows, id_column=id_column, **reading)
    known = known.asked_for(**{name: reading.get(name) for name in SPECIAL})
    worth, groups = appraised(known.belief), told_groups(known)
    return Check(
        source=known.source,
        kind=known.kind,
        classes=known.classes,
        n_instances=len(known),
        bits=worth.bits,
        most_bits=math.log2(len(known.classes)),
        n_certain=worth.n_certain,
        n_open=_n_open(known, worth),
        balance=worth.balance,
        findings=(*_findings(known, worth), *_alike(known), *_of_sources(known), *apart(groups)),
        notes=(*known.notes, *_undecided(known), *_blocks(known, worth)),
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


def _blocks(known: Beliefs, worth: Appraisal) -> list[str]:
    """Classes that no row allows together with the others: nothing is wrong with that."""
    if len(worth.blocks) < 2 or worth.n_certain == len(known):
        return []
    named = [listed([known.classes[place] for place in block]) for block in worth.blocks]
    return [
        f"The classes fall into {len(worth.blocks):,} blocks, and of each row it is known which: "
        f"{few(named)}. Only within a block is anything left to resolve."
    ]


def _n_open(known: Beliefs, worth: Appraisal) -> int:
    """Rows of which nothing is known; votes may know of a row and cancel each other out."""
    return worth.n_open if known.told is None else int((~known.told).sum())


def _undecided(known: Beliefs) -> list[str]:
    """Rows whose votes cancel each other out."""
    if known.told is None or not bool(known.told.any()):
        return []
    n = appraised(known.belief[known.told.nonzero().squeeze(1)]).n_open
    note = (
        f"The votes on {n:,} rows cancel each other out, and leave all classes as likely: the "
        "features decide there, or one more source."
    )
    return [note] if n else []
