"""What is minimised: each objective is a pure function and a module that holds its settings."""

from tacit.objectives._accumulate import backward_in_parts
from tacit.objectives._baselines import (
    HardCrossEntropy,
    SoftCrossEntropy,
    SquaredError,
    UnionNLL,
    hard_cross_entropy,
    soft_cross_entropy,
    squared_error,
    union_nll,
)
from tacit.objectives._clustering import Clustering, clustering
from tacit.objectives._em import EM, em
from tacit.objectives._free_energy import FreeEnergy, free_energy
from tacit.objectives._objective import Objective
from tacit.objectives._qr import QR, qr
from tacit.objectives._rq import RQ, rq

__all__ = [
    "EM",
    "QR",
    "RQ",
    "Clustering",
    "FreeEnergy",
    "HardCrossEntropy",
    "Objective",
    "SoftCrossEntropy",
    "SquaredError",
    "UnionNLL",
    "backward_in_parts",
    "clustering",
    "em",
    "free_energy",
    "hard_cross_entropy",
    "qr",
    "rq",
    "soft_cross_entropy",
    "squared_error",
    "union_nll",
]
