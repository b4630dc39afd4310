"""A program that trains, to be killed: `python -m tests.fitting.worker SCENARIO FOLDER`.

Under torchrun, DIES_AT names the step in which the process of rank 1 kills itself, the first time.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import torch

from tacit._processes import joined, process_number
from tacit.evidence import TrackedMass
from tacit.fitting import Collection
from tacit.objectives import EM
from tests.fitting.cases import BELIEFS, EVERY_STEP, features, perceptron, plan, train

RESULT = "weights.pt"


def double(generator):
    return perceptron(generator).double()


def scenario(name):
    """Plans and a collection, in double precision."""
    objective = EM(TrackedMass())
    plans = [plan(objective, predictor=double, seed=seed, epochs=8) for seed in (0, 1)]
    return plans, Collection(features().double(), BELIEFS[name]())


def dying(step):
    """A watch that kills the process at a step."""
    told = 0

    def watch(progress):
        nonlocal told
        told += progress.record is None
        if told == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return watch


def main(name, folder):
    torch.set_num_threads(1)
    is_first = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"
    with joined():
        leads = process_number("world") == 0
        dies = is_first and not leads and "DIES_AT" in os.environ
        watch = dying(int(os.environ["DIES_AT"])) if dies else None
        fitted = train(*scenario(name), EVERY_STEP, folder, resume=True, watch=watch)
        if leads:
            torch.save([each.network.state_dict() for each in fitted], folder / RESULT)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
