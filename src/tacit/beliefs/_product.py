"""Two beliefs that hold at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import torch

from tacit.beliefs._base import (
    Belief,
    Independent,
    Posterior,
    Rows,
    learned_by,
    learned_of,
)
from tacit.errors import InvalidInputError, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

__all__ = ["Product", "check_same_collection", "nothing_left", "product"]


def product(first: Belief, second: Belief) -> Belief:
    """Combine two beliefs about the same instances; at least one must be independent.

    Independent beliefs multiply row by row into a `Categorical`; a structured one receives the
    independent one's log-probabilities as evidence.
    """
    if not isinstance(second, Belief):
        raise refuse(
            "other",
            "be a belief",
            f"it is a {type(second).__name__}",
            "wrap it, as in Categorical(probabilities); a class balance is expanded to a row for "
            "each instance first",
        )
    check_same_collection(first, second)
    if not isinstance(second, Independent):
        first, second = second, first
    if not isinstance(second, Independent):
        raise refuse(
            "other",
            "be an independent belief (Categorical or Candidates)",
            f"both {type(first).__name__} and {type(second).__name__} tie instances together",
            "state one of them as marginals, for example Categorical(belief.marginals())",
        )
    return _row_by_row(first, second) if isinstance(first, Independent) else Product(first, second)


def check_same_collection(belief: Belief, other: Belief) -> None:
    """Refuse beliefs that do not cover the same instances and classes."""
    if (len(belief), belief.n_classes) != (len(other), other.n_classes):
        raise refuse(
            "other",
            f"cover {len(belief)} instances and {belief.n_classes} classes",
            f"it covers {len(other)} and {other.n_classes}",
            "align the two beliefs row by row",
        )


def nothing_left(row: int) -> InvalidInputError:
    """What to say of two independent beliefs that exclude each other in a row."""
    return refuse(
        "other",
        "leave each instance a label that the first belief allows",
        f"row {row} is left none",
        "mend the row in one of the two, or drop it",
    )


def _row_by_row(first: Independent, second: Independent) -> Independent:
    from tacit.beliefs.categorical import Categorical

    dtype = torch.promote_types(first.dtype, second.dtype)
    log_both = first.log_probabilities(dtype) + second.log_probabilities(dtype)
    hopeless = (log_both == -torch.inf).all(-1)
    if bool(hopeless.any()):
        raise nothing_left(int(hopeless.nonzero()[0]))
    return Categorical.from_log(log_both, validate=False)


class Product(Belief):
    """A structured belief and an independent one, both true at once.

        p(l_1, ..., l_n) ∝ p_structured(l_1, ..., l_n) Π_i p_i(l_i)

    Made by `structured * independent`. That the two leave each group a labeling is checked when
    the product is first used.

    Args:
        structured: Any belief.
        independent: A belief without ties between instances, which enters as evidence.

    Example:
        >>> from tacit.beliefs import Candidates, Pairs
        >>> ranked = Pairs.greater([[0, 1]], n_classes=3, n_instances=2)
        >>> (ranked * Candidates([[1, 2], [0, 1]], n_classes=3)).marginals()
        tensor([[0.0000, 0.3333, 0.6667],
                [0.6667, 0.3333, 0.0000]])
    """

    def __init__(self, structured: Belief, independent: Independent) -> None:
        self.structured = structured
        self.independent = independent
        self.n_classes = structured.n_classes
        self._log_overlaps: dict[torch.dtype, Tensor] = {}

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
        return Posterior(log_marginals, log_normaliser - self._log_overlap(log_evidence.dtype))

    def updated(
        self,
        log_prediction: Tensor,
        *,
        weight: Tensor | None = None,
        strata: Tensor | None = None,
    ) -> Self:
        return type(self)(
            self.structured.updated(log_prediction, weight=weight, strata=strata),
            self.independent.updated(log_prediction, weight=weight, strata=strata),
        )

    def learned(self) -> dict[str, Tensor]:
        return learned_by((self.structured, self.independent))

    def _taught(self, learned: Mapping[str, Tensor]) -> Self:
        return type(self)(
            self.structured.with_learned(learned_of(learned, 0)),
            self.independent.with_learned(learned_of(learned, 1)),
        )

    def __getitem__(self, rows: Rows) -> Self:
        return type(self)(self.structured[rows], self.independent[rows])

    def to(self, device: torch.device | str) -> Self:
        return type(self)(self.structured.to(device), self.independent.to(device))

    def _log_overlap(self, dtype: torch.dtype) -> Tensor:
        """Log of how far the two agree before any evidence, which normalises the product.

        In the precision of the evidence, so that rounding cancels where there is none.
        """
        if dtype not in self._log_overlaps:
            log_belief = self.independent.log_probabilities(dtype)
            log_overlap = self.structured.posterior(log_belief).log_normaliser
            self._check_overlap(log_overlap)
            self._log_overlaps[dtype] = log_overlap
        return self._log_overlaps[dtype]

    def _check_overlap(self, log_overlap: Tensor) -> None:
        apart = ~(log_overlap > -torch.inf)
        if bool(apart.any()):
            group = int(apart.nonzero()[0])
            members = (self.group_of == group).nonzero().squeeze(1).tolist()
            whose = f"instance {members[0]}" if len(members) == 1 else f"instances {members[:6]}"
            raise refuse(
                "other",
                "agree with the belief that it multiplies on some labeling of each group",
                f"group {group} ({whose}{', ...' if len(members) > 6 else ''}) is left none",
                "allow more labels there in one of the two, or drop the group",
            )
