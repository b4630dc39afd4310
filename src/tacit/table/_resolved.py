"""Resolved labels on their way into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["write_resolved"]


def write_resolved(
    path: str | os.PathLike[str],
    *,
    ids: pa.Array | NDArray[np.generic] | Sequence[object] | None,
    classes: Sequence[str],
    prediction: Tensor | NDArray[np.floating],
    posterior: Tensor | NDArray[np.floating] | None = None,
    belief: Belief | None = None,
    told: Tensor | None = None,
) -> None:
    """Write resolved labels as Parquet, all or nothing.

    One row per instance, in the order of the features: `id`, `label` (the class where r is
    largest), `entropy` of r in nats, and for each class `r_<class>`, the posterior, `q_<class>`,
    the prediction, and `p_<class>`, the belief's marginal, as float32. Without a posterior, label
    and entropy are those of q. Where sources tell of some rows only, `told` says of which. The
    file's schema says so too, under the key "description" of each
    column. Where belief and evidence exclude each other, and all of r is zero, label and entropy
    are null.

    The file is written beside its place, under a hidden name, and put there when it is complete and
    on the disk; what was there before stays until then.

    Args:
        path: The file to write; its name ends in .parquet.
        ids: The ids of the rows; None for their numbers, from 0.
        classes: The names of the classes.
        prediction: The prediction q, `(rows, class)`.
        posterior: The posterior r, `(rows, class)`, where there were beliefs.
        belief: The belief about the same rows; where instances stand alone, its marginals p are
            taken some rows at a time.
        told: The rows that sources tell of, `(rows,)`; None where that is no question.

    Raises:
        InvalidInputError: If the arguments do not fit each other, or hold NaN.
        TacitError: If the file cannot be written: a full disk, a folder that is missing or
            read-only.

    Example:
        >>> import numpy as np
        >>> import pyarrow.parquet
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> r, q = np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "resolved.parquet")
        ...     write_resolved(
        ...         path,
        ...         ids=["a"],
        ...         classes=("cat", "dog"),
        ...         posterior=r,
        ...         prediction=q,
        ...     )
        ...     table = pyarrow.parquet.read_table(path)
        >>> table.column_names
        ['id', 'label', 'entropy', 'r_cat', 'r_dog', 'q_cat', 'q_dog']
        >>> table["label"].to_pylist(), table["r_dog"].to_pylist()
        (['dog'], [0.75])
    """
    from tacit.table._write import write

    write(path, ids, classes, posterior, prediction, belief, told)
