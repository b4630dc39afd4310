"""The engine: predictors learn from features and beliefs, watched, checkpointed and resumable."""

from tacit.fitting._bar import progress_bar
from tacit.fitting._checkpoint import CheckpointError, load_state, save_state
from tacit.fitting._collection import Collection
from tacit.fitting._engine import CHECKPOINT, METRICS, Fitted, Progress, fit
from tacit.fitting._perceive import perceive, posterior
from tacit.fitting._record import Record
from tacit.fitting._run import DivergedError, Plan
from tacit.fitting._settings import Execution, Settings

__all__ = [
    "CHECKPOINT",
    "METRICS",
    "CheckpointError",
    "Collection",
    "DivergedError",
    "Execution",
    "Fitted",
    "Plan",
    "Progress",
    "Record",
    "Settings",
    "fit",
    "load_state",
    "perceive",
    "posterior",
    "progress_bar",
    "save_state",
]
