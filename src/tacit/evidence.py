"""Class mass and evidence: what a predictor implies about the features of each class.

The class mass S_l = sum_i w_i q_i(l) / sum_i w_i is the share of the collection that the prediction
q gives to class l, and log q_i(l) - log S_l is the evidence that instance i brings for it: the
log-likelihood log p(x_i | l) of the implicit generative model, up to a constant (`eq:aux_p`).

A *mass* here is a strategy: over what the mean is taken. It is told each batch's own mass and
answers with the one to use.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from tacit._processes import Group, joint_logsumexp, n_processes
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BatchMass",
    "ClassMass",
    "CollectionMass",
    "FixedMass",
    "MassSum",
    "TrackedMass",
    "class_mass",
    "evidence",
    "own_evidence",
    "sum_by_class",
]


class MassSum(NamedTuple):
    """What a batch adds to the class mass, in logs.

    Attributes:
        log_sum: Log of sum_i w_i q_i(l), `(strata, class)`.
        log_weight: Log of sum_i w_i, `(strata,)`.
        log_mass: Log of their ratio, `(strata, class)`; uniform in a stratum without instances.
    """

    log_sum: Tensor
    log_weight: Tensor
    log_mass: Tensor

    @classmethod
    def of(cls, log_sum: Tensor, log_weight: Tensor) -> Self:
        """Derive the mass from the two sums."""
        empty = (log_weight == -torch.inf).unsqueeze(-1)
        log_mass = log_sum - log_weight.unsqueeze(-1)
        return cls(log_sum, log_weight, log_mass.masked_fill(empty, -math.log(log_sum.shape[-1])))


def sum_by_class(
    log_prediction: Tensor,
    *,
    weight: Tensor | None = None,
    strata: Tensor | None = None,
    n_strata: int = 1,
    group: Group = "world",
) -> MassSum:
    """Add up the prediction over the instances, class by class and stratum by stratum.

    log sum_i w_i q_i(l), by logsumexp, so that a class which has all but vanished keeps a
    finite log.

    Args:
        log_prediction: Log of q, `(N, class)` or `(N, class, *)`.
        weight: w, one number of at least 0 per instance, `(N,)` or `(N, *)`; 0 is "not there".
        strata: Stratum of each instance, whole numbers below `n_strata`, shaped like `weight`.
        n_strata: Number of strata.
        group: The processes that share the collection.

    Returns:
        The sums in logs, over all processes.
    """
    shape = torch.Size((log_prediction.shape[0], *log_prediction.shape[2:]))
    _check_per_instance(weight, "weight", shape)
    _check_per_instance(strata, "strata", shape)
    if strata is None and n_strata > 1:
        raise refuse(
            "strata",
            f"be given, for {n_strata} strata",
            "none came",
            "pass the stratum of each instance",
        )
    log_q = log_prediction.movedim(1, -1)
    log_w = log_q.new_zeros(log_q.shape[:-1]) if weight is None else weight.to(log_q.dtype).log()
    if strata is None:
        axes = tuple(range(log_w.ndim))
        log_wq = log_q if weight is None else log_q + log_w.unsqueeze(-1)
        sums = log_wq.logsumexp(axes).unsqueeze(0)
        weights = log_w.logsumexp(axes).unsqueeze(0)
    else:
        index = strata.reshape(-1).long()
        sums = _logsumexp_by_stratum((log_q + log_w.unsqueeze(-1)).flatten(0, -2), index, n_strata)
        weights = _logsumexp_by_stratum(log_w.reshape(-1, 1), index, n_strata).squeeze(-1)
    return over_processes(MassSum.of(sums, weights), group)


def over_processes(own: MassSum, group: Group) -> MassSum:
    """Add what each process brings to the class mass."""
    if n_processes(group) == 1:
        return own
    joint = joint_logsumexp(torch.cat([own.log_sum, own.log_weight.unsqueeze(-1)], -1), group)
    return MassSum.of(joint[:, :-1], joint[:, -1])


def class_mass(
    log_prediction: Tensor, *, weight: Tensor | None = None, group: Group = "world"
) -> Tensor:
    """Share of the collection that each class claims.

    S_l = sum_i w_i q_i(l) / sum_i w_i (the denominator of `eq:true_post`, as a mean).

    Args:
        log_prediction: Log of q, `(N, class)` or `(N, class, *)`.
        weight: w, `(N,)` or `(N, *)`.
        group: The processes that share the collection.

    Returns:
        S, `(class,)`, which sums to one.

    Example:
        >>> class_mass(torch.tensor([[0.5, 0.5], [1.0, 0.0]]).log())
        tensor([0.7500, 0.2500])
    """
    return sum_by_class(log_prediction, weight=weight, group=group).log_mass[0].exp()


def evidence(log_prediction: Tensor, *, log_mass: Tensor, strata: Tensor | None = None) -> Tensor:
    """What the features say about each class: log q_i(l) - log S_l (`eq:aux_p`).

    Args:
        log_prediction: Log of q, `(N, class)` or `(N, class, *)`.
        log_mass: Log of S, `(class,)`, or `(strata, class)`.
        strata: Stratum of each instance, `(N,)` or `(N, *)`, where `log_mass` has several.

    Returns:
        The evidence, shaped like `log_prediction`.

    Example:
        >>> log_q = torch.tensor([[0.5, 0.5], [1.0, 0.0]]).log()
        >>> evidence(log_q, log_mass=torch.tensor([0.75, 0.25]).log()).exp()
        tensor([[0.6667, 2.0000],
                [1.3333, 0.0000]])
    """
    return log_prediction - spread(log_mass, strata, log_prediction.ndim)


def own_evidence(
    log_prediction: Tensor,
    *,
    weight: Tensor | None = None,
    strata: Tensor | None = None,
    n_strata: int | None = None,
) -> Tensor:
    """The evidence of a collection that is seen whole: S is the mean of q over these very rows.

    Args:
        log_prediction: Log of q, `(instances, class)`.
        weight: Weight of each instance; 0 is "not there".
        strata: Stratum of each instance, where each has a class mass of its own.
        n_strata: Number of strata; by default those that occur.

    Example:
        >>> alike = torch.tensor([[0.25, 0.75]] * 2).log()
        >>> own_evidence(alike)
        tensor([[0., 0.],
                [0., 0.]])
    """
    if n_strata is None:
        n_strata = 1 if strata is None else int(strata.max()) + 1
    own = strata if n_strata > 1 else None
    sums = sum_by_class(log_prediction, weight=weight, strata=own, n_strata=n_strata, group=None)
    log_mass = sums.log_mass if n_strata > 1 else sums.log_mass[0]
    return evidence(log_prediction, log_mass=log_mass, strata=own)


def spread(log_mass: Tensor, strata: Tensor | None, ndim: int) -> Tensor:
    """Lay the mass of each instance's stratum out beside its prediction, class axis 1."""
    if strata is not None:
        return log_mass[strata].movedim(-1, 1)
    return log_mass.reshape(1, -1, *[1] * (ndim - 2))


