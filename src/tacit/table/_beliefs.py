"""Beliefs as they come out of a file, and the one way to read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.beliefs import Belief
    from tacit.sources import Taxonomy, Voted, Votes
    from tacit.table._accuracies import Accuracies
    from tacit.table._asked import How
    from tacit.table._cooccurrence import Cooccurrence
    from tacit.table._reliabilities import Reliabilities
    from tacit.table._transition import Transition

__all__ = ["SPECIAL", "Beliefs", "check_voting", "finished", "read_beliefs"]

SPECIAL: Final = ("votes", "cooccurrence", "question", "transition", "trusted")
"""What is said of files of one kind only."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a file says about the labels of a collection, in the order of its features.

    Attributes:
        belief: A `Categorical` of probabilities and observed classes, `Candidates` of candidates,
            excluded labels and labels (`Voted` of labels with errors), `Pairs` of pairs, `Voted` or
            `Categorical` of votes, `Fused` of several files; it covers all rows.
        classes: The names of the classes, in the belief's order.
        kind: How the file was read: "probabilities", "candidates", "excluded", "labels",
            "observed", "pairs" or "votes"; "fused" for several files.
        n_informed: Number of rows about which something is said: not every class is as likely
            as any other, the row is in a pair, or it has a vote, or the silence of sources that
            were all asked.
        source: The path as it was given.
        notes: What is odd without being wrong, a sentence each, and how votes were combined.
        votes: The votes themselves, where these are what the file holds.
        sources: Who voted, by name, in the order of the votes' sources; the names of what was
            fused.
        voted: The belief about the rows that the file speaks of, where votes were weighed by the
            reliability of their sources.
        told: Of votes, alone or among several files, the rows that anything is told of,
            `(rows,)`; the others are resolved, but not learned from, see `tacit.sources.majority`.
        parts: What each file says that was fused, in the order of `sources`.
    """

    belief: Belief
    classes: tuple[str, ...]
    kind: str
    n_informed: int
    source: str
    notes: tuple[str, ...] = ()
    votes: Votes | None = None
    sources: tuple[str, ...] = ()
    voted: Voted | None = None
    told: Tensor | None = None
    parts: tuple[Beliefs, ...] = ()

    def __len__(self) -> int:
        return len(self.belief)

    def with_votes(
        self,
        votes: Votes,
        sources: tuple[str, ...],
        voted: Voted | None = None,
        told: Tensor | None = None,
    ) -> Beliefs:
        """The same with the votes that it comes from."""
        return replace(self, votes=votes, sources=sources, voted=voted, told=told)

    def learned(self, belief: Belief) -> Beliefs:
        """The same after the sources have learned along with a predictor."""
        from tacit.sources import Voted

        voted = belief if isinstance(belief, Voted) and self.voted is not None else self.voted
        return replace(self, belief=belief, voted=voted)

    def weight(self) -> Tensor | None:
        """Weight of each row in learning; None for equal ones."""
        if self.told is None or bool(self.told.all()) or not bool(self.told.any()):
            return None
        return self.told.float()

    def asked_for(
        self,
        *,
        votes: object = None,
        cooccurrence: object = None,
        question: object = None,
        transition: object = None,
        trusted: object = None,
    ) -> Beliefs:
        """The same with a note on what a caller said of files of another kind."""
        from tacit.table._accuracies import Accuracies

        kinds = [part.kind for part in self.parts] or [self.kind]
        by = "accuracies" if isinstance(votes, Accuracies) else "votes"
        is_export = ".json" in self.source.lower()
        idle = {
            by: votes is not None and "votes" not in kinds,
            "cooccurrence": cooccurrence is not None and "observed" not in kinds,
            "question": question is not None and not is_export,
            "transition": transition is not None and "labels" not in kinds,
            "trusted": trusted is not None and "labels" not in kinds,
        }
        what = " and ".join(dict.fromkeys(kinds))
        holder = "files hold" if self.parts else "file holds"
        notes = [
            f"`{name}` was given and does nothing, as the {holder} {what}."
            for name, does_nothing in idle.items()
            if does_nothing
        ]
        return replace(self, notes=(*self.notes, *notes))

    def noted(self) -> Beliefs:
        """The same with a note on rows that no source tells of."""
        if self.weight() is None or self.told is None:
            return self
        note = (
            f"{int((~self.told).sum())} rows of which nobody says anything go by their features, "
            "and are not learned from."
        )
        return replace(self, notes=(*self.notes, note))


def check_voting(votes: object, files: Iterable[Beliefs]) -> None:
    """Refuse accuracies of sources that vote in none of the files, if there are votes.

    Args:
        votes: How votes become a belief, as a caller says.
        files: What was read.
    """
    from tacit.table._accuracies import Accuracies

    voting = [each.sources for each in files if each.votes is not None]
    if isinstance(votes, Accuracies) and voting:
        votes.check_voting(chain(*voting))


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
    votes: How | Reliabilities | Accuracies | None = None,
    taxonomy: Taxonomy | None = None,
    cooccurrence: Cooccurrence | None = None,
    question: str | None = None,
    transition: Transition | None = None,
    trusted: str | os.PathLike[str] | None = None,
) -> Beliefs:
    r"""Read beliefs from a file and put them in the order of the features.

    The columns of a Parquet or CSV file decide how it is read:

    | kind | columns beside the ids | says of a row |
    |---|---|---|
    | probabilities | one of numbers for each class | how likely each class is, up to a factor |
    | candidates | `candidates` | which classes it may have; empty: nothing is known |
    | excluded | `excluded` | which classes it has not; empty: nothing is known |
    | labels | `label` | its class; empty: nothing is known |
    | observed | `observed` | a class of another classification; empty: nothing is known |
    | pairs | `first`, `second` (ids), `relation` | how two labels compare |
    | votes, one by one | `task` (or `item`, or the ids), `worker`, `label`, maybe `weight` | what \
