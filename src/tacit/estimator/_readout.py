"""What a fitted model says of instances: q, S and r."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import torch

from tacit.estimator._plans import check_tempering, execution_of
from tacit.evidence import sum_by_class
from tacit.fitting import perceive, posterior
from tacit.fitting._rows import groups_of, rows_that_count
from tacit.fitting._updates import relearned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from tacit.beliefs import Belief
    from tacit.estimator._classifier import BeliefClassifier
    from tacit.evidence import MassSum
    from tacit.fitting import Collection

__all__ = ["log_prediction", "resolved", "revised", "sums_of"]

_LEAST: Final = -1e20
"""Log of a prediction at the least: beliefs take what is far below it for impossible, and no class
is that by its features alone."""


def log_prediction(model: BeliefClassifier, features: Any) -> Tensor:
    """Log of the mean of what the members predict, `(instances, class)`."""
    autocast = execution_of(model).autocast
    total: Tensor | None = None
    for network in model.networks_:
        log_q = perceive(network, features, autocast=autocast)
        total = log_q if total is None else torch.logaddexp(total, log_q, out=total)
    assert total is not None
    return total.sub_(math.log(len(model.networks_))).clamp_(min=_LEAST)


def sums_of(log_q: Tensor, collection: Collection, n_strata: int) -> MassSum:
    """What a collection adds to the class mass, stratum by stratum."""
    return sum_by_class(
        log_q,
        weight=collection.weight,
        strata=collection.strata if n_strata > 1 else None,
        n_strata=n_strata,
        group=None,
    )


def revised(
    model: BeliefClassifier, log_q: Tensor, collection: Collection, n_strata: int
) -> Belief:
    """The belief of a collection as q revises it, where the model lets beliefs learn.

    Args:
        model: Says whether it does.
        log_q: Log of q for the instances.
        collection: What was learned from.
        n_strata: Number of strata of the class mass.
    """
    belief = collection.belief
    if not model.update_every:
        return belief
    rows = rows_that_count(len(belief), groups_of(belief), collection.weight)
    return relearned(collection, log_q[rows], rows=rows, n_strata=n_strata)


def resolved(
    model: BeliefClassifier, log_q: Tensor, collection: Collection, tempering: float
) -> NDArray[np.floating]:
    """The posterior r with the S of the model, `(instances, class)`.

    Args:
        model: Fitted.
        log_q: Log of q for the instances.
        collection: Their belief, and their strata where the class mass has several.
        tempering: β.
    """
    check_tempering(tempering)
    log_r = posterior(
        log_q,
        collection.belief,
        # Its log, since S of a class that vanished is 0, and q / S of it would be endless.
        log_mass=torch.from_numpy(model.log_class_mass_),
        strata=collection.strata if model.log_class_mass_.ndim == 2 else None,
        tempering=float(tempering),
    )
    r: NDArray[np.floating] = log_r.exp_().numpy()
    return r
