"""Two beliefs that hold at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

from tacit.beliefs._base import Belief, Independent, Posterior, Rows
from tacit.errors import refuse

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["Product", "product"]


def product(first: Belief, second: Belief) -> Belief:
    """Combine two beliefs about the same instances; at least one must be independent.

    Independent beliefs multiply row by row into a `Categorical`; a structured one receives the
    independent one's log-probabilities as evidence.
    """
    from tacit.beliefs.categorical import Categorical

    if not isinstance(second, Independent):
        first, second = second, first
    if not isinstance(second, Independent):
        raise refuse(
            "other",
            "be an independent belief (Categorical or Candidates)",
            f"both {type(first).__name__} and {type(second).__name__} tie instances together",
            "state one of them as marginals, for example Categorical(belief.marginals())",
        )
    if (len(first), first.n_classes) != (len(second), second.n_classes):
        raise refuse(
            "other",
            f"cover {len(first)} instances and {first.n_classes} classes",
            f"it covers {len(second)} and {second.n_classes}",
            "align the two beliefs row by row",
        )
    if isinstance(first, Independent):
        return Categorical.from_log(first.log_probabilities() + second.log_probabilities())
    return Product(first, second)


class Product(Belief):
    """A structured belief and an independent one, both true at once.

    Args:
        structured: Any belief.
        independent: A belief without ties between instances, which enters as evidence.
    """

    def __init__(self, structured: Belief, independent: Independent) -> None:
        self.structured = structured
        self.independent = independent
        self.n_classes = structured.n_classes

    def __len__(self) -> int:
        return len(self.structured)

    @property
    def n_groups(self) -> int:
        return self.structured.n_groups

    @property
    def group_of(self) -> Tensor:
        return self.structured.group_of

    @property
    def device(self) -> torch.device:
        return self.structured.device

    def posterior(self, log_evidence: Tensor) -> Posterior:
        self._check_evidence(log_evidence)
        log_belief = self.independent.log_probabilities(log_evidence.dtype)
        log_marginals, log_normaliser = self.structured.posterior(log_evidence + log_belief)
        return Posterior(log_marginals, log_normaliser - self._overlap.to(log_normaliser.dtype))

    def updated(self, log_prediction: Tensor) -> Self:
        return type(self)(
            self.structured.updated(log_prediction), self.independent.updated(log_prediction)
        )

    def __getitem__(self, rows: Rows) -> Self:
        return type(self)(self.structured[rows], self.independent[rows])

    @cached_property
    def _overlap(self) -> Tensor:
        """Log of how far the two agree before any evidence, which normalises the product."""
        return self.structured.posterior(self.independent.log_probabilities()).log_normaliser
