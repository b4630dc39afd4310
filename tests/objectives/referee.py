"""The objectives by plain loops over instances, classes and labelings, from the paper's formulas.

Everything here takes complex numbers too, so that a derivative is an imaginary part: for a small h
f(x + ih) = f(x) + ih f'(x), exact to rounding. Nothing is shared with the package.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Prior = Callable[[tuple[int, ...]], float]

STEP = 1e-30


class Referee(NamedTuple):
    """One objective on one batch.

    Attributes:
        name: Which objective.
        belief: Rows of probabilities, `(N, class)`, or the weight of each joint labeling.
        weight: Weight of each instance; one of weight 0 is not there, its features are not seen.
        strata: Stratum of each instance.
        n_strata: Number of strata.
        smoothing: Added to q and p.
        mass: S in use, `(strata, class)`, if it is not the batch's own.
        flows: Whether the log of such an S has the derivative of the log of the batch's own.
        reduction: "mean", "sum" or "none".
    """

    name: str
    belief: NDArray | Prior | None
    weight: NDArray | None = None
    strata: NDArray | None = None
    n_strata: int = 1
    smoothing: float = 0.0
    mass: NDArray | None = None
    flows: bool = False
    reduction: str = "none"

    def loss(self, logits: NDArray) -> NDArray:
        """The loss from logits `(N, class)`; a value per instance with reduction "none"."""
        values = self._values(logits)
        if self.reduction == "none":
            return values
        w = self._weights(len(logits))
        total = sum(w[i] * values[i] for i in range(len(values)) if w[i] > 0)
        return total if self.reduction == "sum" else total / sum(w)

    def gradient(self, logits: NDArray, upstream: NDArray | float = 1.0) -> NDArray:
        """Derivative of the loss, or of sum_i upstream_i L_i, by each logit."""
        slope = np.zeros(logits.shape)
        for place in np.ndindex(*logits.shape):
            nudged = logits.astype(complex)
            nudged[place] += 1j * STEP
            slope[place] = np.imag(np.sum(upstream * self.loss(nudged))) / STEP
        return slope

    def _values(self, logits: NDArray) -> NDArray:
        w = self._weights(len(logits))
        q = np.array([self._smoothed(softmax(z)) for z in logits])
        S = self._mass_in_use(q, w)
        strata = np.zeros(len(q), int) if self.strata is None else self.strata
        S_of = np.array([S[strata[i]] for i in range(len(q))])
        p, r = self._belief_and_posterior(q, S_of, w)
        values = np.zeros(len(q), logits.dtype)
        for i in range(len(q)):
            if w[i] > 0:
                values[i] = FORMULAS[self.name](q[i], p[i], r[i], S_of[i])
        return values

    def _weights(self, n: int) -> NDArray:
        return np.ones(n) if self.weight is None else self.weight

    def _smoothed(self, x: NDArray) -> NDArray:
        return (x + self.smoothing) / (1 + len(x) * self.smoothing)

    def _mass_in_use(self, q: NDArray, w: NDArray) -> NDArray:
        own = class_mass(q, w, self.strata, self.n_strata)
        if self.mass is None:
            return own
        if not (self.flows and np.iscomplexobj(q)):
            return self.mass
        return self.mass * (1 + 1j * own.imag / own.real)

    def _belief_and_posterior(self, q: NDArray, S: NDArray, w: NDArray) -> tuple[NDArray, NDArray]:
        if self.belief is None:
            return np.ones_like(q), q
        if callable(self.belief):
            seen = (w > 0)[:, None]
            p = posterior(self.belief, np.ones(q.shape))
            r = posterior(self.belief, np.where(seen, q / S, 1.0))
            return tuple(np.array([self._smoothed(row) for row in rows]) for rows in (p, r))
        p = np.array([self._smoothed(row / sum(row)) for row in self.belief])
        r = np.array([p[i] * q[i] / S[i] / sum(p[i] * q[i] / S[i]) for i in range(len(q))])
        return p, r


def softmax(z: NDArray) -> NDArray:
    raised = np.exp(z - max(z.real))
    return raised / sum(raised)


def class_mass(
    q: NDArray, weight: NDArray, strata: NDArray | None = None, n_strata: int = 1
) -> NDArray:
    """S, `(strata, class)`: the mean prediction, uniform where there is none."""
    mass = np.full((n_strata, q.shape[1]), 1 / q.shape[1], q.dtype)
    for s in range(n_strata):
        rows = [i for i in range(len(q)) if weight[i] > 0 and (strata is None or strata[i] == s)]
        if rows:
            mass[s] = sum(weight[i] * q[i] for i in rows) / sum(weight[i] for i in rows)
    return mass


def posterior(prior: Prior, likelihood: NDArray) -> NDArray:
    """Marginals of prior(l_1, ..., l_n) prod_i likelihood_i(l_i), by summing over all labelings."""
    n, n_classes = likelihood.shape
    marginals = np.zeros(likelihood.shape, likelihood.dtype)
    for labels in product(range(n_classes), repeat=n):
        share = prior(labels) * prod(likelihood[i, labels[i]] for i in range(n))
        for i in range(n):
            marginals[i, labels[i]] += share
    return marginals / marginals.sum(1, keepdims=True)


def _sum(weight: NDArray, log_of: NDArray) -> complex:
    """sum weight log(log_of), where 0 log 0 is 0."""
    return sum(w * np.log(x) for w, x in zip(weight, log_of, strict=True) if w != 0)


FORMULAS = {
    "RQ": lambda q, _, r, __: _sum(r, r) - _sum(r, q),
    "QR": lambda q, _, r, __: _sum(q, q) - _sum(q, r),
    "FreeEnergy": lambda q, p, _, S: _sum(q, S) - _sum(q, p),
    "EM": lambda q, _, r, __: -_sum(r.real, q),
    "Clustering": lambda q, _, __, S: _sum(q, S) - _sum(q, q),
    "SoftCrossEntropy": lambda q, p, *_: -_sum(p, q),
    "HardCrossEntropy": lambda q, p, *_: -np.log(q[np.argmax(np.round(p.real, 12))]),
    "SquaredError": lambda q, p, *_: sum((q - p) ** 2),
    "UnionNLL": lambda q, p, *_: -np.log(sum(q * p) / max(p.real)),
}
