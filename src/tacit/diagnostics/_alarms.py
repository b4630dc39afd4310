"""Alarms: when vital signs say that a run degenerates, and what to do about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.diagnostics._vitals import Vitals

__all__ = ["Alarm", "alarms"]

CONSTANT = 0.02
"""Information below this part of log C: the prediction hardly depends on the features."""
FALLEN = 0.25
"""Information below this part of the most it ever was: what had been learned is being lost."""
DRIFT = 0.25
"""A quarter of the collection changed its class between two looks."""
PATIENCE = 3
"""Looks before a prediction may be called constant: at the start it is."""
RISING = 1.05
"""Information that grew by this factor over the patience is on its way: weak beliefs take long."""


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


def alarms(looks: Sequence[Vitals], *, n_classes: int) -> list[Alarm]:
    """What the looks at a run give reason to say, the latest look last.

    A collapse is reported when it lasts for two looks, so that one bad batch raises no alarm.

    Args:
        looks: Vital signs since the end of the warm-up.
        n_classes: Number of classes.

    Example:
        >>> from tacit.diagnostics import Vitals
        >>> flat = Vitals(0.0, 0.0, 0.0, 0.0, 0.0, (1, 2))
        >>> [alarm.kind for alarm in alarms([flat] * 4, n_classes=3)]
        ['constant', 'vanished']
    """
    found = []
    if len(looks) > PATIENCE and all(_is_constant(looks, at, n_classes) for at in (-1, -2)):
        now = looks[-1].information
        found.append(
            Alarm(
                "constant",
                True,
                f"the prediction hardly depends on the features any more ({now:.3f} of "
                f"{math.log(n_classes):.3f} nats); warm up longer, lower the learning rate, or "
                "use EM with a TrackedMass",
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


def _is_constant(looks: Sequence[Vitals], at: int, n_classes: int) -> bool:
    most = max(look.information for look in looks)
    now, before = looks[at].information, looks[max(at - PATIENCE, -len(looks))].information
    if now > RISING * before:
        return False
    return now < CONSTANT * math.log(n_classes) or now < FALLEN * most
