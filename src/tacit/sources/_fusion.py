"""Fusion: several beliefs about the same instances, and what each of them contributed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Literal, Self

import torch
from torch import Tensor

from tacit.beliefs import Independent
from tacit.beliefs._base import learned_by, learned_of
from tacit.beliefs._product import check_same_collection
from tacit.diagnostics._checks import check_beside
from tacit.errors import refuse
from tacit.evidence import own_evidence

if TYPE_CHECKING:
    from tacit.beliefs._base import Rows

__all__ = ["Fused", "fuse", "weights_by_evidence"]

How = Literal["product", "linear"]


class Fused(Independent):
    """Several independent beliefs in one, see `fuse`.

    Attributes:
        parts: The beliefs, by the names of their sources.
        weights: The weight of each source.
        how: "product" or "linear".
        abstaining: Share of each source's belief that is spread over all classes.
    """

    def __init__(
        self,
        parts: Mapping[str, Independent],
        weights: Mapping[str, float],
        how: How,
        abstaining: Mapping[str, float],
    ) -> None:
        self.parts, self.weights = dict(parts), dict(weights)
        self.how: How = how
        self.abstaining = dict(abstaining)
        self.n_classes = next(iter(parts.values())).n_classes

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    @property
    def device(self) -> torch.device:
        return next(iter(self.parts.values())).device

    def log_probabilities(self, dtype: torch.dtype = torch.float32) -> Tensor:
        tables = self._tables(torch.promote_types(dtype, torch.float32))
        weights = torch.tensor(list(self.weights.values()), dtype=tables.dtype).to(tables.device)
        return pooled_logs(tables, weights, self.how).to(dtype)

    def contributions(self, dtype: torch.dtype = torch.float32) -> Tensor:
        """What each source contributes, `(sources, instances, class)`, in the order of `parts`.

        For a product it is w_s log p_s(l) + w_s log C: above 0 the source speaks for a class, below
        0 against it, and over the sources they add up to log p(l) and a constant. For a linear pool
        it is the source's share of p(l), and over the sources they add up to one.
        """
        tables = self._tables(dtype)
        weights = torch.tensor(list(self.weights.values()), dtype=dtype).to(tables.device)
        weighted = weights.view(-1, 1, 1)
        if self.how == "product":
            scaled = weighted * (tables + torch.tensor(float(self.n_classes)).log())
            return scaled.masked_fill(weighted == 0, 0.0)
        return (tables + weighted.log()).softmax(0)

    def __getitem__(self, rows: Rows) -> Self:
        return self._with({name: part[rows] for name, part in self.parts.items()})

    def rows_at(self, index: Tensor) -> Independent:
        return self._with({name: part.rows_at(index) for name, part in self.parts.items()})

    def to(self, device: torch.device | str) -> Self:
        return self._with({name: part.to(device) for name, part in self.parts.items()})

    def updated(
        self,
        log_prediction: Tensor,
        *,
        weight: Tensor | None = None,
        strata: Tensor | None = None,
    ) -> Self:
        return self._with(
            {
                name: part.updated(log_prediction, weight=weight, strata=strata)
                for name, part in self.parts.items()
            }
        )

    def learned(self) -> dict[str, Tensor]:
        return learned_by(self.parts.values())

    def _taught(self, learned: Mapping[str, Tensor]) -> Self:
        return self._with(
            {
                name: part.with_learned(learned_of(learned, number))
                for number, (name, part) in enumerate(self.parts.items())
            }
        )

    def _with(self, parts: dict[str, Independent]) -> Self:
        fused = copy.copy(self)
        fused.parts = parts
        return fused

    def _tables(self, dtype: torch.dtype) -> Tensor:
        """Log of each source's belief after some of it abstains, `(sources, instances, class)`."""
        return torch.stack(
            [
                _abstaining(part.log_probabilities(dtype), self.abstaining[name])
                for name, part in self.parts.items()
            ]
        )


def fuse(
    parts: Mapping[str, Independent],
    *,
    how: How = "product",
    weights: Mapping[str, float] | None = None,
    abstaining: float | Mapping[str, float] = 0.0,
) -> Fused:
    """Make one belief of several.

        product:  p_i(l) ∝ Π_s p_is(l)^w_s
        linear:   p_i(l) = Σ_s w_s p_is(l) / Σ_s w_s

    with p_s replaced by (1 - e_s) p_s + e_s / C first. A product is for sources that know different
    things; a weight is the inverse of a temperature: below 1 for a source that is too sure, or that
    repeats what another says. A linear pool is for sources of which any may be right. What abstains
    (e) keeps a source from excluding a class for good.

    Args:
        parts: The beliefs, by the names of their sources, about the same instances and classes.
        how: "product" or "linear".
        weights: w, by name; 1 unless given.
        abstaining: e, from 0 to 1, one for all sources or by name.

    Example:
        >>> from tacit.beliefs import Candidates, Categorical
        >>> known = Candidates([[0, 1]], n_classes=3)
        >>> guess = Categorical(torch.tensor([[0.6, 0.2, 0.2]]))
        >>> both = fuse({"known": known, "guess": guess})
        >>> both.marginals()
        tensor([[0.7500, 0.2500, 0.0000]])
        >>> fuse({"known": known, "guess": guess}, how="linear").contributions()[:, 0, 2]
        tensor([0., 1.])
    """
    if not parts:
        raise refuse("parts", "hold at least one belief", "it is empty", "pass some, by name")
    first = next(iter(parts.values()))
    for name, part in parts.items():
        if not isinstance(part, Independent):
            raise refuse(
                "parts",
                "be independent beliefs",
                f"{name!r} is a {type(part).__name__}",
                "multiply the fused belief with it instead, as in pairs * fused",
            )
        check_same_collection(first, part)
    if how not in ("product", "linear"):
        raise refuse("how", "be 'product' or 'linear'", f"it is {how!r}", "pick one")
    given = dict.fromkeys(parts, 1.0) | _known(weights or {}, parts, "weights")
    if isinstance(abstaining, Mapping):
        e = dict.fromkeys(parts, 0.0) | _known(abstaining, parts, "abstaining")
    else:
        e = dict.fromkeys(parts, _number(abstaining, "abstaining"))
    _check_numbers(given, e)
    fused = Fused(parts, given, how, e)
    _check_possible(fused)
    return fused


