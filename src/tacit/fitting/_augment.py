"""Changes to features that do not change their label, made anew each time they are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch.nn.functional import pad

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

__all__ = ["AUGMENTATIONS", "mirrored", "shifted"]


def shifted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Move each image by up to a sixteenth of its side, and at least up to a pixel, each way.

    What moves in from the outside is zero.

    Args:
        images: `(N, C, H, W)`.
        generator: Decides the steps; on the device of the images.
    """
    n, _, height, width = images.shape
    reach = max(1, min(height, width) // 16)
    padded = pad(images, (reach,) * 4)
    down, right = torch.randint(
        0, 2 * reach + 1, (2, n, 1), device=images.device, generator=generator
    )
    rows = down + torch.arange(height, device=images.device)
    columns = right + torch.arange(width, device=images.device)
    which = torch.arange(n, device=images.device).view(n, 1, 1)
    moved = padded.movedim(1, -1)[which, rows.unsqueeze(2), columns.unsqueeze(1)]
    return moved.movedim(-1, 1)


def mirrored(images: Tensor, generator: torch.Generator) -> Tensor:
    """Turn every other image round, left to right, by chance.

    Args:
        images: `(N, C, H, W)`.
        generator: Decides which; on the device of the images.
    """
    turned = torch.rand(len(images), 1, 1, 1, device=images.device, generator=generator) < 0.5
    return torch.where(turned, images.flip(3), images)


def _both(images: Tensor, generator: torch.Generator) -> Tensor:
    return mirrored(shifted(images, generator), generator)


AUGMENTATIONS: Final[dict[str, Callable[[Tensor, torch.Generator], Tensor] | None]] = {
    "none": None,
    "shift": shifted,
    "shift_mirror": _both,
}
"""By the names that settings use."""
