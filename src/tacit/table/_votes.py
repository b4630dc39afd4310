"""What votes in a file amount to, in whatever format they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import torch

from tacit.beliefs import Categorical
from tacit.sources import Votes, dawid_skene, majority, way_for, with_accuracies
from tacit.table._accuracies import Accuracies
from tacit.table._beliefs import finished
from tacit.table._classes import codes_of, in_order, sorted_names
from tacit.table._errors import listed, refused
from tacit.table._ids import places_of
from tacit.table._memory import check_room
from tacit.table._reliabilities import Reliabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.beliefs import Independent
    from tacit.sources import Voted
    from tacit.table._asked import How
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join

__all__ = ["Ballots", "believed", "believed_names", "counted"]


class Ballots(NamedTuple):
    """Votes as they stand in a file, one by one.

    Attributes:
        row: The row of the file that each is in, in ascending order.
        source: Who said it, by name.
        label: What was said, by name.
        weight: How much of a vote it is; None for one each.
    """

    row: NDArray[np.int64]
    source: pa.Array
    label: pa.Array
    weight: NDArray[np.float64] | None = None


def believed_names(
    ballots: Ballots,
    sources: Sequence[str] | pa.Array,
    classes: Sequence[str] | None,
    join: Join,
    how: How | Reliabilities | Accuracies | None,
    path: Path,
    notes: Sequence[str] = (),
    *,
    all_asked: bool = False,
) -> Beliefs:
    """The belief that votes by name amount to.

    Args:
        ballots: The votes.
        sources: All that may vote, those that abstain everywhere among them.
        classes: The names of the classes; None for all that are voted for.
        join: Which row of the file speaks of which of the features.
        how: How votes become a belief; None for what their sources allow.
        path: The file.
        notes: What is odd about it.
        all_asked: Whether each source was asked about each row of the file.
    """
    known = in_order(ballots.label.unique().to_pylist(), path) if classes is None else classes
    names = sorted_names(pa.array(sources, pa.large_string()).unique().to_pylist())
    codes = codes_of(ballots.label, known, path, "label", rows=ballots.row, ids=join.ids)
    votes = counted(
        join,
        ballots.row,
        places_of(ballots.source.cast(pa.large_string()), pa.array(names, pa.large_string())),
        codes,
        ballots.weight,
        (len(names), len(known)),
        all_asked=all_asked,
    )
    return believed(votes, names, known, how, join, path, notes)


def counted(
    join: Join,
    row: NDArray[np.int64],
    source: NDArray[np.int64],
    answer: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    sizes: tuple[int, int],
    *,
    all_asked: bool = False,
) -> Votes:
    """Votes on rows of a file as votes on those of the features; others are passed over.

    Args:
        join: Which row of the file speaks of which of the features.
        row: The row of the file of each vote.
        source: Number of its source.
        answer: Number of what was said.
        weight: How much of a vote it is; None for one each.
        sizes: How many sources and classes there are.
        all_asked: Whether each source was asked about each row of the file.
    """
    item = row if join.row_of is None else join.row_of[row]
    kept = item >= 0
    own = None if weight is None else torch.from_numpy(weight[kept])
    columns = (torch.from_numpy(each[kept].astype(np.int64)) for each in (item, source, answer))
    return Votes.from_lists(
        *columns,
        weight=own,
        n_items=join.n_rows,
        n_sources=sizes[0],
        n_classes=sizes[1],
        all_asked=all_asked,
    )


def believed(
    votes: Votes,
    sources: Sequence[str],
    classes: Sequence[str],
    how: How | Reliabilities | Accuracies | None,
    join: Join,
    path: Path,
    notes: Sequence[str] = (),
) -> Beliefs:
    """The belief that votes amount to.

    Args:
        votes: The votes on the rows of the features.
        sources: The names of the sources.
        classes: The names of the classes.
        how: How votes become a belief; None for what their sources allow.
        join: Which row of the file speaks of which of the features.
        path: The file.
        notes: What is odd about it.
    """
    left_out: list[str] = []
    if isinstance(how, Reliabilities):
        votes, sources, left_out = _of_known(votes, sources, how, path)
    heard = torch.bincount(votes.source, minlength=len(sources)) > 0
    way = how or way_for(votes)
    _check_room(votes, way, path)
    belief: Independent
    belief, voted = majority(votes), None
    if way != "majority":
        belief, voted = _weighed(votes, join, _weigher(way, sources, classes, path))
    said = f"{len(votes):,} votes of {len(sources):,} sources were combined by {_called(way)}."
    n_voted, n_asked = len(votes.item.unique()), len(_asked(join))
    found = [*join.notes, *notes, *left_out, *_notes(votes, sources, classes, heard), said]
    speaks = voted is not None and _hears_silence(voted) and n_voted > 0
    if speaks and n_voted < n_asked:
        found.append(
            f"{n_asked - n_voted} rows have no votes, and go by the silence of all sources."
        )
    told = votes.heard()
    if speaks:
        told[_asked(join)] = True
    beliefs = finished("votes", belief, classes, int(told.sum()), path, found)
    return beliefs.with_votes(votes, tuple(sources), voted, told)


def _asked(join: Join) -> NDArray[np.int64]:
    """The rows of the features that the file speaks of."""
    if join.row_of is None:
        return np.arange(join.n_rows)
    return np.unique(join.row_of[join.row_of >= 0])


def _weigher(
    way: str | Reliabilities | Accuracies,
    sources: Sequence[str],
    classes: Sequence[str],
    path: Path,
) -> Callable[[Votes], Voted]:
    """What makes a belief of votes: reliabilities learned of these, or before, or stated."""
    if isinstance(way, Accuracies):
        shares = way.of(sources, path)
        return lambda votes: with_accuracies(votes, shares)
    if isinstance(way, Reliabilities):
        return lambda votes: way.belief(votes, sources, classes)
    return dawid_skene


def _called(way: str | Reliabilities | Accuracies) -> str:
    if isinstance(way, Accuracies):
        return "the accuracies that were given"
    return way if isinstance(way, str) else "the reliabilities that the run has learned"


def _of_known(
    votes: Votes, sources: Sequence[str], learned: Reliabilities, path: Path
) -> tuple[Votes, Sequence[str], list[str]]:
    """The votes of sources whose reliability is known, and a note on those that are left out."""
    known, strange = learned.split(sources)
    if not known:
        raise refused(
            path,
            f"has votes of {listed(strange)}, and the run has learned of {listed(learned.sources)}",
            "call the sources as in the run, or count all votes the same (majority)",
        )
    if not strange:
        return votes, sources, []
    note = (
        f"{len(strange)} of {len(sources)} sources are unknown to the run, and their votes were "
        f"left out: {listed(strange)}."
    )
    return votes.of_sources([sources.index(name) for name in known]), known, [note]


def _weighed(
    votes: Votes, join: Join, weigh: Callable[[Votes], Voted]
) -> tuple[Independent, Voted]:
    """The belief by reliabilities, about all rows, and about those that the file speaks of.

    Of rows that nobody was asked about only the balance is known.
    """
    rows = torch.from_numpy(_asked(join))
    if not votes.all_asked or len(rows) == join.n_rows:
        voted = weigh(votes)
        return voted, voted
    voted = weigh(votes.on(rows))
    table = voted.balance.float().repeat(votes.n_items, 1)
    table[rows] = voted.marginals()
    return Categorical(table), voted


def _hears_silence(voted: Voted) -> bool:
    """Whether to abstain is an answer."""
    return voted.reliability.shape[-1] > voted.n_classes


def _check_room(votes: Votes, how: str | Reliabilities | Accuracies, path: Path) -> None:
    cells = votes.n_items * votes.n_classes
    if how != "majority":
        # Labels before and after a step, and the tables of reliability with their logs.
        cells = 4 * cells + 4 * votes.n_sources * votes.n_classes**2
    fix = "try votes='majority', split it, or use a larger machine"
    check_room(path, 8 * cells, fix if how != "majority" else None)


def _notes(
    votes: Votes, sources: Sequence[str], classes: Sequence[str], heard: torch.Tensor
) -> list[str]:
    """What is odd about votes."""
    notes = []
    silent = [sources[place] for place in (~heard).nonzero().flatten().tolist()]
    if silent:
        notes.append(
            f"{len(silent)} of {len(sources)} sources abstain everywhere: {listed(silent)}."
        )
    said = torch.bincount(votes.answer, minlength=len(classes)) > 0
    never = [classes[place] for place in (~said).nonzero().flatten().tolist()]
    if never and len(votes):
        notes.append(f"Nobody votes for {listed(never)}.")
    return notes
