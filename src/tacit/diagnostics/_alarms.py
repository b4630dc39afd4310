"""Alarms: when vital signs say that a run degenerates, and what to do about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.diagnostics._vitals import Vitals

__all__ = ["Alarm", "alarms"]

FLAT = 0.02
"""Information below this part of log C: the prediction hardly depends on the features."""
DEAD = 1e-5
"""Below this part of log C it does not at all; first weights say a hundred times as much."""
FALLEN = 0.25
"""Information below this part of the most it ever was: what had been learned is being lost."""
DRIFT = 0.25
"""A quarter of the collection changed its class between two looks."""
PATIENCE = 3
"""Looks before a prediction may be called constant: at the start it is."""
WAIT = 0.25
"""Part of all looks before one that has not learned yet may be: with weak beliefs the first epochs
are flat, and of scikit-learn's digits with one wrong label each a fifth of them."""
RISING = 1.05
"""Information this much above its least over the patience is on its way."""


class Alarm(NamedTuple):
    """Something wrong with a run.

    Attributes:
        kind: "constant", "vanished" or "drift".
        degenerate: Whether the run has collapsed, not only wobbled.
        message: A sentence for the user, with the remedy.
    """

    kind: str
    degenerate: bool
    message: str


def alarms(looks: Sequence[Vitals], *, n_classes: int, expected: int) -> list[Alarm]:
    """What the looks at a run give reason to say, the latest look last.

    A collapse is reported when it lasts for two looks, so that one bad batch raises no alarm.

    Args:
        looks: Vital signs since the end of the warm-up.
        n_classes: Number of classes.
        expected: Looks that there will be at the most.

    Example:
        >>> from tacit.diagnostics import Vitals
        >>> flat = Vitals(0.0, 0.0, 0.0, 0.0, 0.0, (1, 2))
        >>> [alarm.kind for alarm in alarms([flat] * 5, n_classes=3, expected=50)]
        ['constant', 'vanished']
    """
    found = []
    if reason := _constant(looks, math.log(n_classes), max(PATIENCE, WAIT * expected)):
        found.append(
            Alarm(
                "constant",
                True,
                f"the prediction {reason} ({looks[-1].information:.3f} of "
                f"{math.log(n_classes):.3f} nats); warm up longer, lower the learning rate, or "
                "use RQ with a BatchMass",
            )
        )
    if len(looks) > 1 and (lasting := sorted({*looks[-1].vanished} & {*looks[-2].vanished})):
        one = len(lasting) == 1
        found.append(
            Alarm(
                "vanished",
                True,
                f"class{'' if one else 'es'} {', '.join(map(str, lasting))} "
                f"{'has' if one else 'have'} all but vanished from the prediction; warm up longer, "
                "enlarge the batch, or use RQ with a BatchMass",
            )
        )
    if len(looks) > PATIENCE and looks[-1].drift > DRIFT:
        found.append(
            Alarm(
                "drift",
                False,
                f"the class mass moved by {looks[-1].drift:.0%} of the collection since the last "
                "look; lower the learning rate or enlarge the batch",
            )
        )
    return found


def _constant(looks: Sequence[Vitals], most: float, wait: float) -> str:
    """Why a prediction is to be called constant, if it is.

    Args:
        looks: Vital signs.
        most: Information that a label can have at all.
        wait: Looks to wait for a prediction that has not learned yet.
    """
    information = [look.information for look in looks]
    learned = max(information, default=0.0)
    if any(_is_rising(information[:end]) for end in (len(looks), len(looks) - 1)):
        return ""
    now = max(information[-2:])
    if learned >= FLAT * most and now < max(FALLEN * learned, FLAT * most):
        return "hardly depends on the features any more"
    if now < DEAD * most or (now < FLAT * most and len(looks) > wait):
        return "hardly depends on the features"
    return ""


def _is_rising(information: Sequence[float]) -> bool:
    """Whether information has grown of late, or there was no time for it yet."""
    before = information[-1 - PATIENCE : -1]
    return len(before) < PATIENCE or information[-1] > RISING * min(before)
