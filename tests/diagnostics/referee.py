"""The slow, obvious figures: one instance, one class at a time."""

from __future__ import annotations

import math


def entropy(row):
    return -math.fsum(p * math.log(p) for p in row if p > 0)


def vitals(q, p, weight, before=None):
    """Figures of predictions, of which those without weight are left out."""
    there = [i for i, w in enumerate(weight) if w > 0]
    total = math.fsum(weight[i] for i in there)
    classes = range(len(q[0]))
    mass = [math.fsum(weight[i] * q[i][c] for i in there) / total for c in classes]
    share = [math.fsum(weight[i] * p[i][c] for i in there) / total for c in classes]
    unsure = math.fsum(weight[i] * entropy(q[i]) for i in there) / total
    excluded = math.fsum(weight[i] * q[i][c] for i in there for c in classes if not p[i][c]) / total
    moved = math.fsum(abs(m - b) for m, b in zip(mass, before or mass, strict=True)) / 2
    return {
        "entropy_of_mean": entropy(mass),
        "mean_entropy": unsure,
        "information": entropy(mass) - unsure,
        "contradiction": excluded,
        "drift": moved,
        "vanished": tuple(c for c in classes if share[c] > 0 and mass[c] < 0.02 * share[c]),
    }


def held_out_evidence(q, p, weight, strata):
    """Of independent beliefs: the weighted mean of log sum_l p q / S."""
    classes = range(len(q[0]))

    def mass(stratum, c):
        members = [i for i, s in enumerate(strata) if s == stratum]
        total = math.fsum(weight[i] for i in members)
        return math.fsum(weight[i] * q[i][c] for i in members) / total

    found = [
        math.log(math.fsum(p[i][c] * q[i][c] / mass(strata[i], c) for c in classes))
        for i in range(len(q))
        if weight[i] > 0
    ]
    kept = [w for w in weight if w > 0]
    return math.fsum(w * f for w, f in zip(kept, found, strict=True)) / math.fsum(kept)
