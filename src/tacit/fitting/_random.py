"""The random state that networks draw from, such as those with dropout."""

from __future__ import annotations

import torch

__all__ = ["set_random_state"]


def set_random_state(device: torch.device, seed: int) -> None:
    """Set torch's random state where a step is made; `torch.manual_seed` takes far longer."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.default_generators[device.index].manual_seed(seed)
