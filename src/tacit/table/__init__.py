"""Collections in files: features and beliefs are read and joined, resolved labels written."""

from tacit.table._beliefs import Beliefs, read_beliefs
from tacit.table._features import Features, read_features
from tacit.table._resolved import write_resolved

__all__ = ["Beliefs", "Features", "read_beliefs", "read_features", "write_resolved"]
