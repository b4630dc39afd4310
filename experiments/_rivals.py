"""What tacit is compared with: objectives of others, and label models of others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tacit._files import write_atomically
from tacit.beliefs import Categorical, Independent
from tacit.beliefs._base import taken
from tacit.objectives import Objective, SoftCrossEntropy

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.beliefs._base import Rows
    from tacit.sources import Votes

__all__ = ["LeveragedWeighted", "Numbered", "Proden", "label_model"]


class Numbered(Independent):
    """A belief whose parts know which instances they are about, for what remembers instances.

    Args:
        belief: About all instances, or some.
        rows: Which; all unless given.
    """

    def __init__(self, belief: Independent, rows: Tensor | None = None) -> None:
        self.belief, self.n_classes = belief, belief.n_classes
        self.rows = torch.arange(len(belief), device=belief.device) if rows is None else rows

    def __len__(self) -> int:
        return len(self.belief)

    @property
    def device(self) -> torch.device:
        return self.belief.device

    @property
    def dtype(self) -> torch.dtype:
        return self.belief.dtype

    def log_probabilities(self, dtype: torch.dtype = torch.float32) -> Tensor:
        return self.belief.log_probabilities(dtype)

    def dense(self) -> tuple[Tensor, bool]:
        return self.belief.dense()

    def __getitem__(self, rows: Rows) -> Numbered:
        return Numbered(self.belief[rows], taken(self.rows, rows))

    def rows_at(self, index: Tensor) -> Numbered:
        return Numbered(self.belief.rows_at(index), self.rows.index_select(0, index))


class Proden(Objective):
    """Progressive identification of true labels (Lv and others, 2020).

    Cross-entropy against weights over the candidates, which are uniform at first; after each step
    those of the batch become the prediction of that step, restricted to the candidates: what an
    instance is pulled to is what was predicted the last time that it was seen.

    Args:
        belief: About all instances of the collection; what it excludes is no candidate.
    """

    formula = SoftCrossEntropy.formula

    def __init__(self, belief: Independent) -> None:
        super().__init__(validate=False)
        allowed = belief.marginals() > 0
        self.register_buffer("weights", allowed / allowed.sum(1, keepdim=True))
        self.weights: Tensor

    def forward(self, logits: Tensor | None = None, belief: Any = None, **unused: Any) -> Tensor:
        """Mean cross-entropy of a batch of a `Numbered` belief; the weights move on."""
        del unused
        assert logits is not None
        log_q = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(1)
        before = self.weights.index_select(0, belief.rows)
        joint = torch.where(before > 0, log_q.detach(), -torch.inf).softmax(1)
        self.weights.index_copy_(0, belief.rows, joint.to(before.dtype))
        return -(before * log_q).sum(1).mean()


class LeveragedWeighted(Objective):
    """Leveraged weighted loss with the sigmoid (Wen and others, 2021).

    sum over the candidates of w s(-g) + b * sum over the others of w s(g), with g the logits, s the
    sigmoid, and weights w over either set that are the prediction the last time that the instance
    was seen, normalised within the set; uniform at first.

    Args:
        belief: About all instances of the collection; what it excludes is no candidate.
        leverage: b, how much the others count.
    """

    formula = SoftCrossEntropy.formula

    def __init__(self, belief: Independent, *, leverage: float = 2.0) -> None:
        super().__init__(validate=False)
        allowed, self.leverage = belief.marginals() > 0, leverage
        self.register_buffer("allowed", allowed)
        self.register_buffer("weights", _within(torch.zeros(allowed.shape), allowed))
        self.allowed: Tensor
        self.weights: Tensor

    def forward(self, logits: Tensor | None = None, belief: Any = None, **unused: Any) -> Tensor:
        """Mean loss of a batch of a `Numbered` belief; the weights move on."""
        del unused
        assert logits is not None
        before, allowed = (
            table.index_select(0, belief.rows) for table in (self.weights, self.allowed)
        )
        now = _within(logits.detach().float(), allowed)
        self.weights.index_copy_(0, belief.rows, now.to(before.dtype))
        wrong = torch.where(allowed, (-logits).sigmoid(), self.leverage * logits.sigmoid())
        return (before * wrong).sum(1).mean()


def _within(logits: Tensor, allowed: Tensor) -> Tensor:
    """Softmax over the candidates, and another over the others; 0 where a set is empty."""
    parts = (
        torch.where(chosen, logits, -torch.inf).softmax(1).nan_to_num()
        for chosen in (allowed, ~allowed)
    )
    total: Tensor = sum(parts, torch.zeros_like(logits))
    return total


def label_model(name: str, votes: Votes, *, seed: int, kept: Path) -> Categorical:
    """What somebody else's label model makes of votes, with its defaults.

    Args:
        name: "crowd-kit", whose Dawid and Skene says nothing of instances without votes; or
            "snorkel".
        votes: What was said.
        seed: Of what it draws.
        kept: File that its labels are kept in, so that it need be installed but once.

    Raises:
        ImportError: If it is not installed, and the file is not there.
    """
    if not kept.exists():
        table = (_crowd_kit if name == "crowd-kit" else partial(_snorkel, seed=seed))(votes)
        kept.parent.mkdir(parents=True, exist_ok=True)
        save = partial(np.savez_compressed, probabilities=table.astype(np.float32))
        write_atomically(kept, save)
    with np.load(kept, allow_pickle=False) as file:
        return Categorical(torch.from_numpy(file["probabilities"]))


def _crowd_kit(votes: Votes) -> NDArray[np.float64]:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    frame = pd.DataFrame(
        {"task": votes.item.numpy(), "worker": votes.source.numpy(), "label": votes.answer.numpy()}
    )
    found = DawidSkene().fit_predict_proba(frame)
    table = np.full((votes.n_items, votes.n_classes), 1 / votes.n_classes)
    voted = found.index.to_numpy()
    table[voted] = 0
    table[np.ix_(voted, found.columns.to_numpy())] = found.to_numpy()
    return table


def _snorkel(votes: Votes, *, seed: int) -> NDArray[np.float64]:
    from snorkel.labeling.model import LabelModel

    table = np.full((votes.n_items, votes.n_sources), -1)
    table[votes.item.numpy(), votes.source.numpy()] = votes.answer.numpy()
    model = LabelModel(cardinality=votes.n_classes, verbose=False)
    model.fit(table, seed=seed, progress_bar=False)
    found: NDArray[np.float64] = model.predict_proba(table)
    return found
