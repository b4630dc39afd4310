"""Bags of instances whose class counts or proportions are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, TypeAlias

import torch
from torch import Tensor

from tacit.beliefs._counts import infer_two_classes, infer_vectors, number_of_vectors
from tacit.beliefs._groups import Bucket, Grouped, flat_members
from tacit.beliefs._logspace import LOG_ZERO, normalised
from tacit.beliefs._tally import Tallied, Tally
from tacit.beliefs._tilting import infer_tilted
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bags"]

_BagList: TypeAlias = "Sequence[Sequence[int]] | Sequence[Tensor] | Tensor"

_TERMS: Final = 1 << 20
"""Terms (instances x count vectors x classes) up to which a bag of several classes is inferred
exactly: 16 instances in ten classes, 13 in as many, 140 in three; 30 ms and 30 MB for such a bag.
"""

_SLAB: Final = 1 << 24
"""Count vectors that are held at a time, over all positions of as many bags as fit."""

_TWO_CLASSES: Final = 0
_TILTED: Final = -1
_SUM_ERROR: Final = 1e-4
"""How far proportions may add up to something else than one: float32 and four decimals pass."""


class Bags(Grouped):
    """Bags in which it is known how often each class occurs, but not where.

        p(l_1, ..., l_k) ∝ 1[N_l = n_l for each class l]

    where N_l counts the labels l in a bag of k instances, and n_l is its known count. Made by
    `from_counts`, or by `from_proportions`, which also lets the counts be known roughly.

    Inference is exact in bags of any size in which at most two classes occur, and in bags of
    several classes that are small: the number of instances, times that of the count vectors of all
    classes but the most frequent one, times that of the classes may be a million. `exact` tells
    which bags these are.

    In the others inference is approximate: a saddle point, with the fluctuation of the counts
    taken as Gaussian. The marginals still add up to the counts, and are the gradient of the
    log-normaliser. The largest errors of a marginal (and of the log-normaliser, per instance)
    against exact inference, in a thousand bags each, for random evidence of standard deviation s:

    | counts          | s = 1           | s = 3           | s = 10         |
    |-----------------|-----------------|-----------------|----------------|
    | 3 x 50          | 0.0001 (0.0001) | 0.0003 (0.0001) | 0.01 (0.0004)  |
    | 200 and 3 x 20  | 0.0002 (0.0001) | 0.001 (0.0001)  | 0.05 (0.0006)  |
    | 4 x 16          | 0.0003 (0.0002) | 0.004 (0.0006)  | 0.08 (0.004)   |
    | 5 x 8           | 0.001 (0.0005)  | 0.03 (0.003)    | 0.13 (0.01)    |
    | 10 x 2          | 0.03 (0.005)    | 0.14 (0.03)     | 0.22 (0.03)    |
    | 14 x 1          | 0.06 (0.02)     | 0.2 (0.07)      | 0.25 (0.06)    |

    So it is near where counts are large or evidence is mild. Where each class has one instance or
    two and evidence is strong, read it as who is likely to have which label, not as how likely.

    Args:
        members: The instances of all bags, one bag after the other.
        lengths: Number of instances in each bag.
        tally: What is known of the counts in each bag.
        n_instances: Number of instances that the belief covers; of those in no bag nothing is
            known.

    Example:
        >>> belief = Bags.from_counts([[0, 2, 3]], [[2, 1]], n_instances=4)
        >>> belief.marginals()
        tensor([[0.6667, 0.3333],
                [0.5000, 0.5000],
                [0.6667, 0.3333],
                [0.6667, 0.3333]])
    """

    _per_group = ("_counts", "_variance", "_plan")

    def __init__(self, members: Tensor, lengths: Tensor, tally: Tally, *, n_instances: int) -> None:
        super().__init__(
            members,
            lengths,
            n_instances=n_instances,
            n_classes=tally.counts.shape[1],
            argument="bags",
        )
        self._counts = tally.counts.to(self.device)
        self._variance = tally.variance.to(self.device)
        self._plan = _plan(self._tally)

    @classmethod
    def from_counts(
        cls, bags: _BagList, counts: Tensor | Sequence[Sequence[int]], *, n_instances: int
    ) -> Self:
        """Bags of which the number of instances of each class is known.

        Args:
            bags: Instance numbers, one list per bag; bags may differ in size. An integer tensor
                `(bags, position)` does as well.
            counts: How many instances of the bag have each label, `(bags, class)`.
            n_instances: Number of instances that the belief covers; of those in no bag nothing is
                known.

        Raises:
            InvalidInputError: If counts are not whole numbers of at least 0 that add up to the
                size of their bag; if an instance comes twice or does not exist, or if there is no
                bag.

        Example:
            >>> import torch
            >>> belief = Bags.from_counts([[0, 1, 2]], [[2, 1]], n_instances=3)
            >>> evidence = torch.tensor([[0.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
            >>> belief.posterior(evidence).log_marginals.exp()
            tensor([[0.2130, 0.7870],
                    [0.8935, 0.1065],
                    [0.8935, 0.1065]])
        """
        members, lengths = flat_members(bags, "bags")
        table = _table(counts, lengths, "counts")
        _check_counts(table, lengths)
        tally = Tally(table, torch.zeros_like(table[:, 0]))
        return cls(members, lengths, tally, n_instances=n_instances)

    @classmethod
    def from_proportions(
        cls,
        bags: _BagList,
        proportions: Tensor | Sequence[Sequence[float]],
        *,
        n_instances: int,
        tolerance: float = 0.0,
    ) -> Self:
        """Bags of which the share of each class is known, exactly or roughly.

            p(l_1, ..., l_k) ∝ Π_i π(l_i) · exp(-Σ_l (N_l - k π(l))² / 2σ²)

        where π are the `proportions`, and σ is such that each class's share would have the standard
        deviation `tolerance`: σ² = (k · tolerance)² C / (C - 1), for C classes that occur. These
        are labels drawn from the proportions and then counted with an error. Much of it leaves
        each instance alone with belief π; without it the counts are known, as the whole numbers
        nearest to k π (by largest remainder, ties to the first class). A class of proportion 0
        does not occur, whatever the tolerance.

        Args:
            bags: Instance numbers, one list per bag, or an integer tensor `(bags, position)`.
            proportions: Share of each class in the bag, `(bags, class)`; rows add up to one.
            n_instances: Number of instances that the belief covers; of those in no bag nothing is
                known.
            tolerance: How far shares may be off, as a standard deviation: 0.05 is five percentage
                points.

        Raises:
            InvalidInputError: If proportions are negative or NaN, or do not add up to one; if the
                tolerance is negative; if an instance comes twice or does not exist, or if there is
                no bag.

        Example:
            >>> import torch
            >>> evidence = torch.tensor([[0.0, 2.0], [0.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
            >>> for tolerance in (0.0, 0.1, 10.0):
            ...     belief = Bags.from_proportions(
            ...         [[0, 1, 2, 3]], [[0.75, 0.25]], n_instances=4, tolerance=tolerance
            ...     )
            ...     belief.posterior(evidence).log_marginals[:, 1].exp()
            tensor([0.4404, 0.4404, 0.0596, 0.0596])
            tensor([0.4629, 0.4629, 0.0678, 0.0678])
            tensor([0.7111, 0.7111, 0.2499, 0.2499])
        """
        members, lengths = flat_members(bags, "bags")
        table = _table(proportions, lengths, "proportions")
        _check_proportions(table)
        if not 0 <= tolerance < float("inf"):
            raise refuse(
                "tolerance",
                "be at least 0 and finite",
                f"it is {tolerance}",
                "pass 0 where proportions are exact, 0.05 where they are five points off",
            )
        return cls(members, lengths, _rough(table, lengths, tolerance), n_instances=n_instances)

    @property
    def exact(self) -> Tensor:
        """Whether inference is exact in each group, `(groups,)`; instances in no bag included."""
        alone = self._plan.new_ones(self.n_groups - len(self._plan), dtype=torch.bool)
        return torch.cat([self._plan != _TILTED, alone])

    def __repr__(self) -> str:
        n_exact, n_bags = int((self._plan != _TILTED).sum()), len(self._plan)
        return f"{super().__repr__()[:-1]}, exact={n_exact} of {n_bags} bags)"

    @property
    def _tally(self) -> Tally:
        return Tally(self._counts, self._variance)

    def _infer(self, log_evidence: Tensor, bucket: Bucket) -> tuple[Tensor, Tensor]:
        tally = self._tally.of_bags(bucket.groups)
        log_shares = tally.shares.log().to(log_evidence).unsqueeze(1)
        log_joint = (log_shares + log_evidence).clamp(min=LOG_ZERO)
        # Constant to autograd, as in `rescaled`; without evidence it is zero.
        log_scale = log_joint.detach().logsumexp(-1)
        log_scale = log_scale.where(log_scale > LOG_ZERO / 10, 0.0)
        plan = self._plan[bucket.groups]
        log_weights = log_joint - log_scale.unsqueeze(-1)
        log_marginals, log_normaliser = _infer_planned(log_weights, bucket.present, tally, plan)
        log_normaliser = log_normaliser + log_scale.sum(1)
        # Comparing this way round lets NaN through, so that it is seen.
        possible = ~(log_normaliser <= LOG_ZERO / 10)
        log_marginals = log_marginals.where(possible.view(-1, 1, 1), LOG_ZERO)
        return normalised(log_marginals)[0], log_normaliser.where(possible, -torch.inf)


def _plan(tally: Tally) -> Tensor:
    """How to infer each bag, `(bags,)`: `_TWO_CLASSES`, `_TILTED`, or log2 of its count vectors."""
    occurring = (tally.counts > 0).sum(-1)
    vectors = number_of_vectors(tally)
    plan = vectors.log2().ceil().where(tally.sizes * vectors * occurring <= _TERMS, _TILTED)
    return plan.where(occurring > 2, _TWO_CLASSES).long()


def _infer_planned(log_weights: Tensor, present: Tensor, tally: Tally, plan: Tensor) -> Tallied:
    """Infer bags of equal plans together, as many at once as fit."""
    parts, order = [], []
    for code in plan.unique().tolist():
        infer = {_TWO_CLASSES: infer_two_classes, _TILTED: infer_tilted}.get(code, infer_vectors)
        at_once = max(1, _SLAB // (log_weights.shape[1] << max(code, 0)))
        for bags in (plan == code).nonzero().squeeze(1).split(at_once):
            parts.append(infer(log_weights[bags], present[bags], tally.of_bags(bags)))
            order.append(bags)
    place = torch.cat(order).argsort()
    log_marginals, log_normaliser = (torch.cat(values) for values in zip(*parts, strict=True))
    return Tallied(log_marginals[place], log_normaliser[place])


def _rough(proportions: Tensor, lengths: Tensor, tolerance: float) -> Tally:
    """Counts from proportions, whole or with a variance."""
    sizes = lengths.unsqueeze(-1)
    expected = proportions / proportions.sum(-1, keepdim=True) * sizes
    if tolerance == 0:
        return Tally(_nearest_whole(expected, lengths), torch.zeros_like(expected[:, 0]))
    occurring = (expected > 0).sum(-1)
    spread = (lengths * tolerance) ** 2 * occurring / (occurring - 1).clamp(min=1)
    return Tally(expected, spread)


def _nearest_whole(expected: Tensor, lengths: Tensor) -> Tensor:
    """Whole counts that add up, by the method of the largest remainder, `(bags, class)`."""
    counts = expected.floor()
    order = (counts - expected).argsort(dim=-1, stable=True)
    missing = lengths - counts.sum(-1)
    return torch.where(order.argsort(-1) < missing.unsqueeze(-1), counts + 1, counts)


def _table(values: Tensor | Sequence[Sequence[float]], lengths: Tensor, argument: str) -> Tensor:
    """A table of one row per bag, `(bags, class)`, in float64."""
    if len(lengths) == 0:
        raise refuse(
            "bags",
            "hold at least one bag",
            "it is empty",
            "where nothing is known of any instance pass a Categorical of equal numbers",
        )
    table = torch.as_tensor(values, dtype=torch.float64, device=lengths.device)
    if table.ndim != 2 or len(table) != len(lengths):
        raise refuse(
            argument,
            f"have shape (bags, class) with {len(lengths)} bags",
            f"its shape is {tuple(table.shape)}",
            "pass one row per bag and one column per class",
        )
    return table


def _check_counts(counts: Tensor, lengths: Tensor) -> None:
    wrong = ~((counts >= 0) & (counts == counts.floor()) & (counts < torch.inf))
    if bool(wrong.any()):
        row, label = (int(i) for i in wrong.nonzero()[0])
        raise refuse(
            "counts",
            "be whole numbers of at least 0",
            f"bag {row} has {counts[row, label].item():g} of class {label}",
            "for shares use Bags.from_proportions",
        )
    total = counts.sum(-1)
    unequal = total != lengths
    if bool(unequal.any()):
        row = int(unequal.nonzero()[0])
        raise refuse(
            "counts",
            "add up to the size of the bag",
            f"bag {row} has {int(lengths[row])} instances and counts for {total[row].item():g}",
            "count each instance of the bag once; where some are missing use from_proportions",
        )


def _check_proportions(proportions: Tensor) -> None:
    wrong = ~((proportions >= 0) & (proportions < torch.inf))
    if bool(wrong.any()):
        row, label = (int(i) for i in wrong.nonzero()[0])
        raise refuse(
            "proportions",
            "be numbers of at least 0",
            f"bag {row} has {proportions[row, label].item():g} of class {label}",
            "mend the row, or drop the bag",
        )
    total = proportions.sum(-1)
    unequal = (total - 1).abs() > _SUM_ERROR
    if bool(unequal.any()):
        row = int(unequal.nonzero()[0])
        raise refuse(
            "proportions",
            "add up to 1 in each bag",
            f"those of bag {row} add up to {total[row].item():g}",
            "divide each row by its sum, or use Bags.from_counts for counts",
        )
