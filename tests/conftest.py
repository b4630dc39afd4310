"""What all tests share: fixed seeds, which an environment variable sweeps."""

import os

import pytest
import torch
from hypothesis import settings

SEED = int(os.environ.get("TACIT_SEED", "0"))

# With the default seed every run draws the same examples; with another one hypothesis draws anew.
settings.register_profile("tacit", deadline=None, derandomize=SEED == 0, database=None)
settings.load_profile("tacit")


@pytest.fixture
def seed() -> int:
    """The seed of this run: 0, or what TACIT_SEED says."""
    return SEED


@pytest.fixture
def generator(seed: int) -> torch.Generator:
    """A source of random numbers of the test's own."""
    return torch.Generator().manual_seed(seed)
