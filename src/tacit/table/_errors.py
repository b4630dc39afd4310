"""The sentences that refuse a file, and what turns other libraries' exceptions into them."""

from __future__ import annotations

from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, TypeVar

from tacit.errors import InvalidInputError, TacitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Any

__all__ = ["did_you_mean", "guarded", "is_utf8", "listed", "reading", "refused", "shown"]

T = TypeVar("T")

_LONGEST: Final = 60
"""Characters of a value that a sentence shows."""


def refused(
    path: Path | str,
    what: str,
    fix: str,
    *,
    row: int | None = None,
    ids: Any = None,
    column: str | None = None,
) -> InvalidInputError:
    """Build the exception for a file that cannot be used.

    Args:
        path: The file.
        what: What is wrong with it.
        fix: What to do about it, a clause of its own.
        row: The first row that is wrong, counted from 0.
        ids: The ids of the rows, where there are any.
        column: The column that is wrong.

    Example:
        >>> str(refused("b.csv", "holds -1.0", "write 0 for never", row=3, ids=[4, 5, 6, 17]))
        '`b.csv`, row 3 (id 17): holds -1.0; write 0 for never.'
    """
    place = ""
    if row is not None:
        whose = "counted from 0" if ids is None else f"id {shown(ids[row])}"
        place += f", row {row} ({whose})"
    if column is not None:
        place += f", column `{column}`"
    return InvalidInputError(f"`{path}`{place}: {what}; {fix}.")


def shown(value: Any, most: int = _LONGEST) -> str:
    """A value as a sentence shows it: text without quotes where that is clear, and never long."""
    plain = value.as_py() if hasattr(value, "as_py") else value
    clear = isinstance(plain, str) and plain.strip() == plain != "" and plain.isprintable()
    text = plain if clear else repr(plain)
    return text if len(text) <= most else text[:most] + "..."


def listed(values: Sequence[Any], most: int = 5) -> str:
    """The first few of many values.

    Example:
        >>> listed(["a", "b", "c"], most=2)
        'a, b, ...'
    """
    few = ", ".join(shown(value) for value in values[:most])
    return few + (", ..." if len(values) > most else "")


def is_utf8(text: str) -> bool:
    """Whether a text is not empty and can be written as UTF-8, which odd names of files cannot."""
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question that suggests the spelling meant, or nothing.

    Example:
        >>> did_you_mean("labl", ["id", "label"])
        ' (did you mean `label`?)'
    """
    known = list(names)
    near = get_close_matches(name, known, n=1) or [
        each for each in known if each.casefold() == name.casefold()
    ]
    return f" (did you mean `{near[0]}`?)" if near else ""


@contextmanager
def reading(path: Path | str, kind: str) -> Iterator[None]:
    """Turn whatever a library raises over the bytes of a file into a refusal.

    Readers meet damaged files with exceptions of many kinds, so all are caught; what stands inside
    should be the call of the library alone.
    """
    try:
        yield
    except TacitError:
        raise
    except PermissionError as error:
        raise refused(path, "may not be read", "grant permission to read it") from error
    except MemoryError as error:
        raise refused(
            path, "does not fit into memory", "split it, or use a larger machine"
        ) from error
    except Exception as error:
        # Of a library's message the first line, which says what; its own full stop goes.
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise refused(
            path,
            f"cannot be read as {kind} ({shown(reason.rstrip('. '), 2 * _LONGEST)})",
            "write the file anew, and check that it was copied whole",
        ) from error


def guarded(items: Iterator[T], path: Path | str, kind: str) -> Iterator[T]:
    """The items of a library's iterator, whose exceptions become refusals."""
    while True:
        with reading(path, kind):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item
