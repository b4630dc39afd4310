"""What a file of beliefs is worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit.diagnostics import appraised
from tacit.table._beliefs import read_beliefs
from tacit.table._count import own_rows
from tacit.table._errors import listed
from tacit.table._features import read_features
from tacit.table._jobs import Check
from tacit.table._join import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.diagnostics import Appraisal
    from tacit.table._beliefs import Beliefs

__all__ = ["run"]

_LITTLE = 0.01
"""Beliefs that tell less than this part of a label, on average, tell hardly anything."""


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
    worth = appraised(known.belief)
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
        findings=tuple(_findings(known, worth)),
        notes=known.notes,
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