one source says; a row is a vote, and an instance may have many |
    | votes, a matrix | `vote_...` or `lf_...`, one for each source | what each source says |

    Relations are `>`, `>=`, `=`, `!=`, `<` and `<=`. Candidates and excluded labels are lists of
    names in Parquet, or text in which `|` or `;` stands between the names. Whole numbers are the
    names of classes that are called so; only in a matrix of votes they are places of classes, from
    0, and -1 or nothing abstains. Where a file can be read in two ways it is refused; columns that
    say nothing of labels are passed over, and noted.

    An `.npz` file has the same names as keys, and may hold "ids" and "classes": "beliefs" is a
    table of probabilities, "candidates" and "excluded" are masks, `(rows, class)`, each row of
    which must leave a class; "votes" are signed whole numbers, `(rows, source)`, or soft votes,
    `(rows, source, class)`, of "sources", where these have names; the others have one entry per
    row. An `.npy` file holds probabilities (floating-point numbers) or candidates (booleans),
    `(rows, class)`, or votes (signed whole numbers), `(rows, source)`.

    JSON and JSON lines hold votes, in the records of WRENCH (`weak_labels`; the true `label` is
    never read), of Label Studio's JSON export (choices, by who completed the annotation) or of
    argilla (responses, by their users, and suggestions, by their agents and scores).

    Votes are weighed by `dawid_skene` if at least three sources vote and half of the instances that
    have votes have two or more, and count the same (majority) otherwise, unless it is said how. In
    a matrix all sources were asked, and to abstain is an answer too (`Votes.all_asked`).

    With a taxonomy, labels, candidates and excluded labels may be names of any level, and stand for
    the leaves below them.

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
            "0", "1" and so on. Unless given: the columns, the leaves of the taxonomy, or all names
            in the file, sorted (numbers by value). Pairs need them, the lowest first.
        id_column: The column of ids; unless given, the column "id" (the key "ids" of an
            `.npz` file), if there is one. Of a record of an export, also what it was made of may
            have it.
        votes: How votes become a belief, "dawid_skene" or "majority", see `tacit.sources`; or how
            often their sources are right, see `read_accuracies`; or what a run has learned of
            them, see `read_reliabilities`.
        taxonomy: The tree that labels are names of, see `read_taxonomy`.
        cooccurrence: How observed classes come with the classes, see `read_cooccurrence`.
        question: The question whose answers are read, where an export has several.
        transition: How labels come from true ones, where they were written down with errors, see
            `read_transition`; without it they are certain.
        trusted: A file of a few true labels, as for `read_truth`, from which the transition is
            counted; such a belief can learn along with a predictor.

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
    from tacit.table._asked import asked
    from tacit.table._read_beliefs import read

    said = asked(classes, id_column, votes, taxonomy, cooccurrence, question, transition, trusted)
    found = read(path, ids, n_rows, said)
    check_voting(votes, [found])
    return found.noted()
