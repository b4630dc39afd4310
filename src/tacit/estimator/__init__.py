"""The scikit-learn face of tacit."""

from tacit.estimator._classifier import BeliefClassifier
from tacit.estimator._folds import BeliefKFold

__all__ = ["BeliefClassifier", "BeliefKFold"]
