"""How a command ends: what the exit status says, and one sentence where something is wrong."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer

from tacit.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

__all__ = ["COLLAPSED", "INTERRUPTED", "UNUSABLE", "told"]

UNUSABLE: Final = 1
COLLAPSED: Final = 3
INTERRUPTED: Final = 130

_NO_MEMORY: Final = ("OutOfMemoryError", "MemoryError")


@contextmanager
def told(*, resumable: bool = False) -> Iterator[None]:
    """Turn what tacit raises on purpose into a sentence and an exit status.

    So are full memory and what the system refuses. Warnings become a line each.

    Args:
        resumable: Whether the command can go on where it was interrupted.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show
            yield
    except TacitError as error:
        if not _is_told_elsewhere(error):
            _tell("error", str(error))
        raise typer.Exit(UNUSABLE) from error
    except (MemoryError, RuntimeError, OSError) as error:
        _tell("error", _sentence(error))
        raise typer.Exit(UNUSABLE) from error
    except KeyboardInterrupt as error:
        again = "; the same command with --resume goes on from here" if resumable else ""
        sys.stderr.write(f"interrupted{again}.\n")
        raise typer.Exit(INTERRUPTED) from error


def _sentence(error: Exception) -> str:
    """What to say of an exception that is not tacit's; one that nobody foresaw is raised again."""
    if isinstance(error, typer.Exit | BrokenPipeError):
        raise error
    if type(error).__name__ in _NO_MEMORY or "can't allocate memory" in str(error):
        return (
            "the memory is full; lower --batch-size or --members, choose a smaller predictor, or "
            "use a larger machine."
        )
    if isinstance(error, OSError) and error.strerror:
        where = f"'{error.filename}': " if error.filename else ""
        return f"{where}the system says: {error.strerror}; mend that, or name another path."
    if "gloo" in str(error).lower() or "nccl" in str(error).lower():
        return "the connection to another process broke; see what that one says."
    raise error


def _is_told_elsewhere(error: TacitError) -> bool:
    """Whether another process says what is wrong."""
    processes = sys.modules.get("tacit._processes")
    return processes is not None and isinstance(error, processes.ElsewhereError)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning in one line; where in a library's code it arose helps nobody here."""
    del category, filename, lineno, file, line
    _tell("warning", " ".join(str(message).split()))


def _tell(kind: str, text: str) -> None:
    sys.stderr.write(f"{kind}: {text}\n")
