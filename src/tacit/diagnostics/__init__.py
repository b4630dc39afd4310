"""What shows how a run is doing, what beliefs are worth, and what became of them."""

from tacit.diagnostics._alarms import Alarm, alarms
from tacit.diagnostics._appraisal import Appraisal, appraised, mean_entropy
from tacit.diagnostics._calibration import Reliability, reliability, temperature_by_evidence
from tacit.diagnostics._conflicts import Conflicts, conflicts, contradiction, surprise
from tacit.diagnostics._evidence import held_out_evidence
from tacit.diagnostics._judged import Judged, judged
from tacit.diagnostics._scores import Scores, merged, scored
from tacit.diagnostics._selection import approximated_accuracy, covering_rate
from tacit.diagnostics._symmetry import Alike, indistinct
from tacit.diagnostics._vitals import Vitals, vitals

__all__ = [
    "Alarm",
    "Alike",
    "Appraisal",
    "Conflicts",
    "Judged",
    "Reliability",
    "Scores",
    "Vitals",
    "alarms",
    "appraised",
    "approximated_accuracy",
    "conflicts",
    "contradiction",
    "covering_rate",
    "held_out_evidence",
    "indistinct",
    "judged",
    "mean_entropy",
    "merged",
    "reliability",
    "scored",
    "surprise",
    "temperature_by_evidence",
    "vitals",
]
