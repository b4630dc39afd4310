"""Tables of co-occurrence from Parquet and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.table._cooccurrence import Cooccurrence
from tacit.table._named_table import named_table

if TYPE_CHECKING:
    import os

__all__ = ["read"]


def read(path: str | os.PathLike[str]) -> Cooccurrence:
    """Read a table; see `tacit.table.read_cooccurrence`."""
    return Cooccurrence(*named_table(path, "table of co-occurrence"))
