"""What shows how a run is doing: vital signs of its predictions, and alarms when it degenerates."""

from tacit.diagnostics._alarms import Alarm, alarms
from tacit.diagnostics._appraisal import Appraisal, appraised, mean_entropy
from tacit.diagnostics._evidence import held_out_evidence
from tacit.diagnostics._vitals import Vitals, vitals

__all__ = [
    "Alarm",
    "Appraisal",
    "Vitals",
    "alarms",
    "appraised",
    "held_out_evidence",
    "mean_entropy",
    "vitals",
]
