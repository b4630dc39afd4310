"""The learning rate of each step, as a function of what has happened so far."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.fitting._settings import Settings

__all__ = ["rate_factor"]


def rate_factor(settings: Settings, progress: float, scores: Sequence[float | None]) -> float:
    """What the learning rate is multiplied by; nothing but its arguments decides.

    Args:
        settings: Of the run.
        progress: Share of all epochs that is done, 0 to 1.
        scores: Held-out evidence after each epoch under the objective.

    Example:
        >>> from tacit.fitting import Settings
        >>> rate_factor(Settings(schedule="cosine"), 0.5, [])
        0.5
        >>> rate_factor(Settings(schedule="plateau", patience=3), 0.5, [0.9, 0.8, 0.7])
        0.25
    """
    if settings.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))
    if settings.schedule == "plateau":
        return 0.5 ** _plateaus(scores, max(1, settings.patience // 3))
    return 1.0


def _plateaus(scores: Sequence[float | None], patience: int) -> int:
    """How often the best score was not beaten for so many looks in a row."""
    best, since, plateaus = -math.inf, 0, 0
    for score in scores:
        if score is not None and score > best:
            best, since = score, 0
            continue
        since += 1
        if since == patience:
            plateaus, since = plateaus + 1, 0
    return plateaus
