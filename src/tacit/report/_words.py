"""Numbers and names as a reader wants them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["believed", "decimals", "joined", "moment", "share"]

_TIE = 1e-6
"""Classes whose belief differs by less than this part are believed alike."""
_NAMED = 3
"""Classes believed alike up to which each is named."""


def decimals(value: float | None) -> str:
    """A number of nats.

    Example:
        >>> decimals(0.65462), decimals(-0.0001), decimals(None), decimals(math.inf)
        ('0.655', '0.000', '–', '∞')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def share(value: float) -> str:
    """A part of the whole in percent; never rounded to none or all that it is not.

    Example:
        >>> share(0.0991), share(0.9999), share(1.0), share(0.0), share(0.00001)
        ('9.9 %', '> 99.9 %', '100 %', '0 %', '< 0.1 %')
    """
    if value in (0, 1):
        return f"{value:.0%}".replace("%", " %")
    text = f"{100 * value:.1f}"
    return {"0.0": "< 0.1 %", "100.0": "> 99.9 %"}.get(text, f"{text} %")


def believed(p: Tensor, classes: Sequence[str]) -> str:
    """What a belief holds likeliest, in words.

    Example:
        >>> import torch
        >>> half = torch.tensor([0.5, 0.5, 0.0])
        >>> believed(half, ("cat", "dog", "owl")), believed(half / 2 + 0.25, ("a", "b", "c"))
        ('cat or dog', 'a or b')
        >>> believed(torch.ones(3) / 3, ("cat", "dog", "owl"))
        'anything'
        >>> believed(torch.tensor([1, 1, 0, 1, 1]) / 4, "abcde")
        'not c'
    """
    top = float(p.max())
    places = (p >= (1 - _TIE) * top).nonzero().flatten().tolist()
    if len(places) == len(classes):
        return "anything"
    if len(places) <= _NAMED:
        return joined([classes[place] for place in places], "or")
    others = (p == 0).nonzero().flatten().tolist()
    if len(others) <= _NAMED and len(places) + len(others) == len(classes):
        return f"not {joined([classes[place] for place in others], 'or')}"
    return f"one of {len(places)}"


def joined(words: Sequence[str], last: str = "and") -> str:
    """Words in a row.

    Example:
        >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], "or")
        ('a', 'a and b', 'a, b or c')
    """
    *others, final = words
    return f"{', '.join(others)} {last} {final}" if others else final


def moment(text: object) -> str:
    """A time as it is written down, for people.

    Example:
        >>> moment("2025-03-01T14:05:09+00:00")
        '2025-03-01 14:05 UTC'
    """
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(str(text)).astimezone(UTC)
    except ValueError:
        return str(text)
    return f"{found:%Y-%m-%d %H:%M} UTC"
