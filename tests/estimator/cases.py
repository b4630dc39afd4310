"""Small clouds of points with beliefs about them, and classifiers that learn them quickly."""

from typing import NamedTuple

import numpy as np

from tacit import BeliefClassifier
from tacit.beliefs import Candidates, Pairs

N_CLASSES = 3
N_FEATURES = 4


class Clouds(NamedTuple):
    """Points around one centre for each class.

    Attributes:
        X: `(instances, features)`, float64; the last feature is noise.
        truth: The class of each.
        belief: One class that each is not of.
    """

    X: np.ndarray
    truth: np.ndarray
    belief: Candidates


def clouds(n=90, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % N_CLASSES
    X = 4 * np.eye(N_CLASSES, N_FEATURES)[truth] + rng.normal(size=(n, N_FEATURES))
    other = (truth + rng.integers(1, N_CLASSES, n)) % N_CLASSES
    return Clouds(X, truth, Candidates.excluding(other, n_classes=N_CLASSES))


def quick(**settings):
    """A single small member that learns for a few epochs."""
    defaults = {"n_members": 1, "epochs": 6, "batch_size": 30, "learning_rate": 0.03}
    return BeliefClassifier(**{**defaults, "random_state": 0, **settings})


def pairs_of(truth, seed=0):
    """Of random pairs of different classes: which of the two is the greater."""
    order = np.random.default_rng(seed).permutation(len(truth))
    pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
    pairs = pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]]
    greater = np.take_along_axis(pairs, np.argsort(-truth[pairs], 1), 1)
    return Pairs.greater(greater, n_classes=N_CLASSES, n_instances=len(truth))


def same(first, second):
    """Whether two fitted classifiers are the same to the bit."""
    states = [[network.state_dict() for network in model.networks_] for model in (first, second)]
    return all(
        one.keys() == two.keys() and all(bool((one[name] == two[name]).all()) for name in one)
        for one, two in zip(*states, strict=True)
    )
