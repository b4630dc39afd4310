"""Several files of beliefs: their classes joined by name, their beliefs fused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from tacit.beliefs import Candidates, Categorical, Independent
from tacit.errors import InvalidInputError, refuse
from tacit.sources import fuse
from tacit.table._beliefs import check_voting, finished
from tacit.table._errors import listed, refused
from tacit.table._kinds import NAMED
from tacit.table._paths import as_path
from tacit.table._read_beliefs import read as read_one

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs

__all__ = ["by_name", "read"]


def read(paths: Any, ids: Any, n_rows: int, asked: Asked, **pooling: Any) -> Beliefs:
    """Read and fuse; see `tacit.table.read_fused`."""
    files = by_name(paths)
    found: dict[str, Beliefs] = {}
    for name, path in files.items():
        found[name] = _one(path, ids, n_rows, asked)
        if pooling.get("how") == "product":
            asked = _weighted_once(asked, found[name])
    classes = asked.classes or tuple(dict.fromkeys(chain(*(e.classes for e in found.values()))))
    notes: list[str] = []
    wide: dict[str, Beliefs] = {}
    for name, beliefs in found.items():
        _check(beliefs, found)
        again = partial(_read, ids=ids, n_rows=n_rows, asked=asked._replace(classes=classes))
        wide[name], missing = _widened(beliefs, classes, again)
        notes += [f"{name}: {note}" for note in (*wide[name].notes, *missing)]
    check_voting(asked.votes, wide.values())
    told = {name: _told(beliefs) for name, beliefs in wide.items()}
    anything = torch.stack([*told.values()]).any(0)
    belief = fuse(_silenced(wide, told, anything), **pooling)
    has_votes = any(each.told is not None for each in wide.values())
    n_informed = int((anything if has_votes else _says(belief)).sum())
    source = ", ".join(each.source for each in found.values())
    fused = finished("fused", belief, classes, n_informed, source, notes)
    fused = replace(fused, sources=tuple(found), parts=tuple(wide.values()))
    return replace(fused, told=anything if has_votes else None).noted()


def _weighted_once(asked: Asked, beliefs: Beliefs) -> Asked:
    """What is asked of further files: a product would count weights of a taxonomy again."""
    tree = asked.taxonomy
    if tree is None or tree.weights is None or beliefs.kind not in NAMED:
        return asked
    return asked._replace(taxonomy=tree.unweighted())


def _says(belief: Independent) -> Tensor:
    """The rows in which not every class is as likely as any other, `(rows,)`."""
    logs = belief.log_probabilities()
    return logs.amax(1) - logs.amin(1) > _SAME


def _told(beliefs: Beliefs) -> Tensor:
    """The rows that a file tells of."""
    return _says(beliefs.belief) if beliefs.told is None else beliefs.told  # type: ignore[arg-type]


def _silenced(
    found: Mapping[str, Beliefs], told: Mapping[str, Tensor], anything: Tensor
) -> dict[str, Independent]:
    """The parts of a fused belief: votes that count the same say nothing of rows without votes.

    Of rows that no file tells of the balance is known, from the first of the votes alone: each
    further one would count it again.
    """
    parts: dict[str, Any] = {}
    is_first = True
    for name, beliefs in found.items():
        parts[name] = beliefs.belief
        silent = ~told[name] & (anything | (not is_first))
        if beliefs.votes is not None and beliefs.voted is None and bool(silent.any()):
            table = beliefs.belief.marginals()
            table[silent] = 1.0
            parts[name] = Categorical(table)
        is_first = is_first and beliefs.votes is None
    return parts


_SAME = 1e-5
"""How far logs of equal probabilities may be apart by rounding."""


def by_name(paths: Any) -> dict[str, Path]:
    """Files by the names of their sources: those that they are given, or their stems."""
    if isinstance(paths, Mapping):
        files = {str(name): as_path(path) for name, path in paths.items()}
    elif isinstance(paths, str | Path) or not hasattr(paths, "__iter__"):
        raise refuse("paths", "be several files", f"it is {paths!r}", "pass a list of paths")
    else:
        found = [as_path(path) for path in paths]
        files = {path.name.split(".")[0]: path for path in found}
        if len(files) < len(found):
            raise refuse(
                "paths",
                "have names that differ before their suffix",
                f"they are {listed([path.name for path in found])}",
                "rename one, or in Python pass them by name, as in {'people': path, 'model': path}",
            )
    if not files:
        raise refuse("paths", "name at least one file", "it is empty", "pass a list of paths")
    return files


def _read(path: str | Path, ids: Any, n_rows: int, asked: Asked) -> Beliefs:
    # Arrays have no column of ids.
    own = asked._replace(id_column=None) if Path(path).suffix == ".npy" else asked
    return read_one(path, ids, n_rows, own)


def _one(path: Path, ids: Any, n_rows: int, asked: Asked) -> Beliefs:
    """A file with the classes of the caller, or with its own if these are among them."""
    try:
        return _read(path, ids, n_rows, asked)
    except InvalidInputError:
        if asked.classes is None:
            raise
        try:
            plain = asked._replace(classes=None, taxonomy=None, transition=None)
            beliefs = _read(path, ids, n_rows, plain)
        except InvalidInputError:
            beliefs = None
        # Labels are read with all classes, or something else is wrong with them.
        fits = beliefs is not None and beliefs.kind != "labels"
        if beliefs is None or not fits or not set(beliefs.classes) < set(asked.classes):
            raise
        return beliefs


def _check(beliefs: Beliefs, found: Mapping[str, Beliefs]) -> None:
    if not isinstance(beliefs.belief, Independent):
        raise refused(
            beliefs.source,
            "compares rows, and what is fused says of each what it may be",
            "fuse the others, and multiply: fused.belief * pairs.belief",
        )
    others = [each for each in found.values() if each is not beliefs]
    if others and not any(set(beliefs.classes) & set(each.classes) for each in others):
        raise refused(
            beliefs.source,
            f"has no class that another file has: its own are {listed(beliefs.classes)}, and "
            f"`{others[0].source}` has {listed(others[0].classes)}",
            "call them the same, or pass the classes in order if they are only numbered",
        )


def _widened(
    beliefs: Beliefs, classes: tuple[str, ...], again: Callable[[str], Beliefs]
) -> tuple[Beliefs, list[str]]:
    """Beliefs about all classes, and a note on those that their file does not have."""
    if beliefs.classes == classes:
        return beliefs, []
    own = torch.tensor([classes.index(name) for name in beliefs.classes])
    missing = [name for name in classes if name not in beliefs.classes]
    if beliefs.kind == "votes":
        return _with_votes(beliefs, own, again), _noted(missing, "Nobody votes for")
    if isinstance(beliefs.belief, Candidates):
        how = "Nothing excludes" if beliefs.kind == "excluded" else "Candidates leave out"
        return _with_sets(beliefs, own, len(classes), again), _noted(missing, how)
    table = beliefs.belief.marginals()
    wide = table.mean(1, keepdim=True).repeat(1, len(classes))
    wide[:, own] = table
    how = "The mean of the others is taken for"
    return replace(beliefs, belief=Categorical(wide)), _noted(missing, how)


def _with_sets(
    beliefs: Beliefs, own: Tensor, n_classes: int, again: Callable[[str], Beliefs]
) -> Beliefs:
    """Candidates among all classes, read again where they are named.

    In a mask, which has columns for its own classes only, a row of all of them says nothing.
    """
    with suppress(InvalidInputError):
        return again(beliefs.source)
    mask = beliefs.belief.mask()  # type: ignore[attr-defined]
    everything = mask.all(1, keepdim=True) | torch.tensor(beliefs.kind == "excluded")
    wide = everything.repeat(1, n_classes)
    wide[:, own] = mask
    return replace(beliefs, belief=Candidates.from_mask(wide))


def _with_votes(beliefs: Beliefs, own: Tensor, again: Callable[[str], Beliefs]) -> Beliefs:
    """Votes among all classes, read again; refuses numbers that became other classes."""
    found = again(beliefs.source)
    before, after = beliefs.votes, found.votes
    if before is None or after is None or not torch.equal(before.counts(), after.counts()[:, own]):
        raise refused(
            beliefs.source,
            f"numbers its classes, {listed(beliefs.classes)}, and others name them",
            "pass the names of the classes, in order",
        )
    return found


def _noted(missing: list[str], how: str) -> list[str]:
    return [f"{how} {listed(missing)}, which others have."] if missing else []
