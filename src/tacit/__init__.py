"""Learn labels from what you already believe about them.

Importing tacit costs next to nothing: a name is loaded, and torch with it, when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit import (
        beliefs,
        diagnostics,
        errors,
        evidence,
        fitting,
        objectives,
        predictors,
        sources,
    )
    from tacit.estimator import BeliefClassifier, BeliefKFold
    from tacit.evidence import BatchMass, CollectionMass, FixedMass, TrackedMass
    from tacit.objectives import (
        EM,
        QR,
        RQ,
        Clustering,
        FreeEnergy,
        HardCrossEntropy,
        SoftCrossEntropy,
        SquaredError,
        UnionNLL,
    )

    __version__: str
else:
    # Out of sight of type checkers, which would take every misspelt name for a lazy one.
    def __getattr__(name: str) -> object:
        """Load one of the names in `__all__` and keep it."""
        if name not in __all__:
            raise AttributeError(f"module 'tacit' has no attribute '{name}'")
        value = globals()[name] = _load(name)
        return value


__all__ = [
    "EM",
    "QR",
    "RQ",
    "BatchMass",
    "BeliefClassifier",
    "BeliefKFold",
    "Clustering",
    "CollectionMass",
    "FixedMass",
    "FreeEnergy",
    "HardCrossEntropy",
    "SoftCrossEntropy",
    "SquaredError",
    "TrackedMass",
    "UnionNLL",
    "__version__",
    "beliefs",
    "diagnostics",
    "errors",
    "evidence",
    "fitting",
    "objectives",
    "predictors",
    "sources",
]

_MODULES = frozenset(name for name in __all__ if name.islower() and not name.startswith("_"))
_HOMES = {
    "tacit.estimator": ("BeliefClassifier", "BeliefKFold"),
    "tacit.evidence": ("BatchMass", "CollectionMass", "FixedMass", "TrackedMass"),
}


def __dir__() -> list[str]:
    return sorted(__all__)


def _load(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("tacit-learn")
    if name in _MODULES:
        return import_module(f"tacit.{name}")
    homes = (home for home, names in _HOMES.items() if name in names)
    return getattr(import_module(next(homes, "tacit.objectives")), name)
