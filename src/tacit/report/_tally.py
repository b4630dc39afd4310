"""All that a report says of a table, gathered in one pass over its rows."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch

from tacit.beliefs import Categorical
from tacit.diagnostics import (
    Judged,
    Reliability,
    contradiction,
    covering_rate,
    judged,
    mean_entropy,
    reliability,
    surprise,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor

    from tacit.report._resolved import Part

__all__ = ["Agreement", "Instance", "Tally", "gathered", "merged"]

N_BINS: Final = 20
"""Bins of the histogram of confidence."""
N_LISTED: Final = 200
"""Instances of each list."""
_LEAST: Final = 0.01
"""Contradiction, in nats, from which on an instance is listed: the prediction gives a hundredth to
what is not believed."""
_TIE: Final = 1e-6
"""Classes whose belief differs by less than this part are believed alike."""

_TOLD: Final = ("balance", "entropy")


class Instance(NamedTuple):
    """A row that is shown.

    Attributes:
        row: Its number.
        id: What it is called.
        label: Its class.
        p: Belief of each class, where the table has one.
        r: Posterior.
        q: Prediction.
        contradiction: How far prediction and belief contradict each other, in nats.
        surprise: KL(r || p), in nats.
        entropy: Of r, in nats.
    """

    row: int
    id: str
    label: str | None
    p: Tensor | None
    r: Tensor
    q: Tensor
    contradiction: float
    surprise: float
    entropy: float


class Agreement(NamedTuple):
    """How prediction and belief go together, in the rows that sources tell of, or in all.

    Attributes:
        reliability: Of q, against the beliefs.
        covering: Share of the rows whose likeliest class by q is one that the belief allows.
        allowed: Share of the classes that beliefs allow, on average.
        against: Share of the rows whose likeliest class by q is not among the likeliest by p.
        most: The mean of the largest p: the accuracy that beliefs would grant a perfect q.
        told: What the beliefs tell of the labels, in nats: the entropy of their mean less their
            mean entropy.
        n_rows: Of how many rows this is.
    """

    reliability: Reliability
    covering: float
    allowed: float
    against: float
    most: float
    told: float
    n_rows: int


class Tally(NamedTuple):
    """What a table says.

    Attributes:
        n_rows: Number of its rows.
        balance: Mean of p (where there is one), r and q, by class.
        entropy: Mean entropy of p (where there is one), r and q, in nats.
        counts: Number of labels, by class.
        n_unlabelled: Rows without a label.
        confidence: Histogram of the largest p (where there is one) and r of each row.
        agreement: How prediction and belief go together, where the table has beliefs.
        conflicts: Instances in descending order of their contradiction.
        uncertain: Instances in descending order of their entropy.
        judged: r and q beside true labels, where there are any.
    """

    n_rows: int
    balance: dict[str, Tensor]
    entropy: dict[str, float]
    counts: Tensor
    n_unlabelled: int
    confidence: dict[str, Tensor]
    agreement: Agreement | None
    conflicts: tuple[Instance, ...]
    uncertain: tuple[Instance, ...]
    judged: dict[str, Judged]


def gathered(parts: Iterable[Part], classes: Sequence[str], truth: Tensor | None = None) -> Tally:
    """Go through a table once.

    Args:
        parts: Its rows, part by part.
        classes: Names of the classes.
        truth: True labels, -1 where unknown.
    """
    found = _Found(classes, truth)
    for part in parts:
        found.add(part)
    return found.tally()


class _Found:
    """What was found so far: sums, and the rows to be shown."""

    def __init__(self, classes: Sequence[str], truth: Tensor | None) -> None:
        self._truth = truth
        self._judged: dict[str, list[Judged]] = {"r": [], "q": []}
        self._number = {name: place for place, name in enumerate(classes)}
        self._n_rows = self._n_unlabelled = self._n_told = 0
        self._counts = torch.zeros(len(classes), dtype=torch.long)
        self._sums: dict[str, Any] = {}
        self._diagrams: list[Reliability] = []
        self._conflicts: list[Instance] = []
        self._uncertain: list[Instance] = []

    def add(self, part: Part) -> None:
        """Take in some rows."""
        self._n_rows += len(part.r)
        self._n_unlabelled += part.labels.count(None)
        numbers = [self._number[label] for label in part.labels if label is not None]
        self._counts += torch.bincount(
            torch.tensor(numbers, dtype=torch.long), minlength=len(self._counts)
        )
        for kind, table in (("p", part.p), ("r", part.r), ("q", part.q)):
            if table is not None:
                self._add(f"balance {kind}", table.sum(0))
                self._add(f"entropy {kind}", mean_entropy(table) * len(table))
                self._add(f"confidence {kind}", _histogram(table))
        if self._truth is not None:
            own = self._truth[part.start : part.start + len(part.r)]
            self._judged["r"].append(judged(part.r, own))
            self._judged["q"].append(judged(part.q, own))
        against = self._compare(part)
        entropy = torch.special.entr(part.r).sum(1)
        measured = (against, entropy)
        self._uncertain = _most("entropy", self._uncertain, part, entropy, measured)
        if part.p is not None:
            self._conflicts = _most(
                "contradiction", self._conflicts, part, against, measured, least=_LEAST
            )

    def _compare(self, part: Part) -> Tensor:
        """Contradiction of each row; sums of how belief and prediction go together."""
        if part.p is None:
            return torch.zeros(len(part.q), dtype=torch.float64)
        if part.told is None:
            return self._compared(part.p, part.q)
        # What is believed of the others is how common the classes are: nothing to be contradicted.
        against = torch.zeros(len(part.q), dtype=torch.float64)
        if bool(part.told.any()):
            against[part.told] = self._compared(part.p[part.told], part.q[part.told])
        return against

    def _compared(self, p: Tensor, q: Tensor) -> Tensor:
        self._n_told += len(q)
        belief, log_q, n = Categorical(p, validate=False), q.log(), len(q)
        self._diagrams.append(reliability(q, belief))
        self._add("covering", covering_rate(log_q, belief) * n)
        self._add("allowed", float((p > 0).double().mean()) * n)
        top = p.amax(1)
        chosen = p.gather(1, q.argmax(1, keepdim=True)).squeeze(1)
        self._add("against", float((chosen < (1 - _TIE) * top).sum()))
        self._add("most", float(top.sum()))
        self._add("told balance", p.sum(0))
        self._add("told entropy", mean_entropy(p) * len(p))
        return contradiction(prediction=q, marginals=p)

    def tally(self) -> Tally:
        """What all rows say together."""
        n, sums = max(self._n_rows, 1), self._sums

        def by_kind(what: str) -> dict[str, Any]:
            return {kind: sums[f"{what} {kind}"] for kind in "prq" if f"{what} {kind}" in sums}

        agreement = None
        if self._diagrams:
            named = ("covering", "allowed", "against", "most")
            shares = {name: sums[name] / self._n_told for name in named}
            balance, entropy = (sums[f"told {each}"] / self._n_told for each in _TOLD)
            told = float(torch.special.entr(balance).sum()) - entropy
            agreement = Agreement(merged(self._diagrams), **shares, told=told, n_rows=self._n_told)
        return Tally(
            n_rows=self._n_rows,
            balance={kind: total / n for kind, total in by_kind("balance").items()},
            entropy={kind: total / n for kind, total in by_kind("entropy").items()},
            counts=self._counts,
            n_unlabelled=self._n_unlabelled,
            confidence=by_kind("confidence"),
            agreement=agreement,
            conflicts=tuple(self._conflicts),
            uncertain=tuple(self._uncertain),
            judged={kind: _together(found) for kind, found in self._judged.items() if found},
        )

    def _add(self, name: str, value: Any) -> None:
        self._sums[name] = self._sums[name] + value if name in self._sums else value


def merged(diagrams: Sequence[Reliability]) -> Reliability:
    """The reliability diagram of several collections taken as one.

    Args:
        diagrams: That of each.
    """
    size = sum((each.size for each in diagrams), torch.zeros_like(diagrams[0].size))
    confidence, accuracy = (
        sum((getattr(each, name).nan_to_num() * each.size for each in diagrams), torch.zeros(()))
        / size
        for name in ("confidence", "accuracy")
    )
    apart = (confidence - accuracy).abs().nan_to_num() * size
    return Reliability(confidence, accuracy, size, float(apart.sum() / size.sum().clamp(min=1)))


def _together(found: Sequence[Judged]) -> Judged:
    """Several parts of a table as one, beside true labels."""
    confusion = torch.stack([each.confusion for each in found]).sum(0)
    return Judged(confusion, merged([each.reliability for each in found]))


def _histogram(table: Tensor) -> Tensor:
    """Number of rows by their largest probability."""
    place = (table.amax(1) * N_BINS).long().clamp(max=N_BINS - 1)
    return torch.bincount(place, minlength=N_BINS)


def _most(
    name: str,
    before: list[Instance],
    part: Part,
    value: Tensor,
    measured: tuple[Tensor, Tensor],
    *,
    least: float = 0.0,
) -> list[Instance]:
    """The instances that have the most of something, of those before and of a part."""
    # Where there is a tie, the row that comes first stays first, here and below.
    rows = value.argsort(descending=True, stable=True)[:N_LISTED]
    found = [_instance(part, row, measured) for row in rows[value[rows] > least].tolist()]
    return heapq.nlargest(N_LISTED, [*before, *found], key=lambda each: getattr(each, name))


def _instance(part: Part, row: int, measured: tuple[Tensor, Tensor]) -> Instance:
    p, r = None if part.p is None else part.p[row], part.r[row]
    against, entropy = (float(values[row]) for values in measured)
    return Instance(
        row=part.start + row,
        id=str(part.ids[row].as_py()),
        label=part.labels[row],
        p=p,
        r=r,
        q=part.q[row],
        contradiction=against,
        surprise=0.0 if p is None else float(surprise(r, p)),
        entropy=entropy,
    )
