"""What is written down after each epoch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tacit.diagnostics import Alarm, Vitals

__all__ = ["Record"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One epoch of one run.

    Attributes:
        run: Number of the run, where several train at once.
        epoch: Epochs done, counted from 1.
        loss: Mean of the objective, or of the warm-up's soft cross-entropy.
        warming_up: Whether this was an epoch of the warm-up.
        learning_rate: At the end of the epoch.
        held_out_evidence: In nats per instance; `None` where nothing is held out.
        best: Whether it is the best so far.
        vitals: Vital signs, on the held-out instances, or on a sample where there are none.
        alarms: What is wrong.
    """

    run: int
    epoch: int
    loss: float
    warming_up: bool
    learning_rate: float
    held_out_evidence: float | None
    best: bool
    vitals: Vitals
    alarms: tuple[Alarm, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, for JSON."""
        plain = asdict(self)
        plain["vitals"] = self.vitals._asdict() | {"vanished": list(self.vitals.vanished)}
        return plain | {"alarms": [alarm._asdict() for alarm in self.alarms]}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Record:
        """Inverse of `as_dict`."""
        signs = dict(plain["vitals"])
        signs["vanished"] = tuple(signs["vanished"])
        found = tuple(Alarm(**alarm) for alarm in plain["alarms"])
        return cls(**{**plain, "vitals": Vitals(**signs), "alarms": found})
