"""Tables of co-occurrence in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import os

    from torch import Tensor

__all__ = ["Cooccurrence", "read_cooccurrence", "write_cooccurrence"]


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


def write_cooccurrence(
    path: str | os.PathLike[str], table: Cooccurrence, *, observed: str = "observed"
) -> None:
    r"""Write a table of co-occurrence as CSV, as `read_cooccurrence` reads it.

    Args:
        path: The file; one that is there already is refused.
        table: The table.
        observed: What its first column is called.

    Raises:
        InvalidInputError: If the file is there.
        TacitError: If it cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import torch
        >>> table = Cooccurrence(("41",), ("tree", "road"), torch.tensor([[0.75, 0.25]]))
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "table.csv")
        ...     write_cooccurrence(path, table, observed="nlcd")
        ...     path.read_text()
        'nlcd,tree,road\n41,0.75,0.25\n'
    """
    import csv
    import io

    from tacit._files import write_atomically
    from tacit.table._errors import refused
    from tacit.table._paths import as_path

    place = as_path(path)
    if place.exists():
        raise refused(place, "is there already", "name a new file, or delete this one")
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([observed, *table.classes])
    for name, row in zip(table.observed, table.table.tolist(), strict=True):
        rows.writerow([name, *row])
    write_atomically(place, lambda file: file.write(text.getvalue().encode()))
