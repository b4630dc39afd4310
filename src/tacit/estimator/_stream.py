"""What `partial_fit` remembers from one call to the next."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from tacit.evidence import TrackedMass
from tacit.fitting._learner import Learner
from tacit.fitting._online import learn_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

    from tacit.fitting import Collection, Execution, Plan

__all__ = ["Stream"]

_WINDOW = 5000
"""Instances over which the class mass of a stream is a mean."""


class Stream:
    """Learners that see one part of a stream after the other.

    Args:
        plans: What each member is to do.
        execution: How it is carried out.
    """

    def __init__(self, plans: Sequence[Plan], execution: Execution) -> None:
        self._plans, self._execution = plans, execution
        self._learners: list[Learner] = []
        self._number = 0
        self.mass = TrackedMass(_WINDOW)  # for what is read off; learning has its own

    def learn(
        self, collection: Collection, networks: Sequence[nn.Module] | None
    ) -> list[nn.Module]:
        """One pass over a part.

        Args:
            collection: The part.
            networks: What to go on from, where nothing was learned yet.

        Returns:
            The networks, ready to predict.
        """
        if not self._learners:
            self._learners = [
                self._learner(plan, None if networks is None else networks[number])
                for number, plan in enumerate(self._plans)
            ]
        learn_once(self._learners, collection, self._execution, number=self._number)
        self._number += 1
        return [learner.network for learner in self._learners]

    def _learner(self, plan: Plan, network: nn.Module | None) -> Learner:
        if network is None:
            network = plan.build(plan.settings.seed)
        device = self._execution.torch_device()
        return Learner(
            copy.deepcopy(network), plan.objective, plan.settings, self._execution, device
        )
