"""Beliefs as they come out of a file, and the one way to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.beliefs import Belief

__all__ = ["Beliefs", "finished", "read_beliefs"]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a file says about the labels of a collection, in the order of its features.

    Attributes:
        belief: A `Categorical` of probabilities, `Candidates` of candidates, excluded labels and
            labels, `Pairs` of pairs; it covers all rows.
        classes: The names of the classes, in the belief's order.
        kind: How the file was read: "probabilities", "candidates", "excluded", "labels" or
            "pairs".
        n_informed: Number of rows about which something is said: not every class is as likely
            as any other, or the row is in a pair.
        source: The path as it was given.
        notes: What is odd without being wrong, a sentence each.
    """

    belief: Belief
    classes: tuple[str, ...]
    kind: str
    n_informed: int
    source: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.belief)


def finished(
    kind: str,
    belief: Belief,
    classes: Sequence[str],
    n_informed: int,
    source: object,
    notes: Sequence[str],
) -> Beliefs:
    """Put together what was read, and note of how many rows nothing is known."""
    n_unknown = len(belief) - n_informed
    unknown = (f"Nothing is known of {n_unknown} of {len(belief)} rows.",) if n_unknown else ()
    return Beliefs(belief, tuple(classes), kind, n_informed, str(source), (*notes, *unknown))


def read_beliefs(
    path: str | os.PathLike[str],
    *,
    ids: pa.Array | NDArray[np.generic] | Sequence[object] | None,
    n_rows: int,
    classes: Sequence[str] | int | None = None,
    id_column: str | None = None,
) -> Beliefs:
    r"""Read beliefs from a file and put them in the order of the features.

    The columns of a Parquet or CSV file decide how it is read:

    | kind | columns beside the ids | says of a row |
    |---|---|---|
    | probabilities | one of numbers for each class | how likely each class is, up to a factor |
    | candidates | `candidates` | which classes it may have; empty: nothing is known |
    | excluded | `excluded` | which classes it has not; empty: nothing is known |
    | labels | `label` | its class; empty: nothing is known |
    | pairs | `first`, `second` (ids), `relation` | how two labels compare |

    Relations are `>`, `>=`, `=`, `!=`, `<` and `<=`. Candidates and excluded labels are lists of
    names in Parquet, or text in which `|` or `;` stands between the names. Whole numbers are the
    names of classes that are called so. An `.npz` file has the same names as keys, and may hold
    "ids" and "classes": "beliefs" is a table of probabilities, "candidates" and "excluded" are
    masks, `(rows, class)`, each row of which must leave a class; "label", "first", "second" and
    "relation" have one entry per row. An `.npy` file holds probabilities (floating-point numbers)
    or candidates (booleans), `(rows, class)`. Where a file can be read in two ways it is refused;
    columns of text that say nothing of labels are passed over, and noted.

    Rows are joined by id if both sides have ids, whatever their order; a number joins its text
    (7 and "7", not "007"). Features without ids go by their numbers: ids that are whole numbers are
    then the features' rows, from 0. Otherwise rows are joined by position, and there must be as
    many. Of features without a row in the file nothing is known; rows whose ids no features have
    are passed over, and noted, but refused if there are no others.

    Args:
        path: The file.
        ids: The ids of the features' rows, as in `Features.ids`; None where they go by
            their numbers, from 0, which is also what pairs then name.
        n_rows: Number of the features' rows.
        classes: The names of the classes in their order, or how many there are, if they are called
            "0", "1" and so on. Unless given: the columns, or all names in the file, sorted (numbers
            by value). Pairs need them, the lowest first.
        id_column: The column of ids; unless given, the column "id" (the key "ids" of an
            `.npz` file), if there is one.

    Returns:
        The belief and the names of its classes. What is odd, such as rows of which nothing is
        known, is in their `notes`.

    Raises:
        InvalidInputError: If the file is missing, damaged, empty or ambiguous; if ids are missing,
            come twice or do not join; if it names an unknown class; if a row of probabilities is
            not one; if a row leaves no class; if a pair names an unknown id, or an instance is in
            two. The sentence names the file and the row.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "beliefs.csv")
        ...     _ = path.write_text("id,candidates\nb,cat|dog\na,owl\n")
        ...     beliefs = read_beliefs(path, ids=["a", "b", "c"], n_rows=3)
        >>> beliefs.classes, beliefs.n_informed
        (('cat', 'dog', 'owl'), 2)
        >>> beliefs.belief.labels()
        [[2], [0, 1], [0, 1, 2]]
    """
    from tacit.table._read_beliefs import read

    return read(path, ids, n_rows, classes, id_column)
