"""What the tests of the objectives share: all objectives, masses and beliefs; random batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from hypothesis import strategies as st

from tacit.beliefs.bags import Bags
from tacit.beliefs.candidates import Candidates
from tacit.beliefs.categorical import Categorical
from tacit.beliefs.chains import Chains
from tacit.beliefs.orderings import Orderings
from tacit.beliefs.pairs import Pairs
from tacit.evidence import BatchMass, CollectionMass, FixedMass, TrackedMass, sum_by_class
from tacit.objectives import (
    EM,
    QR,
    RQ,
    Clustering,
    FreeEnergy,
    HardCrossEntropy,
    Objective,
    SoftCrossEntropy,
    SquaredError,
    UnionNLL,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tacit.beliefs import Belief
    from tacit.evidence import ClassMass

COUPLED = [RQ, QR, FreeEnergy, EM, Clustering]
BASELINES = [SoftCrossEntropy, HardCrossEntropy, SquaredError, UnionNLL]
OBJECTIVES = COUPLED + BASELINES
WITH_BELIEF = [kind for kind in OBJECTIVES if kind is not Clustering]

SHAPES = [(6, 4), (1, 3), (9, 2), (3, 4, 2), (2, 3, 2, 2)]


class Batch(NamedTuple):
    """A random batch, in float64.

    Attributes:
        logits: `(N, class)` or `(N, class, *)`.
        belief: Probabilities shaped like the logits, without zeros; rows do not sum to one.
        weight: Small whole numbers, zeros among them, `(N,)` or `(N, *)`.
        strata: Zeros and ones, `(N,)` or `(N, *)`.
        log_prediction: Whether the objective is to get log-probabilities.
    """

    logits: Tensor
    belief: Tensor
    weight: Tensor
    strata: Tensor
    log_prediction: bool = False

    @property
    def mask(self) -> Tensor:
        return self.weight > 0

    def flat(self) -> Batch:
        """The same instances one by one."""
        logits, belief = (pixels(table) for table in (self.logits, self.belief))
        weight, strata = self.weight.flatten(), self.strata.flatten()
        return Batch(logits, belief, weight, strata, self.log_prediction)

    def take(self, rows: Tensor) -> Batch:
        """Some of the instances, along the first axis."""
        return Batch(*(tensor[rows] for tensor in self[:4]), self.log_prediction)


def draw(shape: tuple[int, ...], seed: int, *, log_prediction: bool = False) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    per_instance = (shape[0], *shape[2:])
    logits = 2 * torch.randn(shape, generator=generator, dtype=torch.float64)
    belief = 0.05 + torch.rand(shape, generator=generator, dtype=torch.float64)
    weight = torch.randint(0, 4, per_instance, generator=generator).double()
    weight.view(-1)[0] += 1
    strata = torch.randint(0, 2, per_instance, generator=generator)
    return Batch(logits, belief, weight, strata, log_prediction)


batches = st.builds(
    draw, st.sampled_from(SHAPES), st.integers(0, 2**32), log_prediction=st.booleans()
)


def pixels(table: Tensor) -> Tensor:
    """Class axis last, all other axes in one."""
    return table.movedim(1, -1).reshape(-1, table.shape[1])


def raster(rows: Tensor, shape: torch.Size) -> Tensor:
    """What `pixels` undoes."""
    return rows.view(shape[0], *shape[2:], shape[1]).movedim(-1, 1)


def run(
    objective: Objective,
    logits: Tensor,
    belief: Tensor | Belief | None,
    *,
    log_prediction: bool = False,
    **extra: Any,
) -> tuple[Tensor, Tensor]:
    """Value of an objective, and the derivative of its sum with respect to the logits.

    Per-instance values are summed with unequal factors, the instances of a raster in their order.
    """
    leaf = logits.detach().clone().requires_grad_()
    given = {"log_prediction": leaf.log_softmax(1)} if log_prediction else {"logits": leaf}
    if objective.formula.uses_belief:
        given["belief"] = belief
    value = objective(**given, **extra)
    (gradient,) = torch.autograd.grad((upstream(value) * value).sum(), leaf)
    return value.detach(), gradient


def upstream(value: Tensor) -> Tensor:
    return torch.linspace(0.5, 2, value.numel(), dtype=torch.float64).to(value).view(value.shape)


def values_and_gradient(kind: type[Objective], batch: Batch, **extra: Any) -> tuple[Tensor, Tensor]:
    """Per-instance values under the batch's own mass, and the derivative of their sum."""
    settings = {"reduction": "none"} | {
        name: extra.pop(name)
        for name in ("mass", "smoothing", "reduction", "by_formula")
        if name in extra
    }
    belief = extra.pop("belief", batch.belief)
    objective = kind(**settings, allow_collapse=True)
    return run(objective, batch.logits, belief, log_prediction=batch.log_prediction, **extra)


