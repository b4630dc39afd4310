"""Transitions in files: what is written where what is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import os

    from torch import Tensor

__all__ = ["Transition", "read_transition"]


class Transition(NamedTuple):
    """How labels that are written down come from those that are true.

    Attributes:
        classes: The names of the classes; None where the file has none.
        table: T, `(class, written)`; rows sum to one.
    """

    classes: tuple[str, ...] | None
    table: Tensor


def read_transition(path: str | os.PathLike[str]) -> Transition:
    r"""Read the transition of noisy labels, see `tacit.sources.noisy_labels`.

    Args:
        path: A Parquet or CSV file: the true class in the first column, and for each class that may
            be written a column of shares, which sum to 1 in each row. Or an `.npy` file of the
            numbers alone, `(class, written)`, the classes in their order.

    Raises:
        InvalidInputError: If the file cannot be used; the sentence names the row.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "transition.csv")
        ...     _ = path.write_text("true,dog,cat\ncat,0.1,0.9\ndog,0.8,0.2\n")
        ...     transition = read_transition(path)
        >>> transition.classes, transition.table.tolist()
        (('cat', 'dog'), [[0.9, 0.1], [0.2, 0.8]])
    """
    from tacit.table._read_transition import read

    return read(path)
