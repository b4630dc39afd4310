"""Which steps are captured unless told otherwise."""

import pytest
import torch
from torch import nn

from tacit.evidence import BatchMass, TrackedMass
from tacit.fitting import Execution, Settings
from tacit.fitting._learner import Learner
from tacit.fitting._step import suits_capture
from tacit.objectives import EM, RQ
from tacit.predictors import Perceptron, SmallCNN, Standardised


class Own(nn.Module):
    """A network of somebody's own, which may wait for the GPU."""

    def __init__(self):
        super().__init__()
        self.map = nn.Linear(3, 4)

    def forward(self, features):
        return self.map(features / float(features.abs().max()))


class OwnRQ(RQ):
    """An objective of somebody's own."""


def learner(network, objective):
    return Learner(network, objective, Settings(), Execution(), torch.device("cpu"))


GENERATOR = torch.Generator().manual_seed(0)
PERCEPTRON = Perceptron(3, 4, generator=GENERATOR)


@pytest.mark.parametrize(
    ("network", "objective", "suits"),
    [
        (PERCEPTRON, RQ(), True),
        (Standardised(PERCEPTRON, torch.zeros(3), torch.ones(3)), EM(TrackedMass()), True),
        (SmallCNN(1, (8, 8), 4, generator=GENERATOR), RQ(), True),
        (nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4)), RQ(), True),
        (nn.Sequential(nn.Linear(3, 8), nn.Dropout(), nn.Linear(8, 4)), RQ(), False),
        (Own(), RQ(), False),
        (PERCEPTRON, OwnRQ(), False),
        (PERCEPTRON, RQ(BatchMass(n_strata=2)), False),
    ],
)
def test_steps_that_wait_for_nothing_suit_a_capture(network, objective, suits):
    assert suits_capture(learner(network, objective)) is suits
