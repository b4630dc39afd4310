"""Approximate inference in bags: tilt all instances alike until the expected counts are right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import torch

from tacit.beliefs._logspace import LOG_ZERO
from tacit.beliefs._tally import Tallied

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs._tally import Tally

__all__ = ["infer_tilted"]

_STEPS: Final = 300
"""Most Newton steps; ten are the rule, and fifty where evidence is in the thousands."""

_SWEEPS: Final = 4
"""Times that the reaction is renewed: each takes most of the error that the last one left."""

_MILD: Final = 8.0
"""Log-weights that span no more than this are balanced at once, others heated to it first."""


def infer_tilted(log_weights: Tensor, present: Tensor, tally: Tally) -> Tallied:
    """Approximate posterior of bags of any size with any number of classes.

    The right counts are replaced by right *expected* counts, and the counts' fluctuation is taken
    as Gaussian: a saddle point with its determinant, also known as a TAP free energy.

        log Z = Σ_il r_i(l) (a_i(l) + log π(l) - log r_i(l)) - ½ σ² λ·λ - ½ log det X + constant
        X = Σ_i (diag r_i - r_i r_iᵀ) + σ² + ρ, among count vectors of one sum

    which is stationary in r, subject to Σ_i r_i = n - σ² λ, where one tilt λ of all instances, and
    the reaction b of each instance to its own share in the fluctuation, give

        r_i(l) ∝ π(l) exp(a_i(l) + λ_l + b_i(l)),   b_i(l) = (X⁻¹ r_i)_l - ½ (X⁻¹)_ll

    This is solved for λ by Newton's method, and for b by a few sweeps. The constant makes log Z
    zero without evidence, and ρ keeps the fluctuation harmless where no label is in doubt: the
    counts have one value there, of probability one. The gradient of log Z is r, as at the
    stationary point, though the sweeps may not have quite reached it.

    Args:
        log_weights: Log shares plus evidence, log π + a, `(bags, position, class)`, finite.
        present: Which positions hold an instance, `(bags, position)`.
        tally: What is known of the counts: n and σ².
    """
    bags = _Bags(
        present.unsqueeze(-1).to(log_weights),
        tally.counts.to(log_weights),
        tally.variance.unsqueeze(-1).to(log_weights),
        (tally.counts > 0).to(log_weights),
    )
    log_shares = tally.shares.log().clamp(min=LOG_ZERO).to(log_weights).unsqueeze(1)
    tilt = _balance(log_weights.detach(), bags, torch.zeros_like(bags.counts))
    possible = _possible(log_weights.detach(), tilt, bags)
    # An impossible bag never balances, however long: it goes on as one without evidence.
    log_weights = log_weights.where(possible.view(-1, 1, 1), log_shares)
    tilt = tilt.where(possible.unsqueeze(-1), 0.0)
    log_marginals, log_total = _settle(log_weights, bags, tilt)
    # Without evidence all instances are alike, so that one stands for all, untilted.
    alike = bags._replace(copies=bags.counts.sum(-1).view(-1, 1, 1))
    _, log_expected = _settle(log_shares, alike, torch.zeros_like(tilt))
    return Tallied(log_marginals, (log_total - log_expected).where(possible, LOG_ZERO))


class _Bags(NamedTuple):
    """Bags in the precision of their evidence.

    Attributes:
        copies: How many instances each position stands for, `(bags, position, 1)`.
        counts: The counts n, `(bags, class)`.
        variance: The variance of the counts, `(bags, 1)`.
        occurs: 1 for classes that occur, else 0, `(bags, class)`.
    """

    copies: Tensor
    counts: Tensor
    variance: Tensor
    occurs: Tensor

    @property
    def ones(self) -> Tensor:
        """Projection to equal counts of all classes that occur, `(bags, class, class)`."""
        size = self.occurs.sum(-1).view(-1, 1, 1)
        return self.occurs.unsqueeze(-1) * self.occurs.unsqueeze(-2) / size

    @property
    def plane(self) -> Tensor:
        """Projection to counts that add up to zero, `(bags, class, class)`."""
        return torch.diag_embed(self.occurs) - self.ones

    def covariance(self, r: Tensor) -> Tensor:
        """Covariance of the counts, `(bags, class, class)`, without cancellation."""
        together = (r * self.copies).mT @ r
        apart = together - torch.diag_embed(together.diagonal(dim1=-2, dim2=-1))
        return torch.diag_embed(apart.sum(-1)) - apart


def _settle(log_weights: Tensor, bags: _Bags, tilt: Tensor) -> tuple[Tensor, Tensor]:
    """Sweep from a tilt that balances the log-weights.

    Returns:
        Log r, `(bags, position, class)`, and log Z up to its constant, `(bags,)`.
    """
    log_r = _tilted(log_weights, bags, tilt)
    for _ in range(_SWEEPS):
        r = log_r.exp()
        _, inverse = _fluctuation(r, bags)
        reaction = r @ inverse - 0.5 * inverse.diagonal(dim1=-2, dim2=-1).unsqueeze(1)
        tilt = _balance((log_weights + reaction).detach(), bags, tilt)
        log_r = _tilted(log_weights + reaction, bags, tilt)
    log_s = log_r.detach()
    s = log_s.exp()
    energy = (bags.copies * s * (log_weights - log_s)).sum((1, 2))
    penalty = bags.variance.squeeze(-1) * tilt.square().sum(-1)
    log_determinant, _ = _fluctuation(s, bags)
    return log_r, energy - 0.5 * penalty - 0.5 * log_determinant


def _tilted(log_weights: Tensor, bags: _Bags, tilt: Tensor) -> Tensor:
    """Log-probabilities under a tilt that balances, which moves along if the weights move."""
    gap, curvature = _gap(log_weights, bags, tilt, torch.ones_like(bags.variance))
    # Zero in value; its gradient is that of the solution of "the gap is zero".
    moved = tilt + _solve(curvature.detach(), gap - gap.detach())
    return (log_weights + moved.unsqueeze(1)).log_softmax(-1)


@torch.no_grad()
def _balance(log_weights: Tensor, bags: _Bags, start: Tensor) -> Tensor:
    """Find the tilt by Newton's method, damped so that it descends from anywhere.

    The tilt minimises a convex function, which is nearly flat far from the minimum where evidence
    is strong. So strong evidence is divided by a heat, and the heat halved step by step.

    Args:
        log_weights: Log-weights of the labels, `(bags, position, class)`.
        bags: The bags.
        start: Where to start, `(bags, class)`.

    Returns:
        The tilt, `(bags, class)`.
    """
    resolution = 8 * torch.finfo(log_weights.dtype).eps
    tolerance = resolution * bags.counts.sum(-1, keepdim=True)
    # A start near the solution needs no heat.
    gap, _ = _gap(log_weights, bags, start, torch.ones_like(bags.variance))
    near = gap.abs().sum(-1, keepdim=True) < 1
    heat = torch.where(near, 1.0, _heat(log_weights, bags))
    tilt = start / heat
    for _ in range(_STEPS):
        gap, curvature = _gap(log_weights, bags, tilt, heat)
        step = _solve(curvature, gap)
        reach = step.amax(-1, keepdim=True) - step.amin(-1, keepdim=True)
        # The third derivative along a step is at most its reach times the second.
        tilt = tilt + step * (reach.log1p() / reach).where(reach > 0, 1.0)
        balanced = gap.abs().amax(-1, keepdim=True) <= tolerance
        balanced |= reach <= resolution * tilt.abs().amax(-1, keepdim=True)
        if bool((balanced & (heat <= 1)).all()):
            break
        cooler = (heat / 2).clamp(min=1.0).where(balanced | (reach < 0.1), heat)
        tilt, heat = tilt * (heat / cooler), cooler
    return tilt


def _heat(log_weights: Tensor, bags: _Bags) -> Tensor:
    """By what to divide log-weights at first, `(bags, 1)`."""
    log_weights = log_weights.detach()
    below = log_weights.amax(-1, keepdim=True) - log_weights
    below = below.where((log_weights > LOG_ZERO / 10) & (bags.copies > 0), 0.0)
    span = below.flatten(1).amax(-1, keepdim=True)
    return (span / _MILD).clamp(min=1.0)


def _gap(log_weights: Tensor, bags: _Bags, tilt: Tensor, heat: Tensor) -> tuple[Tensor, Tensor]:
    """How far expected counts are from right, `(bags, class)`, and minus its derivative."""
    warm = log_weights / heat.unsqueeze(-1) + tilt.unsqueeze(1)
    r = warm.softmax(-1)
    variance = heat * bags.variance
    curvature = bags.covariance(r) + variance.unsqueeze(-1) * bags.plane
    return bags.counts - (bags.copies * r).sum(1) - variance * tilt, curvature


def _solve(curvature: Tensor, gap: Tensor) -> Tensor:
    """Divide by a curvature whose null space is the vector of ones, without regard for scale.

    Args:
        curvature: Matrices `(bags, class, class)`; rows of classes that do not occur are zero.
        gap: Vectors that add up to zero, `(bags, class)`.

    Returns:
        Steps whose mean over the classes that occur is zero, `(bags, class)`.
    """
    eps = torch.finfo(gap.dtype).eps
    diagonal = curvature.diagonal(dim1=-2, dim2=-1)
    scale = diagonal.clamp(min=eps**2).rsqrt()
    null = diagonal.sqrt()
    null = null / null.norm(dim=-1, keepdim=True).clamp(min=eps)
    scaled = scale.unsqueeze(-1) * curvature * scale.unsqueeze(-2)
    ridge = 8 * eps * torch.eye(gap.shape[-1], dtype=gap.dtype, device=gap.device)
    regular = scaled + null.unsqueeze(-1) * null.unsqueeze(-2) + ridge
    solution: Tensor = torch.linalg.solve_ex(regular, scale * gap).result
    step = scale * solution
    occurs = diagonal > 0
    mean = step.sum(-1, keepdim=True) / occurs.sum(-1, keepdim=True).clamp(min=1)
    return step - mean * occurs


def _fluctuation(r: Tensor, bags: _Bags) -> tuple[Tensor, Tensor]:
    """Log-determinant of X, `(bags,)`, and its inverse, `(bags, class, class)`."""
    classes = bags.occurs.sum(-1, keepdim=True)
    # Count vectors of a given sum form a lattice whose cells have the volume sqrt(classes), so that
    # with this rho the Gaussian gives a probability of one to counts without variance.
    rho = classes ** (1 / (classes - 1).clamp(min=1)) / (2 * math.pi)
    spread = bags.covariance(r) + (bags.variance + rho).unsqueeze(-1) * bags.plane
    whole = spread + bags.ones + torch.diag_embed(1 - bags.occurs)
    factor = torch.linalg.cholesky_ex(whole).L
    log_determinant = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return log_determinant, torch.cholesky_inverse(factor)


def _possible(log_weights: Tensor, tilt: Tensor, bags: _Bags) -> Tensor:
    """Whether some labeling with the right counts has a positive weight, `(bags,)`.

    If there is none then no expected counts come within 2 of the right ones, by the theorem on
    flows and cuts; if there is one then balancing comes as near as it likes.
    """
    forbidden = (log_weights <= LOG_ZERO / 10) & (bags.copies * bags.occurs.unsqueeze(1) > 0)
    r = (log_weights + tilt.unsqueeze(1)).softmax(-1)
    short = (bags.counts - (bags.copies * r).sum(1)).abs().sum(-1) >= 1
    return ~(forbidden.any(-1).any(-1) & short & (bags.variance.squeeze(-1) == 0))
