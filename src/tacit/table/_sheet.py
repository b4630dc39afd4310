"""A file of named columns, whatever its format, read part by part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tacit.table._errors import refused, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

__all__ = ["Part", "Sheet"]


class Part(NamedTuple):
    """Some rows that follow each other.

    Attributes:
        start: Number of the first of them.
        columns: Their values, by the name of the column.
    """

    start: int
    columns: dict[str, pa.Array]


class Sheet(ABC):
    """A file of named columns.

    Attributes:
        path: The file.
        names: Its columns, each with another name.
        numeric: Those that hold numbers, as far as the file tells: all of a Parquet file's, and
            those that begin with one in a CSV file.
        n_rows: Number of its rows, at least 1.
        typed: Whether the file says which columns hold numbers and which text.
    """

    path: Path
    names: tuple[str, ...]
    numeric: frozenset[str]
    n_rows: int
    typed: bool

    def parts(self, *, numbers: Sequence[str] = (), texts: Sequence[str] = ()) -> Iterator[Part]:
        """Read some columns.

        Args:
            numbers: Columns to read as numbers; what is none is refused.
            texts: Columns to read as what they are in a Parquet file, and as text from a CSV file.

        Yields:
            Their rows in the order of the file, part by part.
        """
        start = 0
        for columns in self._columns(numbers, texts):
            stop = start + len(next(iter(columns.values())))
            if stop > self.n_rows:
                break
            yield Part(start, columns)
            start = stop
        else:
            stop = start
        if stop != self.n_rows:
            raise refused(
                self.path,
                f"has other rows than the {self.n_rows} that it announces",
                "write the file anew, and leave it alone while it is read",
            )

    @abstractmethod
    def _columns(
        self, numbers: Sequence[str], texts: Sequence[str]
    ) -> Iterator[dict[str, pa.Array]]:
        """The columns that are asked for, part by part."""

    def _check_names(self) -> None:
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise refused(
                self.path,
                f"has {Counter(self.names)[twice[0]]} columns called `{shown(twice[0])}`",
                "give each a name of its own",
            )
        if any(not name.strip() for name in self.names):
            raise refused(
                self.path,
                "has a column without a name",
                "name it, or leave it out (of pandas' tables by to_csv(path, index=False))",
            )

    def _check_rows(self) -> None:
        if self.n_rows <= 0:
            raise refused(
                self.path, "has the names of columns but no rows", "write at least one row"
            )
