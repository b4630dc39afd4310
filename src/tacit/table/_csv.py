"""CSV files, read block by block; what a column holds is asked for, and never guessed."""

from __future__ import annotations

import re
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tacit.table._errors import reading, refused, shown
from tacit.table._sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["Csv"]

_BLOCK: Final = 1 << 22
"""Bytes that are read at a time; no row may be longer."""

_BAD_CELL: Final = re.compile(r"CSV column #(\d+): Row #(\d+): .* invalid value '(.*)'", re.DOTALL)
_BAD_TEXT: Final = re.compile(r"CSV column #(\d+): Row #(\d+): .* invalid UTF8")
_RAGGED: Final = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
"""What pyarrow says. Its rows count from 1 and include the header."""


class Csv(Sheet):
    """A CSV file: UTF-8, names in the first line, commas between columns (tabs in `.tsv`).

    Args:
        path: The file, which may be compressed.
    """

    typed = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self._check_encoding()
        self._tabs = path.name.lower().endswith((".tsv", ".tsv.gz"))
        self._one_column = False
        with self._refusing():
            schema = self._open({}).schema
            self.names = tuple(schema.names)
        self._one_column = len(self.names) == 1
        self._check_names()
        self._check_delimiter()
        kinds = dict(zip(schema.names, schema.types, strict=True))
        self._boolean = frozenset(name for name in kinds if pa.types.is_boolean(kinds[name]))
        numeric = (
            name
            for name in kinds
            if pa.types.is_floating(kinds[name]) or pa.types.is_integer(kinds[name])
        )
        self.numeric = self._boolean.union(numeric)
        with self._refusing():
            self.n_rows = sum(len(batch) for batch in self._open({self.names[0]: pa.binary()}))
        self._check_rows()

    def _columns(
        self, numbers: Sequence[str], texts: Sequence[str]
    ) -> Iterator[dict[str, pa.Array]]:
        types = {name: pa.bool_() if name in self._boolean else pa.float64() for name in numbers}
        types |= dict.fromkeys(texts, pa.string())
        start = 0
        for batch in self._batches(types):
            for name in texts:
                self._check_text(name, batch.column(name), start)
            start += len(batch)
            yield {name: batch.column(name) for name in types}

    def _batches(self, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        with self._refusing():
            try:
                yield from self._open(types, threads=True)
            except pa.ArrowInvalid:
                # On one thread pyarrow knows the number of the row that it stumbles over.
                deque(self._open(types), maxlen=0)
                raise

    def _open(self, types: Mapping[str, pa.DataType], *, threads: bool = False) -> Any:
        return pyarrow.csv.open_csv(
            str(self.path),
            read_options=pyarrow.csv.ReadOptions(use_threads=threads, block_size=_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter="\t" if self._tabs else ",",
                newlines_in_values=True,
                # In a single column an empty line is an empty value.
                ignore_empty_lines=not self._one_column,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, include_columns=list(types)
            ),
        )

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn what pyarrow says of a file into a sentence about the row and the column."""
        with reading(self.path, "CSV"):
            try:
                yield
            except pa.ArrowInvalid as error:
                if (refusal := self._refusal(str(error))) is not None:
                    raise refusal from error
                raise
            except UnicodeDecodeError as error:
                raise self._not_utf8() from error

    def _refusal(self, said: str) -> Exception | None:
        if cell := _BAD_CELL.search(said):
            name, value = self.names[int(cell[1])], cell[3]
            return refused(
                self.path,
                f"holds {shown(value)}, which is not {self._expected(name)}",
                "write a number, or leave the column out",
                row=int(cell[2]) - 2,
                column=name,
            )
        if text := _BAD_TEXT.search(said):
            return self._not_utf8(row=int(text[2]) - 2, column=self.names[int(text[1])])
        if ragged := _RAGGED.search(said):
            return refused(
                self.path,
                f"has {ragged[3]} columns, and the first line has {ragged[2]}",
                'write as many in each row, and values with a comma in quotes, as in "a,b"',
                row=int(ragged[1]) - 2,
            )
        return self._refusal_of_all(said)

    def _refusal_of_all(self, said: str) -> Exception | None:
        if "straddl" in said:
            return refused(
                self.path,
                f"has a row of more than {_BLOCK >> 20} MB",
                "look for a quotation mark that is never closed",
            )
        if "mpty CSV" in said:
            return refused(self.path, "has no rows", "write the names of the columns, then rows")
        return None

    def _expected(self, name: str) -> str:
        return "true or false like those before" if name in self._boolean else "a number"

    def _not_utf8(self, row: int | None = None, column: str | None = None) -> Exception:
        return refused(
            self.path, "holds text that is not UTF-8", "save it as UTF-8", row=row, column=column
        )

    def _check_encoding(self) -> None:
        with reading(self.path, "CSV"), pa.input_stream(str(self.path)) as stream:
            beginning = stream.read(2)
        if beginning in (b"\xff\xfe", b"\xfe\xff"):
            raise refused(self.path, "is UTF-16", "save it as UTF-8")

    def _check_delimiter(self) -> None:
        (name, *others) = self.names
        marks = ";|," if self._tabs else ";|\t"
        if not others and (mark := next((each for each in marks if each in name), None)):
            raise refused(
                self.path,
                f"has one column only, called {shown(name)}",
                f"write {'tabs' if self._tabs else 'commas'} between the columns, not {mark!r}",
            )

    def _check_text(self, name: str, column: pa.Array, start: int) -> None:
        wrong = pc.index(pc.match_substring(column, "\0"), True).as_py()
        if wrong >= 0:
            raise refused(
                self.path,
                f"holds a null byte ({shown(column[wrong])})",
                "write the file anew, as text",
                row=start + wrong,
                column=name,
            )
