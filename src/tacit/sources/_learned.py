"""Learned beliefs: a small network from auxiliary inputs to labels, where labels are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tacit.beliefs import Candidates, Categorical
from tacit.errors import refuse
from tacit.fitting import Collection, Plan, Settings, fit, perceive
from tacit.objectives import SoftCrossEntropy
from tacit.predictors import Standardised, predictor_for
from tacit.sources._numbers import real_numbers, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor, nn

__all__ = ["SETTINGS", "learned_belief", "learned_out_of_fold"]

SETTINGS = Settings(epochs=100, held_out=0.1, patience=10)
"""How a belief is learned unless one says otherwise."""


def learned_belief(
    auxiliary: Tensor | NDArray[Any],
    labels: Tensor | NDArray[Any],
    new: Tensor | NDArray[Any],
    *,
    n_classes: int,
    settings: Settings = SETTINGS,
    smoothing: float = 1e-3,
) -> Categorical:
    """The belief that auxiliary inputs give, learned where labels are known.

    A network is fitted to the labels of another collection, by cross-entropy, until it gets no
    better on what was held out of it. It should see only what carries over to the new collection:
    maps, coarse classes, metadata; not the features themselves.

    Args:
        auxiliary: Auxiliary inputs where labels are known, `(instances, ...)`.
        labels: Their labels, `(instances,)`.
        new: Auxiliary inputs of the collection that the belief is about.
        n_classes: Number of classes.
        settings: How to learn.
        smoothing: How much is added to each probability, so that nothing is excluded for good.

    Example:
        >>> labels = torch.arange(300) % 3
        >>> coarse = torch.eye(2)[(labels == 2).long()]
        >>> belief = learned_belief(coarse, labels, torch.eye(2), n_classes=3)
        >>> [round(float(p), 1) for p in belief.marginals()[0]]
        [0.5, 0.5, 0.0]
    """
    known, other = _table(auxiliary, "auxiliary"), _table(new, "new")
    truth = _labels(labels, len(known), n_classes)
    if known.shape[1:] != other.shape[1:]:
        raise refuse(
            "new",
            f"hold inputs of shape {tuple(known.shape[1:])}, like `auxiliary`",
            f"theirs is {tuple(other.shape[1:])}",
            "pass the same columns",
        )
    plan = Plan(
        predictor=_builder(known, n_classes), objective=SoftCrossEntropy(), settings=settings
    )
    belief = Candidates(truth, n_classes=n_classes)
    (fitted,) = fit([plan], Collection(known, belief))
    p = perceive(fitted.network, other).exp()
    return Categorical((p + smoothing) / (1 + n_classes * smoothing))


def learned_out_of_fold(
    auxiliary: Tensor | NDArray[Any],
    labels: Tensor | NDArray[Any],
    *,
    n_classes: int,
    folds: int = 5,
    settings: Settings = SETTINGS,
    smoothing: float = 1e-3,
) -> Categorical:
    """The same about the labelled collection itself, each part by a network that did not see it.

    Otherwise the belief would be surer of these labels than of any others.

    Args:
        auxiliary: Auxiliary inputs, `(instances, ...)`.
        labels: Their labels, `(instances,)`.
        n_classes: Number of classes.
        folds: Parts that are left out in turn.
        settings: How to learn.
        smoothing: As for `learned_belief`.

    Example:
        >>> labels = torch.arange(60) % 2
        >>> belief = learned_out_of_fold(torch.eye(2)[labels], labels, n_classes=2, folds=2)
        >>> bool((belief.marginals().argmax(1) == labels).all())
        True
    """
    known = _table(auxiliary, "auxiliary")
    truth = _labels(labels, len(known), n_classes)
    if not 2 <= folds <= len(known):
        raise refuse(
            "folds", f"be from 2 to {len(known)}", f"it is {folds}", f"try {min(5, len(known))}"
        )
    generator = torch.Generator().manual_seed(settings.seed)
    fold = torch.randperm(len(known), generator=generator) % folds
    p = torch.empty(len(known), n_classes)
    for number in range(folds):
        inside, outside = fold == number, fold != number
        p[inside] = learned_belief(
            known[outside],
            truth[outside],
            known[inside],
            n_classes=n_classes,
            settings=settings,
            smoothing=smoothing,
        ).marginals()
    return Categorical(p)


def _builder(known: Tensor, n_classes: int) -> Callable[[torch.Generator], nn.Module]:
    axes = [0, *range(2, known.ndim)]
    mean = known.mean(axes, keepdim=True).squeeze(0)
    deviation = known.std(axes, correction=0, keepdim=True).squeeze(0)

    def build(generator: torch.Generator) -> nn.Module:
        network = predictor_for(tuple(known.shape[1:]), n_classes, generator=generator)
        return Standardised(network, mean, deviation)

    return build


def _table(values: Tensor | NDArray[Any], argument: str) -> Tensor:
    table = real_numbers(values, argument, "(instances, features)").float()
    if table.ndim < 2 or not len(table) or not bool(table.isfinite().all()):
        raise refuse(
            argument,
            "be finite numbers, (instances, features)",
            f"its shape is {tuple(table.shape)}",
            "fill what is missing, and add an axis to a single column",
        )
    return table


def _labels(labels: Tensor | NDArray[Any], n: int, n_classes: int) -> Tensor:
    truth = whole_numbers(labels, "labels", "instance")
    if truth.shape != (n,) or bool(((truth < 0) | (truth >= n_classes)).any()):
        raise refuse(
            "labels",
            f"be {n} whole numbers from 0 to {n_classes - 1}",
            f"its shape is {tuple(truth.shape)}",
            "pass a label for each of the auxiliary inputs, and leave out what has none",
        )
    return truth
