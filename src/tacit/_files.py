"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import TYPE_CHECKING, Final

from tacit.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["write_atomically"]

_LONGEST: Final = 40
"""Characters of a name that its hidden neighbour takes over: a name may have 255 bytes, and a
character up to four."""

_CAUSES: Final = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the disk quota is used up", "free some space"),
    errno.EFBIG: ("it grows beyond the largest size allowed", "raise the limit (ulimit -f)"),
    errno.EROFS: ("its folder is read-only", "choose another folder"),
    errno.EACCES: ("its folder may not be written to", "choose another folder"),
    errno.EPERM: ("its folder may not be written to", "choose another folder"),
    errno.ENOENT: ("its folder is not there", "create the folder"),
    errno.ENOTDIR: ("its folder is a file", "choose another folder"),
    errno.EISDIR: ("a folder has that name", "choose another name"),
    errno.ENAMETOOLONG: ("its name is too long", "choose a shorter one"),
}


def write_atomically(
    path: Path, write: Callable[[BinaryIO], object], *, error: type[TacitError] = TacitError
) -> None:
    """Write a file beside its place and move it there when it is whole and on the disk.

    Args:
        path: The file; what was there before stays until the new one is complete.
        write: Writes to the open binary file that it is given.
        error: What to raise where the system refuses.

    Raises:
        TacitError: If the folder cannot be written to, the disk is full or the like; of the kind
            that `error` says.
    """
    partial = path.with_name(f".{path.name[:_LONGEST]}.{secrets.token_hex(4)}.partial")
    try:
        try:
            with partial.open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except OSError as cause:
        raise error(_sentence(path, cause)) from cause
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Put a folder's new entry on the disk; not every system can, and the file itself is there."""
    with contextlib.suppress(OSError):
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)


def _sentence(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    why, fix = _CAUSES.get(
        error.errno or 0, (f"the system says: {reason}", "make room or choose another folder")
    )
    return f"'{path}' cannot be written ({why}); what was there before is untouched: {fix}."
