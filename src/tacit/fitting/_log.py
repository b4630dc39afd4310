"""Metrics as JSON lines, one for each epoch of each run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tacit._files import write_atomically
from tacit.fitting._checkpoint import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tacit.fitting._record import Record

__all__ = ["Log"]


class Log:
    """A file of records.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def start(self, records: Iterable[Record]) -> None:
        """Begin with these records: none for a new run, those of the checkpoint for a resumed."""
        lines = "".join(_line(record) for record in records)
        write_atomically(self._path, lambda file: file.write(lines.encode()), error=CheckpointError)

    def add(self, record: Record) -> None:
        """Append a record."""
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(record))
        except OSError as error:
            raise CheckpointError(
                f"'{self._path}' cannot be written ({error.strerror}); make room and resume."
            ) from error


def _line(record: Record) -> str:
    return json.dumps(record.as_dict()) + "\n"
