"""Collections in files: features and beliefs are read and joined, resolved labels written."""

from tacit.table._accuracies import Accuracies, read_accuracies
from tacit.table._beliefs import Beliefs, read_beliefs
from tacit.table._cooccurrence import Cooccurrence, read_cooccurrence, write_cooccurrence
from tacit.table._features import Features, read_features
from tacit.table._fused import read_fused
from tacit.table._jobs import (
    Applied,
    Check,
    Learned,
    Summary,
    check,
    learn_belief,
    predict,
    resolve,
)
from tacit.table._recipe import Recipe
from tacit.table._reliabilities import Reliabilities, read_reliabilities
from tacit.table._resolved import write_resolved
from tacit.table._taxonomies import read_taxonomy
from tacit.table._transition import Transition, read_transition
from tacit.table._truth import Truth, read_truth

__all__ = [
    "Accuracies",
    "Applied",
    "Beliefs",
    "Check",
    "Cooccurrence",
    "Features",
    "Learned",
    "Recipe",
    "Reliabilities",
    "Summary",
    "Transition",
    "Truth",
    "check",
    "learn_belief",
    "predict",
    "read_accuracies",
    "read_beliefs",
    "read_cooccurrence",
    "read_features",
    "read_fused",
    "read_reliabilities",
    "read_taxonomy",
    "read_transition",
    "read_truth",
    "resolve",
    "write_cooccurrence",
    "write_resolved",
]
