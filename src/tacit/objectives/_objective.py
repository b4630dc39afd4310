"""The two faces of every objective: a pure function, and a module that holds settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from torch import Tensor, nn

from tacit._processes import joint_max
from tacit.errors import refuse
from tacit.evidence import BatchMass, ClassMass
from tacit.objectives._border import read
from tacit.objectives._evaluate import evaluate
from tacit.objectives._softmax import CLASS

if TYPE_CHECKING:
    from tacit._processes import Group
    from tacit.beliefs import Belief
    from tacit.objectives._formula import Formula

__all__ = ["Objective", "values"]

REDUCTIONS = ("mean", "sum", "none")


def values(
    formula: Formula,
    logits: Tensor | None,
    belief: Tensor | Belief | None,
    *,
    log_prediction: Tensor | None,
    log_mass: Tensor | None,
    mask: Tensor | None,
    weight: Tensor | None,
    strata: Tensor | None,
    smoothing: float,
    group: Group,
    validate: bool,
) -> Tensor:
    """Per-instance values of a formula: what every objective's function returns.

    Args:
        formula: The objective.
        logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
        belief: Probabilities shaped like it, or a belief.
        log_prediction: Normalised log-probabilities instead of logits.
        log_mass: Log of S, `(class,)` or `(strata, class)`, held still; the batch's own by default.
        mask: True where an instance counts, `(N,)` or `(N, *)`.
        weight: Weight of each instance in the class mass.
        strata: Stratum of each instance.
        smoothing: Added to q and p.
        group: The processes that share the batch.
        validate: Whether to explain a value that is not finite.
    """
    _check_smoothing(smoothing)
    batch = read(logits, log_prediction, belief, mask=mask, weight=weight, strata=strata)
    fixed = None if log_mass is None else _fixed(log_mass, batch.scores.shape[CLASS])
    n_strata = _n_strata(batch.strata, group) if fixed is None else len(fixed)
    return evaluate(
        formula,
        batch,
        mass=lambda sums: sums.log_mass if fixed is None else fixed.to(sums.log_sum),
        n_strata=n_strata,
        flows=fixed is None,
        smoothing=smoothing,
        reduction="none",
        group=group,
        validate=validate,
        by_formula=True,
    )


class Objective(nn.Module):
    """Base of the objectives as modules: settings, and the way a batch takes through them.

    Args:
        mass: Over what the class mass is a mean; the batch by default.
        smoothing: Added to q and p, (x + e) / (1 + C e); by default 0, and 1e-4 for the
            objectives that are infinite where a belief has zeros.
        reduction: "mean" (weighted by `weight`), "sum" (weighted), or "none" for the bare values.
        group: The processes that share each batch. The loss and its gradient are those of the
            joined batch, given that gradients are averaged over processes, as
            `DistributedDataParallel` does. With reduction "none" the gradient is that of the sum
            over processes of what each makes of its own values. `None` keeps to this process.
        validate: Whether to look at the value and explain one that is not finite. On a GPU looking
            waits for the value; switched off, such a value is returned as it is.
        by_formula: Whether to use the gradient in closed form; otherwise autograd derives it.
        allow_collapse: Whether to accept a class mass without gradient where the objective then
            tends to push rare classes out.
    """

    formula: ClassVar[Formula]

    def __init__(
        self,
        mass: ClassMass | None = None,
        *,
        smoothing: float | None = None,
        reduction: str = "mean",
        group: Group = "world",
        validate: bool = True,
        by_formula: bool = True,
        allow_collapse: bool = False,
    ) -> None:
        super().__init__()
        self.mass = BatchMass() if mass is None else mass
        self.smoothing = self.formula.smoothing if smoothing is None else smoothing
        self.reduction, self.group, self.validate = reduction, group, validate
        self.by_formula, self.allow_collapse = by_formula, allow_collapse
        _check_smoothing(self.smoothing)
        if reduction not in REDUCTIONS:
            allowed = ", ".join(REDUCTIONS)
            raise refuse("reduction", f"be one of {allowed}", f"it is {reduction!r}", "pick one")
        if not isinstance(self.mass, ClassMass):
            raise refuse(
                "mass",
                "be a class mass of tacit.evidence",
                f"it is a {type(mass).__name__}",
                "for a known mass use FixedMass(mass)",
            )
        if self.formula.collapses and not (self.mass.flows or allow_collapse):
            raise refuse(
                "mass",
                f"let gradients flow when {self.formula.name} uses it",
                f"{type(self.mass).__name__} holds them back, and nothing then keeps rare classes "
                "from vanishing",
                "use BatchMass, TrackedMass or EM, or pass allow_collapse=True",
            )

    def forward(
        self,
        logits: Tensor | None = None,
        belief: Tensor | Belief | None = None,
        *,
        log_prediction: Tensor | None = None,
        mask: Tensor | None = None,
        weight: Tensor | None = None,
        strata: Tensor | None = None,
    ) -> Tensor:
        """Value of the objective on a batch.

        Args:
            logits: Raw output of the predictor, `(N, class)` or `(N, class, *)`.
            belief: Probabilities or a mask of candidates shaped like it, or a belief over the
                instances in order.
            log_prediction: Normalised log-probabilities instead of logits.
            mask: True where an instance counts, `(N,)` or `(N, *)`; others are as if deleted.
            weight: Weight of each instance, in the loss and in the class mass, `(N,)` or `(N, *)`.
            strata: Stratum of each instance, where the class mass has several.

        Returns:
            The loss; with reduction "none" a value per instance, unweighted, 0 where masked.
        """
        batch = read(logits, log_prediction, belief, mask=mask, weight=weight, strata=strata)
        return evaluate(
            self.formula,
            batch,
            mass=self.mass,
            n_strata=self.mass.n_strata,
            flows=self.mass.flows,
            smoothing=self.smoothing,
            reduction=self.reduction,
            group=self.group,
            validate=self.validate,
            by_formula=self.by_formula,
        )

    def extra_repr(self) -> str:
        return f"smoothing={self.smoothing:g}, reduction={self.reduction!r}"


def _check_smoothing(smoothing: float) -> None:
    if not 0.0 <= smoothing < float("inf"):
        raise refuse("smoothing", "be finite and at least 0", f"it is {smoothing}", "try 1e-4")


def _fixed(log_mass: Tensor, n_classes: int) -> Tensor:
    if log_mass.ndim not in (1, 2) or log_mass.shape[-1] != n_classes:
        raise refuse(
            "log_mass",
            f"have shape (class,) or (strata, class) with {n_classes} classes",
            f"its shape is {tuple(log_mass.shape)}",
            "pass the log of one number per class of the prediction",
        )
    return log_mass.detach().reshape(-1, n_classes)


def _n_strata(strata: Tensor | None, group: Group) -> int:
    if strata is None or not strata.numel():
        return 1
    return int(joint_max(strata.max(), group)) + 1
