"""What votes make one believe, given how reliable each source is."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from tacit.beliefs import Categorical, Independent
from tacit.beliefs._base import Rows, row_index
from tacit.errors import refuse
from tacit.evidence import own_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.sources._votes import Votes

__all__ = ["Voted", "confusions", "pooled"]

_CELLS = 1 << 22
"""Numbers that are held at a time beside the votes."""


class Voted(Independent):
    """Votes of sources that are right with known probabilities.

        p_i(l) ∝ π_l Π_v C_s(v)[l, a(v)]^w(v)

    over the votes v on instance i: source s(v) says a(v) where the label is l with probability
    C_s[l, a]. Votes are independent given the label. Where all sources were asked about all
    instances, to abstain is the last of the answers, and tells something too: a labelling function
    that looks for one class alone tells of it by speaking, and against it by silence.

    `updated` estimates the reliabilities anew from the posterior that a predictor's evidence gives:
    sources and predictor learn from each other. The balance stays, since evidence has the balance
    taken out: nothing would push back when a class grows.

    Args:
        votes: What was said.
        reliability: C, `(sources, class, answer)`; rows sum to one. Without a column for abstaining
            that says nothing.
        balance: π, `(class,)`.
        strength: Votes that the prior of each row of C is worth, see `dawid_skene`.
        learns: Whether `updated` estimates the reliabilities.

    Example:
        >>> from tacit.sources import Votes
        >>> votes = Votes.from_matrix([[0, 1], [-1, 1]], n_classes=2)
        >>> sure, guess = [[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]
        >>> Voted(votes, torch.tensor([sure, guess]), torch.tensor([0.5, 0.5])).marginals()
        tensor([[0.9000, 0.1000],
                [0.5000, 0.5000]])
    """

    def __init__(
        self,
        votes: Votes,
        reliability: Tensor,
        balance: Tensor,
        *,
        strength: float = 1.0,
        learns: bool = True,
    ) -> None:
        self.votes, self.strength, self.learns = votes, strength, learns
        self.n_classes = votes.n_classes
        self.reliability = _checked_reliability(reliability, votes)
        self.balance = _checked_balance(balance, votes.n_classes)
        self._log_p = _log_belief(votes, self.reliability.log(), self.balance.log())

    def __len__(self) -> int:
        return len(self._log_p)

    @property
    def device(self) -> torch.device:
        return self._log_p.device

    def accuracy(self) -> Tensor:
        """How often each source is right when it votes, `(sources,)`; labels occur as π says."""
        right = self.reliability.diagonal(dim1=1, dim2=2) @ self.balance
        voting = self.reliability[..., : self.n_classes].sum(-1) @ self.balance
        return right / voting

    def dense(self) -> tuple[Tensor, bool]:
        return self._log_p, True

    def log_probabilities(self, dtype: torch.dtype = torch.float32) -> Tensor:
        return self._log_p.to(torch.promote_types(dtype, torch.float32)).log_softmax(-1).to(dtype)

    def __getitem__(self, rows: Rows) -> Self:
        index = row_index(rows, len(self), self.device)
        taken = copy.copy(self)
        taken.votes = self.votes.on(index.cpu())
        taken._log_p = self._log_p[index]
        return taken

    def rows_at(self, index: Tensor) -> Independent:
        # A batch needs no votes: what they amount to will do.
        return Categorical.from_log(self._log_p.index_select(0, index), validate=False)

    def updated(
        self,
        log_prediction: Tensor,
        *,
        weight: Tensor | None = None,
        strata: Tensor | None = None,
    ) -> Self:
        if not self.learns:
            return self
        w, s = (None if given is None else given.cpu() for given in (weight, strata))
        a = own_evidence(log_prediction.detach().cpu().double(), weight=w, strata=s)
        r = (self._log_p.cpu().double() + a).softmax(-1)
        # An instance of weight 2 counts like two of them.
        counted = r if w is None else r * w.double().unsqueeze(1)
        return self._taught({"reliability": confusions(self.votes, counted, self.strength)[0]})

    def learned(self) -> dict[str, Tensor]:
        return {"reliability": self.reliability} if self.learns else {}

    def _taught(self, learned: Mapping[str, Tensor]) -> Self:
        if not self.learns:
            return self
        taught = copy.copy(self)
        taught.reliability = _checked_reliability(learned["reliability"], self.votes)
        log_p = _log_belief(self.votes, taught.reliability.log(), self.balance.cpu().log())
        taught._log_p = log_p.to(self.device)
        return taught


def confusions(votes: Votes, posterior: Tensor, strength: float) -> tuple[Tensor, Tensor]:
    """How reliable each source is, if the labels are distributed like this.

    C_s[l, a] ∝ (votes of s for a where the label is l) + k · (the same, of all sources together),

    so that a source with few votes is taken to be like the others. All together are given one
    vote for each class, and each class one instance.

    Args:
        votes: What was said.
        posterior: r, `(instances, class)`, in float64.
        strength: k, the number of votes that the others' behaviour is worth.

    Returns:
        C, `(sources, class, answer)`, and the balance π, `(class,)`.
    """
    n_classes, n_sources = votes.n_classes, votes.n_sources
    counts = torch.zeros(n_sources * n_classes, n_classes, dtype=torch.float64)
    # Votes of one source for one answer add up over the instances, whatever their labels.
    for part in torch.arange(len(votes)).split(max(1, _CELLS // n_classes)):
        place = votes.source[part] * n_classes + votes.answer[part]
        counts.index_add_(0, place, posterior[votes.item[part]] * votes.weight[part].unsqueeze(1))
    table = counts.view(n_sources, n_classes, n_classes).transpose(1, 2)
    if votes.all_asked:
        silent = (posterior.sum(0) - table.sum(-1)).clamp(min=0)
        table = torch.cat([table, silent.unsqueeze(-1)], -1)
    table = table + strength * pooled(table.sum(0))
    balance = posterior.sum(0) + 1.0
    return table / table.sum(-1, keepdim=True), balance / balance.sum()


def pooled(counts: Tensor) -> Tensor:
    """How sources as such answer, `(class, answer)`, from counts of their votes.

    A vote of its own for each class, and as much spread over all, say that sources mean to be right
    and that nothing is impossible.
    """
    own = counts + torch.eye(*counts.shape, dtype=counts.dtype) + 1 / len(counts)
    return own / own.sum(-1, keepdim=True)


def _log_belief(votes: Votes, log_reliability: Tensor, log_balance: Tensor) -> Tensor:
    """Log p, `(instances, class)`, in float32 and normalised."""
    said = log_reliability.transpose(1, 2)  # (sources, answer, class)
    if said.shape[1] > votes.n_classes:
        # As if all were silent first; a vote then takes that back.
        silence = said[:, -1]
        log_balance, said = log_balance + silence.sum(0), said[:, :-1] - silence.unsqueeze(1)
    log_p = log_balance.expand(votes.n_items, -1).clone()
    for part in torch.arange(len(votes)).split(max(1, _CELLS // votes.n_classes)):
        weighted = said[votes.source[part], votes.answer[part]] * votes.weight[part].unsqueeze(1)
        log_p.index_add_(0, votes.item[part], weighted)
    _check_possible(log_p)
    return log_p.log_softmax(-1).float()


def _check_possible(log_p: Tensor) -> None:
    hopeless = ~(log_p > -torch.inf).any(-1)
    if bool(hopeless.any()):
        raise refuse(
            "reliability",
            "leave each instance a label",
            f"the votes on instance {int(hopeless.nonzero()[0])} exclude each other",
            "let no source be right for certain: 0.99 instead of 1",
        )


def _checked_reliability(reliability: Tensor, votes: Votes) -> Tensor:
    table = torch.as_tensor(reliability, dtype=torch.float64).cpu()
    shape = (votes.n_sources, votes.n_classes, votes.n_answers)
    if tuple(table.shape) not in (shape, (*shape[:2], votes.n_classes)):
        raise refuse(
            "reliability",
            f"have shape (sources, class, answer) = {shape}",
            f"its shape is {tuple(table.shape)}",
            "state for each source how often it says what where a label is true",
        )
    wrong = ~(table >= 0).all(-1) | ((table.sum(-1) - 1).abs() > 1e-4)
    if bool(wrong.any()):
        source, label = (int(axis) for axis in wrong.nonzero()[0])
        raise refuse(
            "reliability",
            "hold probabilities of the answers, which sum to 1 for each true label",
            f"those of source {source} at label {label} are {table[source, label].tolist()}",
            "divide each row by its sum",
        )
    return table


def _checked_balance(balance: Tensor, n_classes: int) -> Tensor:
    table = torch.as_tensor(balance, dtype=torch.float64).cpu()
    if tuple(table.shape) != (n_classes,) or not bool(((table > 0) & (table < torch.inf)).all()):
        raise refuse(
            "balance",
            f"be {n_classes} finite numbers above 0",
            f"it is {table.tolist()}",
            "give a class that never occurs a small share",
        )
    return table / table.sum()
