"""What "auto" means: settings that follow from the size of a collection."""

from __future__ import annotations

import math
from typing import Final

__all__ = ["batch_size_for", "epochs_for", "held_out_for", "patience_for"]

_BATCH: Final = 128
_BATCH_PER_CLASS: Final = 8
_LARGEST_BATCH: Final = 4096
_STEPS: Final = 600
_EPOCHS: Final = (20, 300)
_HELD_OUT: Final = 0.1
_LEAST_HELD_OUT: Final = 20


def batch_size_for(n_classes: int) -> int:
    """Eight instances per class, at least 128 and at most 4,096.

    Example:
        >>> batch_size_for(10), batch_size_for(100), batch_size_for(10_000)
        (128, 800, 4096)
    """
    return min(max(_BATCH, _BATCH_PER_CLASS * n_classes), _LARGEST_BATCH)


def epochs_for(n_instances: int, batch_size: int) -> int:
    """As many as make 600 steps, at least 20 and at most 300.

    Example:
        >>> epochs_for(1_536, 128), epochs_for(50, 128), epochs_for(1_000_000, 128)
        (50, 300, 20)
    """
    steps = max(1, round(n_instances / batch_size))
    least, most = _EPOCHS
    return min(max(math.ceil(_STEPS / steps), least), most)


def held_out_for(n_instances: int) -> float:
    """A tenth where that is 20 instances or more; of fewer the evidence would be noise.

    Example:
        >>> held_out_for(1_000), held_out_for(100)
        (0.1, 0.0)
    """
    return _HELD_OUT if _HELD_OUT * n_instances >= _LEAST_HELD_OUT else 0.0


def patience_for(epochs: int) -> int:
    """A fifth of all epochs, at least 5.

    Example:
        >>> patience_for(50), patience_for(20)
        (10, 5)
    """
    return max(5, epochs // 5)
