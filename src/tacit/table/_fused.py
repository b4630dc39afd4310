"""Beliefs of several files about one collection, made into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.sources import Taxonomy
    from tacit.table._accuracies import Accuracies
    from tacit.table._asked import How
    from tacit.table._beliefs import Beliefs
    from tacit.table._cooccurrence import Cooccurrence
    from tacit.table._reliabilities import Reliabilities
    from tacit.table._transition import Transition

__all__ = ["read_fused"]


def read_fused(
    paths: Mapping[str, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]],
    *,
    ids: pa.Array | NDArray[np.generic] | Sequence[object] | None,
    n_rows: int,
    classes: Sequence[str] | int | None = None,
    id_column: str | None = None,
    how: Literal["product", "linear"] = "product",
    weights: Mapping[str, float] | None = None,
    abstaining: float | Mapping[str, float] = 0.0,
    votes: How | Reliabilities | Accuracies | None = None,
    taxonomy: Taxonomy | None = None,
    cooccurrence: Cooccurrence | None = None,
    question: str | None = None,
    transition: Transition | None = None,
    trusted: str | os.PathLike[str] | None = None,
) -> Beliefs:
    r"""Read beliefs from several files, and fuse them, see `tacit.sources.fuse`.

    Classes are joined by name. Where a file does not have a class that another has, its candidates
    and labels exclude it, nobody votes for it, and probabilities give it the mean of those that are
    there, which speaks neither for nor against it; the notes say so.

    Votes that count the same (majority) say nothing of a row without votes of which another file
    tells. Of rows that no file tells of the balance of the votes is known, and they are not learned
    from (`Beliefs.weight`).

    Args:
        paths: The files, by the names of their sources; files without names go by their stems.
        ids: As for `read_beliefs`, like `n_rows` and `id_column`.
        n_rows: Number of the features' rows.
        classes: The names of the classes, in order, or how many there are; unless given all that
            the files have, in the order in which they come.
        id_column: The column of ids, in all files.
        how: "product" or "linear".
        weights: The weight of each source, by name; 1 unless given.
        abstaining: Share of a source's belief that is spread over all classes, one or by name.
        votes: As for `read_beliefs`, like all that follow.
        taxonomy: The tree that labels are names of; a product counts its weights once.
        cooccurrence: How observed classes come with the classes.
        question: The question of an export whose answers are read.
        transition: How labels come from true ones, in all files of labels; those that are certain
            may stand in a column `candidates`.
        trusted: A file of a few true labels, from which the transition is counted.

    Returns:
        The belief, a `Fused`, of kind "fused"; `sources` are the names of what was fused, `parts`
        what each of them says.

    Raises:
        InvalidInputError: If a file cannot be used, compares rows, or has no class in common with
            the others; if an instance is left no class that all sources allow.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     known, guess = Path(folder, "known.csv"), Path(folder, "guess.csv")
        ...     _ = known.write_text("id,candidates\na,cat|dog\nb,owl\n")
        ...     _ = guess.write_text("id,cat,dog,owl\na,0.6,0.2,0.2\nb,0.4,0.3,0.3\n")
        ...     beliefs = read_fused([known, guess], ids=["a", "b"], n_rows=2)
        >>> beliefs.belief.marginals()
        tensor([[0.7500, 0.2500, 0.0000],
                [0.0000, 0.0000, 1.0000]])
    """
    from tacit.table._asked import asked
    from tacit.table._read_fused import read

    said = asked(classes, id_column, votes, taxonomy, cooccurrence, question, transition, trusted)
    return read(paths, ids, n_rows, said, how=how, weights=weights, abstaining=abstaining)
