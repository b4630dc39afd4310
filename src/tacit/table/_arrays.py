"""The arrays in `.npy` and `.npz` files, without pickle."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from tacit.table._errors import did_you_mean, listed, reading, refused
from tacit.table._ids import ids_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Keys", "mapped"]

_BEGINNINGS: Final = {".npy": b"\x93NUMPY", ".npz": b"PK"}
"""The first bytes of each kind of file."""


def mapped(path: Path) -> NDArray[Any]:
    """The array of an `.npy` file as a memory map, copied on write."""
    _check_beginning(path, ".npy")
    with _reading(path, ".npy"):
        array: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
    return array


class Keys:
    """An `.npz` file, from which arrays are read one by one.

    Attributes:
        path: The file.
        names: Its keys.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        _check_beginning(path, ".npz")
        with self._opened() as file:
            self.names: tuple[str, ...] = tuple(file.files)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        # Opened here, as numpy leaves a damaged file open.
        with _reading(self.path, ".npz"), self.path.open("rb") as file:
            yield np.load(file, allow_pickle=False)

    def array(self, key: str) -> NDArray[Any]:
        """The array under a key."""
        with self._opened() as file:
            array = file[key]
        if not isinstance(array, np.ndarray):
            raise refused(self.path, "holds no array", "save it by numpy.savez", column=key)
        return array

    def column(self, key: str) -> pa.Array:
        """The array under a key, with one entry for each row."""
        array = self.array(key)
        if array.ndim != 1:
            raise refused(
                self.path,
                f"has shape {array.shape}",
                "save one entry for each row",
                column=key,
            )
        with reading(self.path, ".npz"):
            return pa.array(array)

    def ids(self, asked: str | None) -> pa.Array | None:
        """The ids under a key; unless asked for, those under "ids", if there are any."""
        if asked is not None and asked not in self.names:
            raise refused(
                self.path,
                f"has no key `{asked}`{did_you_mean(str(asked), self.names)}",
                f"choose from {listed(self.names, 10)}",
            )
        key = "ids" if asked is None else asked
        if key not in self.names:
            return None
        return self.ids_at(key)

    def ids_at(self, key: str, *, unique: bool = True) -> pa.Array:
        """The ids under a key."""
        return ids_from([self.column(key)], self.path, key, typed=True, unique=unique)

    def the_one(self, keys: Sequence[str], what: str) -> str:
        """The one of some keys that the file has."""
        found = [key for key in self.names if key in keys]
        if len(found) == 1:
            return found[0]
        has = f"holds {' and '.join(found)}" if found else f"holds no {what}"
        near = "" if found else f", only {listed(self.names) or 'nothing'}"
        raise refused(self.path, has + near, f"save exactly one of {', '.join(keys)}")


def _check_beginning(path: Path, kind: str) -> None:
    """Refuse what another program wrote: numpy would take it for a pickle."""
    with reading(path, kind), path.open("rb") as file:
        beginning = file.read(6)
    found = next((each for each, mark in _BEGINNINGS.items() if beginning.startswith(mark)), None)
    if found != kind:
        fix = f"let its name end in {found}" if found else "write it by numpy.save or numpy.savez"
        raise refused(path, f"is no {kind} file", fix)


@contextmanager
def _reading(path: Path, kind: str) -> Iterator[None]:
    with reading(path, kind):
        try:
            yield
        except ValueError as error:
            if "pickle" in str(error) or "object" in str(error):
                raise refused(
                    path,
                    "holds Python objects, which are not loaded, as they may bring code along",
                    "save numbers or text, as in array.astype(float)",
                ) from error
            raise
