"""Pixels as pictures that stand in the page itself."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Picture", "of_image", "of_pixels"]

_LARGEST: Final = 64
"""Pixels of the longer side; larger pictures are made smaller."""
_SMALL: Final = 2000
"""Bytes up to which a picture is stored as it is; larger ones lose a little."""
_COARSE: Final = 32
"""Pixels of a side up to which each pixel is shown as a square."""


class Picture(NamedTuple):
    """A picture.

    Attributes:
        uri: The picture itself, as a data URI.
        coarse: Whether each pixel is to be seen as a square.
    """

    uri: str
    coarse: bool


def of_pixels(pixels: NDArray[Any], low: float, high: float) -> Picture:
    """A picture of an array.

    Args:
        pixels: `(channel, height, width)`; three channels or four are red, green and blue, of
            others the first is shown.
        low: What is black.
        high: What is white.

    Example:
        >>> of_pixels(np.eye(8)[None], 0, 1).uri[:22]
        'data:image/png;base64,'
    """
    chosen = pixels[:3] if len(pixels) in (3, 4) else pixels[:1]
    scaled = (chosen.astype(np.float64) - low) / ((high - low) or 1.0)
    bytes_ = np.round(255 * scaled.clip(0, 1)).astype(np.uint8)
    array = bytes_[0] if len(bytes_) == 1 else np.moveaxis(bytes_, 0, -1)
    return of_image(Image.fromarray(np.ascontiguousarray(array)))


def of_image(image: Image.Image) -> Picture:
    """A small picture of an image.

    Args:
        image: The image.
    """
    coarse = max(image.size) <= _COARSE
    plain = image.convert("L" if image.mode in ("1", "L") else "RGB")
    plain.thumbnail((_LARGEST, _LARGEST))
    kind, stored = "png", _stored(plain, "PNG", optimize=True)
    if len(stored) > _SMALL and not coarse:
        kind, stored = "jpeg", _stored(plain, "JPEG", quality=80)
    return Picture(f"data:image/{kind};base64,{b64encode(stored).decode()}", coarse)


def _stored(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
