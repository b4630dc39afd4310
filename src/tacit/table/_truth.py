"""True labels in a file, for a look at what a run has found; nothing is ever learned from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import os

    from torch import Tensor

__all__ = ["Truth", "read_truth"]


class Truth(NamedTuple):
    """True labels of the instances of a run.

    Attributes:
        labels: Their numbers, in the order of the run's table, -1 where unknown, `(instances,)`.
        notes: What is odd without being wrong.
    """

    labels: Tensor
    notes: tuple[str, ...]


def read_truth(
    path: str | os.PathLike[str],
    *,
    run: str | os.PathLike[str],
    id_column: str | None = None,
) -> Truth:
    """Read the true labels of a run's instances from a file, for `tacit.report.write_report`.

    Args:
        path: A Parquet, CSV or `.npz` file with a column of the names of classes called `label`,
            `truth` or `class`, empty where unknown, and ids as in the features; other columns are
            passed over. Or an `.npy` file, in the order of the features, of names or of whole
            numbers: the places of the classes, from 0, and -1 where unknown.
        run: The folder of the run.
        id_column: The column of ids.

    Raises:
        InvalidInputError: If the file cannot be used, or holds something else than labels.
        RunError: If the folder holds no run that has come to its end.
    """
    from tacit.table._read_truth import read

    return read(path, run, id_column)
