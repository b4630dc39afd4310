"""Parquet files, read in slices of their row groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tacit.table._errors import guarded, reading, refused, shown
from tacit.table._sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["Parquet"]

_CELLS: Final = 1 << 20
_FEWEST: Final = 1 << 10
_MOST: Final = 1 << 16
"""Rows that are decoded at a time: as many as fit into a cache, within reason."""

_BUFFER: Final = 1 << 16
"""Bytes that are read of a column at a time; otherwise it is all that a row group has of it."""


class Parquet(Sheet):
    """A Parquet file.

    Args:
        path: The file.
    """

    typed = True

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path, "Parquet"), self._open() as file:
            schema, self.n_rows = file.schema_arrow, file.metadata.num_rows
            self.names = tuple(schema.names)
        self._types = dict(zip(schema.names, schema.types, strict=True))
        self.numeric = frozenset(name for name, kind in self._types.items() if _is_number(kind))
        self._check_names()
        self._check_rows()

    def _columns(
        self, numbers: Sequence[str], texts: Sequence[str]
    ) -> Iterator[dict[str, pa.Array]]:
        wanted = [*numbers, *texts]
        n_rows = min(max(_CELLS // len(wanted), _FEWEST), _MOST)
        with reading(self.path, "Parquet"):
            file = self._open()
        with file:
            # One row group after the other: pyarrow joins no categories of different ones in lists.
            batches = (
                batch
                for group in range(file.num_row_groups)
                for batch in file.iter_batches(n_rows, row_groups=[group], columns=wanted)
            )
            for batch in guarded(batches, self.path, "Parquet"):
                for name in numbers:
                    self._check_number(name, batch.column(name))
                with reading(self.path, "Parquet"):
                    columns = {name: _sound(batch.column(name)) for name in wanted}
                yield columns

    def _open(self) -> Any:
        return pq.ParquetFile(
            # Opened here: by its name pyarrow might take it for a place on the network.
            pa.OSFile(str(self.path)),
            buffer_size=_BUFFER,
            pre_buffer=False,  # or all row groups stay in memory until the last is read
            page_checksum_verification=True,
        )

    def _check_number(self, name: str, column: pa.Array) -> None:
        if name in self.numeric or pa.types.is_null(column.type):
            return
        row = next((row for row, cell in enumerate(column) if cell.is_valid), 0)
        raise refused(
            self.path,
            f"holds {shown(column[row])}, which is no number but {self._types[name]}",
            "store a number, or leave the column out",
            row=row,
            column=name,
        )


def _is_number(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_number(kind.value_type)
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )


def _sound(column: pa.Array) -> pa.Array:
    """A column whose texts and lists were looked at: a damaged file may hold what is neither."""
    if not pa.types.is_primitive(column.type):
        column.validate(full=True)
    return column
