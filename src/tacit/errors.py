"""The exceptions that tacit raises, and the one way in which their sentences are built."""

from __future__ import annotations

__all__ = [
    "CollapseWarning",
    "InvalidInputError",
    "MissingExtraError",
    "ModelError",
    "TacitError",
    "refuse",
]


class TacitError(Exception):
    """Base of every exception that tacit raises on purpose."""


class InvalidInputError(TacitError, ValueError):
    """An argument was not what it must be; the message says which, what came and how to fix it."""


class MissingExtraError(TacitError, ImportError):
    """An optional dependency is missing; the message names the extra that brings it."""


class ModelError(TacitError):
    """A stored model cannot be written, or read, or does not fit what it is used with."""


class CollapseWarning(UserWarning):
    """A fit degenerated: the prediction ignores the features, or a class has vanished from it."""


def refuse(argument: str, must: str, got: str, fix: str) -> InvalidInputError:
    """Build the exception for a bad argument; every refusal of tacit has this shape.

    Args:
        argument: Name of the argument as the caller wrote it.
        must: What was expected, completing "must ...".
        got: What came instead, completing "but ...", with the first offending row.
        fix: What to do about it, a clause of its own.

    Returns:
        The exception, to be raised by the caller.

    Example:
        >>> str(refuse("smoothing", "be at least 0", "it is -1.0", "pass 0 to switch it off"))
        '`smoothing` must be at least 0, but it is -1.0; pass 0 to switch it off.'
    """
    return InvalidInputError(f"`{argument}` must {must}, but {got}; {fix}.")
