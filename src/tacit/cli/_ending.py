"""How a command ends: what the exit status says, and one sentence where something is wrong."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer

from tacit.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["COLLAPSED", "UNUSABLE", "told"]

UNUSABLE: Final = 1
COLLAPSED: Final = 3
INTERRUPTED: Final = 130


@contextmanager
def told(*, resumable: bool = False) -> Iterator[None]:
    """Turn what tacit raises on purpose into a sentence and an exit status.

    Args:
        resumable: Whether the command can go on where it was interrupted.
    """
    try:
        yield
    except TacitError as error:
        sys.stderr.write(f"error: {error}\n")
        raise typer.Exit(UNUSABLE) from error
    except KeyboardInterrupt as error:
        again = "; the same command with --resume goes on from here" if resumable else ""
        sys.stderr.write(f"interrupted{again}.\n")
        raise typer.Exit(INTERRUPTED) from error