def _fixed(log_q: Tensor, n_strata: int) -> ClassMass:
    del log_q
    return FixedMass(torch.tensor([[0.2, 0.3, 0.1, 0.4], [0.5, 0.2, 0.2, 0.1]])[:n_strata]).double()


def _tracked(log_q: Tensor, n_strata: int) -> ClassMass:
    mass = TrackedMass(n_strata=n_strata)
    strata = torch.arange(len(log_q)) % n_strata
    mass(sum_by_class(log_q.roll(1, 1), strata=strata, n_strata=n_strata))
    return mass


def _collection(log_q: Tensor, n_strata: int) -> ClassMass:
    strata = torch.arange(len(log_q)) % n_strata
    part = sum_by_class(log_q.roll(1, 1), strata=strata, n_strata=n_strata, group=None)
    return CollectionMass(n_strata=n_strata).refresh([part])


MASSES: dict[str, Callable[[Tensor, int], ClassMass]] = {
    "batch": lambda _, n_strata: BatchMass(n_strata),
    "tracked": _tracked,
    "collection": _collection,
    "fixed": _fixed,
}
"""How to make each mass for four classes: (log-predictions of another batch, strata) -> mass."""


class Kind(NamedTuple):
    """A kind of belief about five instances with three classes.

    Attributes:
        build: Makes the belief, given where each instance has gone.
        prior: Weight of a joint labeling.
    """

    build: Callable[[list[int]], Belief]
    prior: Callable[[tuple[int, ...]], float]


N_INSTANCES, N_CLASSES = 5, 3

_ROWS = np.array([[5, 2, 1], [1, 7, 3], [2, 1, 4], [3, 2, 9], [1, 6, 2.0]])
_SETS = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1]])
_TABLE = np.array([[3, 1, 0], [2, 5, 1], [1, 0, 7.0]])


def _rows(table: np.ndarray, place: list[int]) -> Tensor:
    moved = torch.empty(len(table), N_CLASSES, dtype=torch.float64)
    moved[place] = torch.as_tensor(table, dtype=torch.float64)
    return moved


def _product_of(table: np.ndarray) -> Callable[[tuple[int, ...]], float]:
    return lambda labels: float(np.prod([table[i, label] for i, label in enumerate(labels)]))


def _chain(labels: tuple[int, ...]) -> float:
    first, second, third = labels[4], labels[0], labels[2]
    T = _TABLE / _TABLE.sum(1, keepdims=True)
    return float([0.5, 0.2, 0.3][first] * T[first, second] * T[second, third])


def _candidates(place: list[int]) -> Candidates:
    return Candidates.from_mask(_rows(_SETS, place) > 0)


def _greater(place: list[int]) -> Pairs:
    pairs = [[place[3], place[0]]]
    return Pairs.greater(pairs, n_classes=N_CLASSES, n_instances=N_INSTANCES)


INDEPENDENT = {
    "categorical": Kind(lambda place: Categorical(_rows(_ROWS, place)), _product_of(_ROWS)),
    "logs": Kind(lambda place: Categorical.from_log(_rows(_ROWS, place).log()), _product_of(_ROWS)),
    "candidates": Kind(_candidates, _product_of(_SETS)),
    "product of rows": Kind(
        lambda place: Categorical(_rows(_ROWS, place)) * _candidates(place),
        _product_of(_ROWS * _SETS),
    ),
}
STRUCTURED = {
    "pairs": Kind(_greater, lambda labels: float(labels[3] > labels[0])),
    "table": Kind(
        lambda place: Pairs.from_table(
            [[place[1], place[4]]], torch.tensor(_TABLE), n_instances=N_INSTANCES
        ),
        lambda labels: _TABLE[labels[1], labels[4]],
    ),
    "orderings": Kind(
        lambda place: Orderings(
            [[place[2], place[0], place[4]]],
            n_classes=N_CLASSES,
            n_instances=N_INSTANCES,
            strict=False,
        ),
        lambda labels: float(labels[2] <= labels[0] <= labels[4]),
    ),
    "bags": Kind(
        lambda place: Bags.from_counts(
            [[place[0], place[1], place[3]]], [[2, 0, 1]], n_instances=N_INSTANCES
        ),
        lambda labels: float(sorted([labels[0], labels[1], labels[3]]) == [0, 0, 2]),
    ),
    "chains": Kind(
        lambda place: Chains(
            [[place[4], place[0], place[2]]],
            torch.tensor(_TABLE),
            initial=[5, 2, 3],
            n_instances=N_INSTANCES,
        ),
        _chain,
    ),
    "product": Kind(
        lambda place: _greater(place) * Categorical(_rows(_ROWS, place)),
        lambda labels: _product_of(_ROWS)(labels) * (labels[3] > labels[0]),
    ),
}
BELIEFS = INDEPENDENT | STRUCTURED
AS_THEY_ARE = list(range(N_INSTANCES))