def weights_by_evidence(
    parts: Mapping[str, Independent],
    log_prediction: Tensor,
    *,
    how: How = "product",
    abstaining: float | Mapping[str, float] = 0.0,
    steps: int = 100,
) -> dict[str, float]:
    """The weights of sources under which held-out instances are likeliest.

    They maximise the mean of log Σ_l p_i(l) q_i(l) / S_l (`held_out_evidence`) over the weights in
    p, so no true label is needed, but a predictor that has learned from other instances.

    Args:
        parts: The beliefs about the held-out instances, by the names of their sources.
        log_prediction: Log of q on these, `(instances, class)`.
        how: "product" or "linear".
        abstaining: As for `fuse`; above 0, so that no source excludes what another knows.
        steps: Steps of the optimizer at the most.

    Returns:
        A weight for each source.

    Example:
        >>> from tacit.beliefs import Categorical
        >>> q = torch.tensor([[0.9, 0.1], [0.1, 0.9]]).log()
        >>> right, wrong = (Categorical(torch.tensor(p)) for p in (
        ...     [[0.8, 0.2], [0.2, 0.8]], [[0.2, 0.8], [0.8, 0.2]]
        ... ))
        >>> weights = weights_by_evidence({"right": right, "wrong": wrong}, q)
        >>> weights["right"] > 1 > weights["wrong"]
        True
    """
    fused = fuse(parts, how=how, abstaining=abstaining)
    check_beside(log_prediction, "log_prediction", fused)
    tables = fused._tables(torch.float64).detach()
    q = log_prediction.detach().double().to(tables.device)
    a = own_evidence(q)
    log_weights = torch.zeros(len(parts), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([log_weights], max_iter=steps, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        weights = log_weights.clamp(-_WIDEST, _WIDEST).exp().to(tables.device)
        value = -(pooled_logs(tables, weights, how) + a).logsumexp(-1).mean()
        value.backward()
        return value

    optimizer.step(loss)
    weights = log_weights.detach().clamp(-_WIDEST, _WIDEST).exp()
    return dict(zip(parts, weights.tolist(), strict=True))


_WIDEST = 12.0
"""Weights lie between exp(-12) and exp(12): beyond, evidence hardly changes."""


def pooled_logs(tables: Tensor, weights: Tensor, how: How) -> Tensor:
    """Log of the pooled belief, `(instances, class)`, from logs `(sources, instances, class)`."""
    w = weights.view(-1, 1, 1)
    if how == "product":
        # A source of weight 0 says nothing, even where it excludes a class.
        return (w * tables).masked_fill(w == 0, 0.0).sum(0).log_softmax(-1)
    return (tables + (w / w.sum()).log()).logsumexp(0)


def _abstaining(log_p: Tensor, share: float) -> Tensor:
    if not share:
        return log_p
    return ((1 - share) * log_p.exp() + share / log_p.shape[-1]).log()


def _known(
    values: Mapping[str, float], parts: Mapping[str, Independent], argument: str
) -> dict[str, float]:
    for name in values:
        if name not in parts:
            raise refuse(
                argument,
                "name the sources",
                f"it names {name!r}",
                f"choose from {', '.join(map(repr, parts))}",
            )
    return {name: _number(value, argument) for name, value in values.items()}


def _number(value: object, argument: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refuse(argument, "be a number, or one by name", f"it is {value!r}", "try 0.01")
    return float(value)


def _check_numbers(weights: Mapping[str, float], abstaining: Mapping[str, float]) -> None:
    for name, value in weights.items():
        if not 0 <= value < float("inf"):
            raise refuse("weights", "be finite and at least 0", f"{name!r} has {value}", "try 1")
    if not any(weights.values()):
        raise refuse("weights", "leave a source", "all are 0", "give one at least some weight")
    for name, value in abstaining.items():
        if not 0 <= value <= 1:
            raise refuse("abstaining", "be from 0 to 1", f"{name!r} has {value}", "try 0.01")


def _check_possible(fused: Fused) -> None:
    hopeless = fused.log_probabilities().isnan().any(-1)
    if bool(hopeless.any()):
        raise refuse(
            "parts",
            "leave each instance a class that all sources allow",
            f"row {int(hopeless.nonzero()[0])} is left none",
            "let some of each source abstain, as in abstaining=0.01, or pool with how='linear'",
        )
