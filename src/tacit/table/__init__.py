"""Collections in files: features and beliefs are read and joined, resolved labels written."""

from tacit.table._beliefs import Beliefs, read_beliefs
from tacit.table._features import Features, read_features
from tacit.table._jobs import Applied, Check, Summary, check, predict, resolve
from tacit.table._recipe import Recipe
from tacit.table._resolved import write_resolved

__all__ = [
    "Applied",
    "Beliefs",
    "Check",
    "Features",
    "Recipe",
    "Summary",
    "check",
    "predict",
    "read_beliefs",
    "read_features",
    "resolve",
    "write_resolved",
]
