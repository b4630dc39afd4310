"""A folder of images."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np
from PIL import Image

from tacit.table._errors import is_utf8, listed, reading, refused
from tacit.table._float32 import brightest, stored
from tacit.table._memory import room
from tacit.table._numbers import Inspector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Folder", "folder_at", "read_images"]

_SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp")

_PLAIN: Final = {"PA": "RGBA", "RGBa": "RGBA", "La": "LA"} | dict.fromkeys(
    ("CMYK", "YCbCr", "LAB", "HSV", "RGBX"), "RGB"
)
"""Ways to store colours that are no channels to learn from, and what they are turned into."""


class Folder(NamedTuple):
    """The images below a folder.

    Attributes:
        path: The folder.
        paths: Where they are, in the order of their names.
        ids: What they are called.
        notes: What is odd.
    """

    path: Path
    paths: list[Path]
    ids: list[str]
    notes: tuple[str, ...]


def folder_at(path: Path) -> Folder:
    """Find the images below a folder; what is hidden is passed over."""
    with reading(path, "a folder"):
        names = sorted(_names_below(path))
    images = [name for name in names if name.lower().endswith(_SUFFIXES)]
    others = [name for name in names if not name.lower().endswith(_SUFFIXES)]
    if not images:
        raise refused(
            path,
            f"is a folder without images{f' (but with {listed(others, 2)})' if others else ''}",
            "name a file, or put images of one size into the folder",
        )
    if (odd := next((name for name in images if not is_utf8(name)), None)) is not None:
        raise refused(path, f"holds a file whose name {odd!r} is not UTF-8", "rename it")
    notes = (f"{len(others)} files are no images and were passed over: {listed(others)}.",)
    paths = [path / name for name in images]
    return Folder(path, paths, _ids(images), notes if others else ())


def read_images(folder: Folder) -> NDArray[np.float32]:
    """Read all images of a folder, `(rows, channel, height, width)`."""
    shape = _pixels_of(folder.paths[0]).shape
    values = room(folder.path, (len(folder.paths), *shape))
    inspector = Inspector(folder.path)
    for row, path in enumerate(folder.paths):
        pixels = _pixels_of(path)
        if pixels.shape != shape:
            raise refused(
                path,
                f"has {_sizes(pixels.shape)}, and `{folder.paths[0]}` has {_sizes(shape)}",
                "bring all images to one size and one mode",
            )
        slab = values[row : row + 1]
        stored(pixels[None], slab)
        inspector.look(slab, lambda _, *place, at=pixels: float(at[place]), [folder.ids[row]])
    return values


def _pixels_of(path: Path) -> NDArray[Any]:
    """The pixels of an image as they are stored, `(channel, height, width)`."""
    with reading(path, "an image"), Image.open(path) as image:
        # Telephones put a second picture behind a photograph, and call it MPO.
        if getattr(image, "n_frames", 1) > 1 and image.format != "MPO":
            raise refused(path, "holds several images", "save each in a file of its own")
        array: NDArray[Any] = np.asarray(_plain(image))
        if image.mode == "I" and image.format == "PNG":
            array = array.astype(np.uint16)  # which is all that PNG can hold
    if brightest(array.dtype) is None:
        raise refused(
            path,
            f"holds pixels of {array.dtype}, whose scale nobody knows",
            "save bytes, 16 bits without sign, or floating-point numbers",
        )
    return array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0)


def _plain(image: Image.Image) -> Image.Image:
    if image.mode == "P":
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    return image.convert(_PLAIN[image.mode]) if image.mode in _PLAIN else image


def _names_below(path: Path) -> Iterator[str]:
    """Names of files, with the folders below `path` in front."""
    for folder, inside, names in os.walk(path, onerror=_fail):
        inside[:] = [name for name in inside if not name.startswith(".")]
        below = Path(folder).relative_to(path)
        yield from ((below / name).as_posix() for name in names if not name.startswith("."))


def _fail(error: OSError) -> NoReturn:
    raise error


def _ids(names: Sequence[str]) -> list[str]:
    short = [name.rpartition(".")[0] for name in names]
    return short if max(Counter(short).values()) == 1 else list(names)


def _sizes(shape: tuple[int, ...]) -> str:
    channels, height, width = shape
    return f"{channels} channels of {height} x {width} pixels"
