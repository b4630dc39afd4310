"""Tables of co-occurrence in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import os

    from torch import Tensor

__all__ = ["Cooccurrence", "read_cooccurrence"]


class Cooccurrence(NamedTuple):
    """How observed classes come with the classes that are sought.

    Attributes:
        observed: The names of the observed classes.
        classes: The names of the classes.
        table: How likely each class is where one is observed, `(observed, class)`, up to a factor
            for each row; a row of zeros says nothing.
    """

    observed: tuple[str, ...]
    classes: tuple[str, ...]
    table: Tensor


def read_cooccurrence(path: str | os.PathLike[str]) -> Cooccurrence:
    r"""Read a table of co-occurrence for beliefs by an `observed` column.

    Args:
        path: A Parquet or CSV file: the observed classes in the first column, and one column of
            numbers for each class, as counts or as shares.

    Raises:
        InvalidInputError: If the file cannot be used; the sentence names the row.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "table.csv")
        ...     _ = path.write_text("zone,tree,water\nforest,9,1\nlake,0,5\n")
        ...     table = read_cooccurrence(path)
        >>> table.observed, table.classes, table.table.tolist()
        (('forest', 'lake'), ('tree', 'water'), [[9.0, 1.0], [0.0, 5.0]])
    """
    from tacit.table._read_cooccurrence import read

    return read(path)
