"""What is known of the class counts in bags, and how well count vectors agree with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.beliefs._logspace import LOG_ZERO

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Tallied", "Tally"]


class Tally(NamedTuple):
    """What is known of the class counts N of some bags.

        p(l_1, ..., l_k) ∝ g(N) Π_i π(l_i),   log g(N) = -Σ_l (N_l - n_l)² / 2σ²

    Labels are as if drawn from the bag's shares π = n / k, and the counts then seen to be n, with
    an error of variance σ². Without variance the counts *are* n, and the shares cancel.

    Attributes:
        counts: The counts n, `(bags, class)`, in float64; whole where there is no variance.
        variance: The variance σ², `(bags,)`, in float64.
    """

    counts: Tensor
    variance: Tensor

    @property
    def sizes(self) -> Tensor:
        """Number of instances k in each bag, `(bags,)`."""
        return self.counts.sum(-1).round()

    @property
    def shares(self) -> Tensor:
        """The shares of the classes, `(bags, class)`."""
        return self.counts / self.counts.sum(-1, keepdim=True)

    @property
    def most(self) -> Tensor:
        """The largest count that each class can have, `(bags, class)`."""
        any_count = (self.variance > 0).unsqueeze(-1) & (self.counts > 0)
        return self.sizes.unsqueeze(-1).where(any_count, self.counts).long()

    def of_bags(self, bags: Tensor) -> Tally:
        """The same for some of the bags."""
        return Tally(self.counts[bags], self.variance[bags])

    def of_classes(self, classes: Tensor) -> Tally:
        """The same for some `classes` of each bag, `(bags, class)`: at least all that occur."""
        return Tally(self.counts.gather(-1, classes), self.variance)

    def log_fit(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """How well count vectors agree with what is known.

        Args:
            vectors: All count vectors that may be, `(bags, vector, class)`, in float64; what has a
                negative count is padding.

        Returns:
            Log g of each vector up to a constant per bag, `(bags, vector)`, and the log of its
            expectation if labels are drawn from the shares, `(bags,)`.

        Example:
            >>> import torch
            >>> evens = Tally(torch.tensor([[1.0, 1.0]]).double(), torch.zeros(1).double())
            >>> log_fit, log_expected = evens.log_fit(torch.tensor([[[2, 0], [1, 1]]]).double())
            >>> log_fit.exp(), log_expected.exp()
            (tensor([[0., 1.]], dtype=torch.float64), tensor([0.5000], dtype=torch.float64))
        """
        apart = (vectors - self.counts.unsqueeze(1)).square().sum(-1)
        variance = self.variance.unsqueeze(-1)
        log_fit = torch.where(
            variance > 0, -0.5 * apart / variance, torch.where(apart < 0.5, 0.0, LOG_ZERO)
        )
        log_fit = log_fit.where((vectors >= 0).all(-1), LOG_ZERO)
        log_fit = (log_fit - log_fit.amax(-1, keepdim=True)).clamp(min=LOG_ZERO)
        return log_fit, (log_fit + self._log_multinomial(vectors.clamp(min=0))).logsumexp(-1)

    def _log_multinomial(self, vectors: Tensor) -> Tensor:
        """Log-probability of count vectors if labels are drawn from the shares."""
        log_ways = (vectors.sum(-1) + 1).lgamma() - (vectors + 1).lgamma().sum(-1)
        return log_ways + torch.xlogy(vectors, self.shares.unsqueeze(1)).sum(-1)


class Tallied(NamedTuple):
    """What inference makes of some bags.

    Attributes:
        log_marginals: Log-weight of each label, `(bags, position, class)`, up to a constant per
            instance; `LOG_ZERO` for zero.
        log_normaliser: Log of the belief's expectation of exp(evidence), `(bags,)`; about
            `LOG_ZERO` for zero.
    """

    log_marginals: Tensor
    log_normaliser: Tensor
