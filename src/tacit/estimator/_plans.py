"""What the settings of an estimator ask of the engine, and which of them are refused."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.utils import check_random_state
from torch import nn

from tacit.errors import refuse
from tacit.estimator._automatic import (
    batch_size_for,
    epochs_for,
    held_out_for,
    patience_for,
)
from tacit.estimator._names import PREDICTORS, build, named, objective_for
from tacit.estimator._own import built
from tacit.estimator._scaling import scale_of
from tacit.fitting import Execution, Plan, Settings
from tacit.fitting._collection import is_sparse
from tacit.fitting._rows import mixed

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from tacit.estimator._classifier import BeliefClassifier
    from tacit.fitting import Collection

__all__ = ["check_settings", "check_tempering", "execution_of", "plans_for"]

_ANY: Final = 1000
"""Any number of instances and classes will do to check settings."""

_LEAST_HELD_OUT: Final = 2
"""The held-out evidence of a single instance is 0 whatever is predicted."""

_AS_THEY_ARE: Final = (
    *("learning_rate", "optimizer", "weight_decay", "schedule", "warm_up"),
    *("update_every", "augment", "on_collapse"),
)
"""Settings of the engine that an estimator has by the same names."""


def check_settings(model: BeliefClassifier) -> None:
    """Refuse settings that cannot be meant, before any data are read."""
    members = model.n_members
    if not isinstance(members, Integral) or isinstance(members, bool) or members < 1:
        raise refuse(
            "n_members",
            "be a whole number of at least 1",
            f"it is {members!r}",
            "1 is a single one",
        )
    check_tempering(model.tempering)
    for name in ("scale", "verbose"):
        if not isinstance(getattr(model, name), bool | np.bool_):
            raise refuse(name, "be True or False", f"it is {getattr(model, name)!r}", "pick one")
    _check_seed(model.random_state)
    _check_predictor(model.predictor)
    if not isinstance(model.execution, Execution | None):
        raise refuse(
            "execution",
            "be a tacit.fitting.Execution",
            f"it is {model.execution!r}",
            "leave it out for the default",
        )
    execution_of(model).torch_device()
    settings = settings_for(model, _ANY, _ANY, 0)
    objective_for(model.objective, model.mass, batch_size=settings.batch_size, n_classes=_ANY)


def check_tempering(tempering: object) -> None:
    """Refuse a β that is no number, negative or infinite."""
    if isinstance(tempering, bool) or not isinstance(tempering, Real):
        raise refuse("tempering", "be a number", f"it is {tempering!r}", "try 0.5")
    if not 0 <= float(tempering) < math.inf:
        raise refuse("tempering", "be finite and at least 0", f"it is {tempering}", "try 0.5")


def execution_of(model: BeliefClassifier) -> Execution:
    """How the model is carried out."""
    return replace(model.execution or Execution(), device=model.device)


def settings_for(model: BeliefClassifier, n_instances: int, n_classes: int, seed: int) -> Settings:
    """Settings with what is "auto" filled in.

    Args:
        model: Asks for them.
        n_instances: Instances to learn from.
        n_classes: Number of classes.
        seed: Of the member.
    """
    # One after the other, since what is automatic follows from those before.
    wanted = _or_auto(model.batch_size, lambda: batch_size_for(n_classes))
    batch_size = Settings(batch_size=wanted).batch_size
    wanted = _or_auto(model.epochs, lambda: epochs_for(n_instances, batch_size))
    epochs = Settings(epochs=wanted).epochs
    return Settings(
        batch_size=batch_size,
        epochs=epochs,
        held_out=_or_auto(model.held_out, lambda: held_out_for(n_instances)),
        patience=_or_auto(model.patience, lambda: patience_for(epochs)),
        seed=seed,
        **{name: getattr(model, name) for name in _AS_THEY_ARE},
    )


def plans_for(
    model: BeliefClassifier,
    collection: Collection,
    n_classes: int,
    *,
    in_parts: bool = False,
) -> list[Plan]:
    """What each member is to do.

    Args:
        model: Asks for it.
        collection: What to learn from.
        n_classes: Number of classes.
        in_parts: Whether this is a part of a stream, whose batches may be of any size: a mass that
            is "auto" is then tracked.
    """
    seed = _seed_of(model.random_state)
    seeds = [seed, *(mixed(seed, 4, member) for member in range(1, model.n_members))]
    settings = [settings_for(model, len(collection), n_classes, each) for each in seeds]
    _check_augment(settings[0], model.feature_shape_)
    if not in_parts:
        _check_held_out(settings[0], len(collection))
    strata = collection.strata
    objective = objective_for(
        model.objective,
        model.mass,
        batch_size=1 if in_parts else settings[0].batch_size,
        n_classes=n_classes,
        n_strata=None if strata is None else int(strata.max()) + 1,
    )
    predictor = _predictor(model, collection, n_classes)
    return [Plan(predictor=predictor, objective=objective, settings=each) for each in settings]


def _predictor(
    model: BeliefClassifier, collection: Collection, n_classes: int
) -> Callable[[torch.Generator], nn.Module]:
    """What builds a member; networks by name know the scale of their features."""
    features = collection.features
    if not isinstance(model.predictor, str):
        return partial(built, model.predictor, features, n_classes)
    scaled = model.scale and not is_sparse(features)
    return partial(
        build,
        model.predictor,
        model.feature_shape_,
        n_classes,
        scale=scale_of(features, collection.weight) if scaled else None,
        sparse=model.sparse_,
        dtype=model.dtype_,
    )


def _or_auto(value: Any, automatic: Callable[[], Any]) -> Any:
    """What was asked for, or what follows from the collection."""
    return automatic() if isinstance(value, str) and value == "auto" else value


def _seed_of(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _check_seed(seed: Any) -> None:
    if not isinstance(seed, Integral):
        check_random_state(seed)
    elif not 0 <= int(seed) < 2**63:
        raise refuse("random_state", "be at least 0 and below 2^63", f"it is {seed}", "try 0")


def _check_predictor(predictor: Any) -> None:
    besides = ", a network, or a function that builds one"
    if isinstance(predictor, type):
        raise refuse(
            "predictor",
            "be a name, a network, or a function that builds one",
            f"it is the class {predictor.__name__}",
            "pass an object of it, or a function of a torch.Generator that makes one",
        )
    if isinstance(predictor, str) or not callable(predictor):
        named(PREDICTORS, predictor, "predictor", besides)
    elif not isinstance(predictor, nn.Module) and not _takes_one(predictor):
        raise refuse(
            "predictor",
            "take a torch.Generator where it is a function",
            "it does not take one argument",
            "draw the first weights from it, or ignore it",
        )


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # some compiled functions do not say what they take
        return True
    return True


def _check_augment(settings: Settings, shape: tuple[int, ...]) -> None:
    if settings.augment != "none" and len(shape) != 3:
        raise refuse(
            "augment",
            "be 'none' where instances are no images",
            f"it is {settings.augment!r}, and an instance has shape {shape}",
            "leave it out, or pass images (instances, channel, height, width)",
        )


def _check_held_out(settings: Settings, n_instances: int) -> None:
    if settings.held_out and round(settings.held_out * n_instances) < _LEAST_HELD_OUT:
        raise refuse(
            "held_out",
            f"leave at least {_LEAST_HELD_OUT} instances to judge by",
            f"{settings.held_out:g} of {n_instances} are fewer",
            "pass a larger share, or 0",
        )