class ClassMass(nn.Module):
    """Base of the strategies: over what the class mass is a mean.

    Attributes:
        flows: Whether gradients flow through the batch's share of the mass. Without them RQ, QR
            and FreeEnergy push rare classes down and nothing pushes back.
        n_strata: Number of strata, each with a mass of its own.
    """

    flows: bool = True

    def __init__(self, n_strata: int = 1) -> None:
        super().__init__()
        if n_strata < 1:
            raise refuse("n_strata", "be at least 1", f"it is {n_strata}", "1 is a single mass")
        self.n_strata = n_strata

    def forward(self, batch: MassSum) -> Tensor:
        """Log of the mass to use with a batch, `(strata, class)`, without gradient."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"n_strata={self.n_strata}" if self.n_strata > 1 else ""


class _Remembered(ClassMass):
    """A mass kept from one batch to the next, of as many classes as it has met."""

    log_mass: Tensor

    def __init__(self, flows: bool, n_strata: int) -> None:
        super().__init__(n_strata)
        self.flows = flows
        self.register_buffer("log_mass", torch.empty(0))

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *rest: Any) -> None:
        # A buffer takes the size and precision of what is stored, so that a run resumes exactly.
        for name, buffer in list(self._buffers.items()):
            stored = state_dict.get(prefix + name)
            if stored is not None and buffer is not None:
                setattr(self, name, torch.empty_like(stored, device=buffer.device))
        super()._load_from_state_dict(state_dict, prefix, *rest)


class BatchMass(ClassMass):
    """The batch's own mass: the paper's choice, for batches in which every class occurs.

    Args:
        n_strata: Number of strata, each with a mass of its own.

    Example:
        >>> log_q = torch.tensor([[0.5, 0.5], [1.0, 0.0]]).log()
        >>> BatchMass()(sum_by_class(log_q)).exp()
        tensor([[0.7500, 0.2500]])
    """

    def forward(self, batch: MassSum) -> Tensor:
        return batch.log_mass


_PER_CLASS = 5
"""Instances of each class that a tracked mass remembers beside the batch."""


class TrackedMass(_Remembered):
    """A running mean over the batch and some instances before it, for batches of any size.

    S <- S + rho (S_batch - S), rho = weight of the batch / weight of the window; until the window
    is full, the plain mean of all that was seen. Its value comes from the window, its gradient
    from the batch: the derivative of log S_l is that of the log of the batch's own mass. That is
    no function's derivative. It does not weaken as a class shrinks, which keeps classes alive.

    In training mode each call moves the mean; in evaluation mode it stands still.

    Args:
        window: Number of instances in the window; by default the batch's and five per class. The
            longer, the steadier, and the further behind a predictor that learns.
        flows: Whether gradients flow through the batch's share.
        n_strata: Number of strata, each with a mass of its own.

    Example:
        >>> mass = TrackedMass()
        >>> mass(sum_by_class(torch.tensor([[0.5, 0.5]]).log())).exp()
        tensor([[0.5000, 0.5000]])
        >>> mass(sum_by_class(torch.tensor([[0.9, 0.1]]).log())).exp()
        tensor([[0.7000, 0.3000]])
    """

    seen: Tensor

    def __init__(self, window: int | None = None, *, flows: bool = True, n_strata: int = 1) -> None:
        super().__init__(flows, n_strata)
        if window is not None and window < 1:
            raise refuse(
                "window", "be at least 1", f"it is {window}", "leave it out for the default"
            )
        self.window = window
        self.register_buffer("seen", torch.zeros(n_strata))

    def forward(self, batch: MassSum) -> Tensor:
        if self.training:
            self._move(batch)
        elif not self.log_mass.numel():
            raise refuse(
                "mass",
                "have seen a batch before it is used in evaluation mode",
                "it has seen none",
                "call the objective in training mode first, or load a state that has",
            )
        _check_classes(self.log_mass, batch)
        return self.log_mass.clone()

    @torch.no_grad()
    def _move(self, batch: MassSum) -> None:
        _check_classes(self.log_mass, batch)
        # A batch with a NaN is passed over: its loss is refused, and it must not spoil all others.
        spoilt = batch.log_mass.isnan().any(-1) | batch.log_weight.isnan()
        batch_mass = batch.log_mass
        log_weight = batch.log_weight.masked_fill(spoilt, -torch.inf)
        if not self.log_mass.numel():
            self.log_mass = torch.full_like(batch_mass, -torch.inf)
            self.seen = torch.zeros_like(log_weight)
        # From here on in place, so that a captured step goes on moving it when it is replayed.
        weight = log_weight.exp()
        if self.window is None:
            limit = weight + _PER_CLASS * batch_mass.shape[-1]
        else:
            limit = torch.full_like(weight, self.window)
        self.seen.copy_(torch.minimum(self.seen + weight, limit))
        rho = (weight / self.seen).clamp(max=1).unsqueeze(-1)
        moved = torch.logaddexp(self.log_mass + (1 - rho).log(), batch_mass + rho.log())
        self.log_mass.copy_(torch.where(weight.unsqueeze(-1) > 0, moved, self._or_uniform()))

    def _or_uniform(self) -> Tensor:
        """The mass as it is; uniform in strata that have seen nothing."""
        nothing = (self.log_mass == -torch.inf).all(-1, keepdim=True)
        return self.log_mass.masked_fill(nothing, -math.log(self.log_mass.shape[-1]))

    def extra_repr(self) -> str:
        shown = [super().extra_repr(), f"window={self.window}" if self.window else ""]
        return ", ".join(part for part in shown if part)


class CollectionMass(_Remembered):
    """The mass over the whole collection, exact at the moment of `refresh`.

    Between refreshes the value stands still; its gradient, like a tracked mass's, is the batch's.

    Args:
        flows: Whether gradients flow through the batch's share.
        n_strata: Number of strata, each with a mass of its own.

    Example:
        >>> mass = CollectionMass()
        >>> mass.refresh(torch.tensor([[0.5, 0.5], [1.0, 0.0]]).log()).log_mass.exp()
        tensor([[0.7500, 0.2500]])
    """

    def __init__(self, *, flows: bool = True, n_strata: int = 1) -> None:
        super().__init__(flows, n_strata)

    @torch.no_grad()
    def refresh(
        self,
        log_predictions: Tensor | Iterable[Tensor | MassSum],
        *,
        group: Group = "world",
    ) -> Self:
        """Take the mean over the collection anew, usually once an epoch.

        Args:
            log_predictions: Log of q for the collection, `(N, class)` or `(N, class, *)`, at once
                or in parts; where there are weights or strata, parts made by `sum_by_class` with
                `group=None`.
            group: The processes that share the collection, each bringing its own part.
        """
        parts = [log_predictions] if isinstance(log_predictions, Tensor) else log_predictions
        total: MassSum | None = None
        for part in parts:
            own = sum_by_class(part, group=None) if isinstance(part, Tensor) else part
            self._check_part(own, total)
            total = own if total is None else _both(total, own)
        if total is None:
            raise refuse(
                "log_predictions", "hold at least one part", "it is empty", "pass the collection"
            )
        log_mass = over_processes(total, group).log_mass
        if self.log_mass.shape == log_mass.shape and self.log_mass.dtype == log_mass.dtype:
            # Where it lies, so that a captured step reads the new one.
            self.log_mass.copy_(log_mass)
        else:
            self.log_mass = log_mass
        return self

    def _check_part(self, part: MassSum, before: MassSum | None) -> None:
        n_classes = part.log_sum.shape[-1] if before is None else before.log_sum.shape[-1]
        if part.log_sum.shape != (self.n_strata, n_classes):
            raise refuse(
                "log_predictions",
                f"speak of {n_classes} classes and {self.n_strata} strata, as does this mass",
                f"a part speaks of {part.log_sum.shape[-1]} and {len(part.log_sum)}",
                "with strata pass parts made by sum_by_class(..., n_strata=..., group=None)",
            )
        if bool(part.log_mass.isnan().any()):
            raise refuse(
                "log_predictions",
                "be log-probabilities",
                "a part holds NaN",
                "look at the features and the learning rate, or leave the instance out by weight=0",
            )

    def forward(self, batch: MassSum) -> Tensor:
        if not self.log_mass.numel():
            raise refuse(
                "mass",
                "be refreshed before it is used",
                "it has not seen the collection",
                "call mass.refresh with the predictions of the whole collection, once an epoch",
            )
        _check_classes(self.log_mass, batch)
        return self.log_mass.to(batch.log_sum)


class FixedMass(ClassMass):
    """A mass that never moves: for a predictor trained elsewhere, or the uniform case.

    No gradient flows through it. With it nothing pushes back when a class grows, so it is no way
    to state a known class balance: multiply the belief by the balance instead.

    Args:
        mass: S, `(class,)` or `(strata, class)`; above 0, scaled to sum to one.

    Example:
        >>> FixedMass.uniform(4).log_mass.exp()
        tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    """

    flows = False
    log_mass: Tensor

    def __init__(self, mass: Tensor) -> None:
        table = torch.atleast_2d(torch.as_tensor(mass, dtype=torch.get_default_dtype()))
        wrong = ~((table > 0) & (table < torch.inf))
        if table.ndim != 2 or bool(wrong.any()):
            got = (
                f"its shape is {tuple(table.shape)}"
                if table.ndim != 2
                else f"class {int(wrong.nonzero()[0, 1])} has {table[wrong][0].item()}"
            )
            raise refuse(
                "mass",
                "be one finite number above 0 per class",
                got,
                "give a class that never occurs a small mass, or leave it out",
            )
        super().__init__(len(table))
        self.register_buffer("log_mass", (table / table.sum(-1, keepdim=True)).log())

    @classmethod
    def uniform(cls, n_classes: int) -> Self:
        """Equal shares, under which RQ on candidate sets is the union NLL."""
        return cls(torch.ones(n_classes))

    def forward(self, batch: MassSum) -> Tensor:
        _check_classes(self.log_mass, batch)
        return self.log_mass.to(batch.log_sum)


def _both(one: MassSum, other: MassSum) -> MassSum:
    return MassSum.of(
        torch.logaddexp(one.log_sum, other.log_sum),
        torch.logaddexp(one.log_weight, other.log_weight),
    )


def _check_classes(log_mass: Tensor, batch: MassSum) -> None:
    own, given = log_mass.shape[-1], batch.log_sum.shape[-1]
    if log_mass.numel() and own != given:
        raise refuse(
            "mass",
            f"speak of the prediction's {given} classes",
            f"it speaks of {own}",
            "make a new mass for another set of classes",
        )


def _check_per_instance(values: Tensor | None, argument: str, shape: torch.Size) -> None:
    """Refuse what would be broadcast, and count for more than its own instance."""
    if values is not None and values.shape != shape:
        raise refuse(
            argument,
            f"have one entry per instance, shape {tuple(shape)}",
            f"its shape is {tuple(values.shape)}",
            "drop the class axis",
        )


def _logsumexp_by_stratum(values: Tensor, strata: Tensor, n_strata: int) -> Tensor:
    """Logsumexp of the rows of each stratum, `(strata, columns)`."""
    index = strata.unsqueeze(-1).expand_as(values)
    top = values.new_full((n_strata, values.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, index, values.detach(), "amax")
    top = torch.where(top == -torch.inf, 0.0, top)
    total = torch.zeros_like(top).index_add(0, strata, (values - top[strata]).exp())
    nothing = total == 0
    # The log of a stand-in keeps the gradient of an empty stratum at 0 instead of NaN.
    return (total.masked_fill(nothing, 1.0).log() + top).masked_fill(nothing, -torch.inf)
