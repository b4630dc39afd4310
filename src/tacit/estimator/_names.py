"""What the names stand for that settings and commands use; each is written down here once."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import torch

from tacit.errors import refuse
from tacit.evidence import BatchMass, ClassMass, CollectionMass, TrackedMass
from tacit.objectives import (
    EM,
    QR,
    RQ,
    FreeEnergy,
    HardCrossEntropy,
    Objective,
    SoftCrossEntropy,
    SquaredError,
    UnionNLL,
)
from tacit.predictors import (
    Linear,
    Perceptron,
    PooledCNN,
    SmallCNN,
    Standardised,
    predictor_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Generator, nn

    from tacit.estimator._scaling import Scale

__all__ = ["MASSES", "OBJECTIVES", "PREDICTORS", "build", "named", "objective_for"]

T = TypeVar("T")

OBJECTIVES: Final[Mapping[str, type[Objective]]] = {
    "rq": RQ,
    "em": EM,
    "free_energy": FreeEnergy,
    "qr": QR,
    "union_nll": UnionNLL,
    "soft_cross_entropy": SoftCrossEntropy,
    "hard_cross_entropy": HardCrossEntropy,
    "squared_error": SquaredError,
}

MASSES: Final[Mapping[str, type[ClassMass]]] = {
    "batch": BatchMass,
    "tracked": TrackedMass,
    "collection": CollectionMass,
}

PREDICTORS: Final[Mapping[str, Callable[..., nn.Module]]] = {
    "auto": predictor_for,
    "linear": Linear,
    "perceptron": Perceptron,
    "pooled_cnn": PooledCNN,
    "small_cnn": SmallCNN,
}

_PER_CLASS: Final = 4
"""Instances of each class that a batch should hold on average for its own mass to do."""


def named(table: Mapping[str, T], name: object, argument: str, besides: str = "") -> T:
    """What a name stands for; an unknown one is refused, with the near one suggested.

    Args:
        table: What there is.
        name: The name.
        argument: What the caller calls it.
        besides: What else the argument may be, for the sentence.

    Example:
        >>> named(MASSES, "tracked", "mass")
        <class 'tacit.evidence.TrackedMass'>
    """
    if isinstance(name, str) and name in table:
        return table[name]
    said = name.lower().replace("-", "_") if isinstance(name, str) else ""
    near = get_close_matches(said, table, n=1, cutoff=0.5)  # so that "rp" finds "rq"
    raise refuse(
        argument,
        f"be one of {', '.join(map(repr, table))}{besides}",
        f"it is {name!r}",
        f"perhaps {near[0]!r} is meant" if near else "pick one",
    )


def objective_for(
    objective: str | Objective,
    mass: str | ClassMass,
    *,
    batch_size: int,
    n_classes: int,
    n_strata: int | None = None,
) -> Objective:
    """The objective that the settings of an estimator ask for.

    Args:
        objective: A name, or an objective with settings and a mass of its own.
        mass: A name or a class mass; "auto" is the batch's own where a batch holds a few instances
            of each class on average, and otherwise a tracked one.
        batch_size: Instances in a batch.
        n_classes: Number of classes.
        n_strata: Number of strata that occur, where the instances have them; a mass by name has as
            many.
    """
    if not isinstance(objective, Objective):
        kind = named(OBJECTIVES, objective, "objective", ", or an objective of tacit.objectives")
        objective = kind(_mass_for(mass, batch_size >= _PER_CLASS * n_classes, n_strata or 1))
    if (n_strata or 1) > objective.mass.n_strata:
        raise refuse(
            "strata",
            f"lie below {objective.mass.n_strata}, the number of strata of the class mass",
            f"the largest is {(n_strata or 1) - 1}",
            "give the class mass its number of strata, as in BatchMass(n_strata=2)",
        )
    return objective


def _mass_for(mass: str | ClassMass, suits_batch: bool, n_strata: int) -> ClassMass:
    if isinstance(mass, ClassMass):
        return mass
    by_name: dict[str, Callable[..., ClassMass]] = {
        "auto": BatchMass if suits_batch else TrackedMass,
        **MASSES,
    }
    kind = named(by_name, mass, "mass", ", or a class mass of tacit.evidence")
    return kind(n_strata=n_strata)


def build(
    name: str,
    shape: tuple[int, ...],
    n_classes: int,
    generator: Generator,
    *,
    scale: Scale | None,
    sparse: bool,
    dtype: np.dtype[Any],
) -> nn.Module:
    """The predictor that a name stands for, for instances of a shape.

    Args:
        name: One of `PREDICTORS`.
        shape: Of one instance.
        n_classes: Number of classes.
        generator: Source of the first weights.
        scale: Of the features, where they are to be standardised.
        sparse: Whether the features are a sparse table.
        dtype: Precision of the weights.
    """
    network = _network(name, shape, n_classes, generator, sparse).to(
        torch.float64 if dtype == np.float64 else torch.float32
    )
    return network if scale is None else Standardised(network, scale.mean, scale.deviation)


def _network(
    name: str, shape: tuple[int, ...], n_classes: int, generator: Generator, sparse: bool
) -> nn.Module:
    kind = named(PREDICTORS, name, "predictor", ", a network, or a function that builds one")
    if kind is predictor_for:
        return kind(shape, n_classes, sparse=sparse, generator=generator)
    wanted = 1 if kind in (Linear, Perceptron) else 3
    if len(shape) != wanted:
        form = "a vector, (n_features,)" if wanted == 1 else "an image, (C, H, W)"
        raise refuse(
            "predictor",
            "suit the shape of an instance",
            f"{name!r} takes {form}, and an instance has shape {shape}",
            "pass 'auto', or a network of your own",
        )
    if wanted == 1:
        return kind(shape[0], n_classes, generator=generator)
    return kind(shape[0], shape[1:], n_classes, generator=generator)
