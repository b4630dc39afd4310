"""What a run has learned of the sources of its votes, kept for votes on new data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from torch import Tensor

    from tacit.sources import Voted, Votes
    from tacit.table._beliefs import Beliefs

__all__ = ["RELIABILITIES", "Reliabilities", "read_reliabilities", "write_reliabilities"]

RELIABILITIES: Final = "sources.safetensors"
"""The file in a model's folder that says how reliable the sources of its run are."""
_KIND: Final = "reliabilities of sources"


@dataclass(frozen=True, eq=False)
class Reliabilities:
    """How reliable the sources of votes are, by name, as a run has learned it.

    Attributes:
        sources: What they are called.
        classes: Names of the classes, in order.
        table: C, `(sources, class, answer)`; where all were asked, to abstain is the last answer.
        balance: π, `(class,)`.
    """

    sources: tuple[str, ...]
    classes: tuple[str, ...]
    table: Tensor
    balance: Tensor

    def split(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Those of the names that are names of sources, and the others."""
        known = {*self.sources}
        return [n for n in names if n in known], [n for n in names if n not in known]

    def belief(self, votes: Votes, names: Sequence[str], classes: Sequence[str]) -> Voted:
        """The belief that votes on new instances amount to; nothing is estimated from them.

        Where the votes do not say who was asked, what counts is what a source says when it votes.

        Args:
            votes: Of sources that are known.
            names: What each of them is called.
            classes: Names of the classes in the order of the votes.
        """
        from tacit.sources import Voted

        order = [self.classes.index(name) for name in classes]
        answers = [*order, *range(len(order), self.table.shape[2])]
        place = {name: number for number, name in enumerate(self.sources)}
        own = self.table[[place[name] for name in names]][:, order][..., answers]
        if not votes.all_asked:
            own = own[..., : len(order)]
            own = own / own.sum(-1, keepdim=True)
        return Voted(votes, own, self.balance[order], learns=False)


def write_reliabilities(folder: Path, beliefs: Beliefs) -> None:
    """Keep what was learned of the sources of votes, if anything was.

    Args:
        folder: Of the model.
        beliefs: Those that were learned from.
    """
    from tacit.fitting import save_state

    voted = beliefs.voted
    if voted is not None:
        state = {
            "sources": list(beliefs.sources),
            "classes": list(beliefs.classes),
            "reliability": voted.reliability,
            "balance": voted.balance,
        }
        save_state(folder / RELIABILITIES, state, kind=_KIND)


def read_reliabilities(folder: str | os.PathLike[str]) -> Reliabilities | None:
    """What a run has learned of the sources of its votes; None where it has learned of none.

    Args:
        folder: Of the model, as in `runs/first/model`.

    Raises:
        ModelError: If the file is damaged.
    """
    from tacit.errors import ModelError
    from tacit.fitting import CheckpointError, load_state

    path = Path(folder) / RELIABILITIES
    if not path.exists():
        return None
    try:
        state = load_state(path, kind=_KIND)
    except CheckpointError as error:
        raise ModelError(str(error)) from error
    return Reliabilities(
        tuple(state["sources"]), tuple(state["classes"]), state["reliability"], state["balance"]
    )
