"""Tables and figures that anyone measures again: `tacit reproduce NAME --data DIR`.

An experiment is a module with an `EXPERIMENT`. Its record, `results/NAME.json`, holds a cell for
each setting and seed, and under which circumstances it was measured; `docs/results/NAME.md` is
written from the record.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from experiments._experiment import Experiment, Means, reproduce

__all__ = ["MODULES", "Experiment", "Means", "experiment", "reproduce"]

MODULES: Final = {
    "crowd": "experiments.crowd",
    "digits": "experiments.digits",
    "real-beliefs": "experiments.real_beliefs",
    "negative-labels": "experiments.negative_labels",
    "rankings": "experiments.rankings",
    "batch-size": "experiments.batch_size",
    "partial-labels": "experiments.partial_labels",
}
"""Where each experiment lives, by its name on the command line."""


def experiment(name: str) -> Experiment:
    """An experiment by its name."""
    found: Experiment = import_module(MODULES[name]).EXPERIMENT
    return found
