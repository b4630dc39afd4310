"""One run: a network, what it minimises, and all that is decided about it after each epoch."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tacit._processes import process_number, share_first
from tacit.diagnostics import Alarm, Vitals, alarms, held_out_evidence, vitals
from tacit.errors import TacitError, refuse
from tacit.evidence import CollectionMass, sum_by_class
from tacit.fitting._learner import Learner
from tacit.fitting._perceive import perceive
from tacit.fitting._record import Record
from tacit.fitting._rows import batches, check_groups, groups_of, mixed, rows_that_count, split
from tacit.fitting._schedule import rate_factor
from tacit.fitting._updates import relearned
from tacit.objectives._diagnosis import check_strata

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.beliefs import Belief
    from tacit.fitting._collection import Collection
    from tacit.fitting._settings import Execution, Settings
    from tacit.objectives import Objective

__all__ = ["DivergedError", "Plan", "Run"]

_SAMPLE = 2000
"""Instances whose vital signs are taken where none are held out."""
_RESTARTS = 2
_LEAST_WARM_UP = 5


class DivergedError(TacitError):
    """A run's loss is no finite number any more."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What one run is to do.

    Attributes:
        predictor: A network, or a function that builds one from a generator of random numbers.
        objective: What it minimises; a copy is used.
        settings: How it learns.
        belief: What this run believes of the collection, where that is not what the collection
            says: several runs then differ in what they are told.
    """

    predictor: nn.Module | Callable[[torch.Generator], nn.Module]
    objective: Objective
    settings: Settings
    belief: Belief | None = None

    def build(self, seed: int) -> nn.Module:
        """The network before it has learned: a copy, or one with weights drawn by the seed."""
        if not isinstance(self.predictor, nn.Module):
            return self.predictor(torch.Generator().manual_seed(seed))
        if not any(p.requires_grad for p in self.predictor.parameters()):
            raise refuse(
                "predictor",
                "have parameters to learn",
                "it has none that require a gradient",
                "switch them on with requires_grad_()",
            )
        return copy.deepcopy(self.predictor)


class Run:
    """The state of one run, and the rules that move it from epoch to epoch.

    Args:
        plan: What to do.
        collection: What to learn from.
        number: Which of several runs it is.
        execution: Where to learn.
        device: The device that is meant.

    Attributes:
        belief: What is believed of the collection now.
        groups: The group of each instance, where the belief has groups.
    """

    def __init__(
        self,
        plan: Plan,
        collection: Collection,
        *,
        number: int,
        execution: Execution,
        device: torch.device,
    ) -> None:
        self.settings, self.number = plan.settings, number
        if plan.belief is not None:
            collection = collection.about(plan.belief)
        self._collection, self._execution, self._device = collection, execution, device
        self._plan, self._objective = plan, plan.objective
        self.groups = groups_of(collection.belief)
        check_groups(self.groups, plan.settings.batch_size)
        _check_objective(plan.objective, collection)
        _check_updates(plan.settings, collection)
        self._rows = rows = rows_that_count(len(collection), self.groups, collection.weight)
        self._split = split(rows, self.groups, plan.settings.held_out, plan.settings.seed)
        if not len(self._split.held_out):
            plan.settings.check_needs()
        self._watched = self._split.held_out if len(self._split.held_out) else self._sample(rows)
        self._watched_belief = collection.belief[self._watched]
        self._marginals = self._watched_belief.marginals()
        self.history: list[Record] = []
        self.restarts = 0
        self.ended = ""
        self.begin()

    def begin(self) -> None:
        """Start from the first weights: at first, and when a run is restarted."""
        seed = mixed(self.settings.seed, self.restarts) if self.restarts else self.settings.seed
        self.learner = Learner(
            self._plan.build(seed), self._objective, self.settings, self._execution, self._device
        )
        share_first(self.learner.network.state_dict().values())
        self.epoch = self.n_steps = 0
        self.belief = self._collection.belief
        self._mass: Tensor | None = None
        self._looks: list[Vitals] = []
        self._scores: list[float | None] = []
        self.best_score, self.best_epoch = -math.inf, 0
        self.best_state: dict[str, Tensor] | None = None
        self.learner.warming_up = self.warm_up > 0

    @property
    def warm_up(self) -> int:
        """Epochs of warm-up; each restart has more."""
        if not self.restarts:
            return self.settings.warm_up
        longer = max(self.settings.warm_up, _LEAST_WARM_UP) << self.restarts
        return min(longer, self.settings.epochs // 2)

    def plan_epoch(self) -> list[Tensor]:
        """The batches of the epoch."""
        seed = mixed(self.settings.seed, self.restarts)
        return batches(self._split.fit, self.groups, self.settings.batch_size, seed, self.epoch)

    def begin_epoch(self) -> None:
        """What is done before the first step of an epoch, and not where one is resumed."""
        if self._is_update_due():
            self.belief = relearned(
                self._collection,
                self._perceived(self._rows),
                rows=self._rows,
                n_strata=self._objective.mass.n_strata,
            )
        mass = self.learner.objective.mass
        if isinstance(mass, CollectionMass) and not self.learner.warming_up:
            log_q = self._perceived(self._split.fit)
            part = sum_by_class(log_q, **self._about(self._split.fit), group=None)
            mass.refresh([part], group=None).to(self._device)

    def _is_update_due(self) -> bool:
        every, done = self.settings.update_every, self.epoch - self.warm_up
        return every > 0 and done > 0 and done % every == 0

    def begin_step(self, position: int, n_steps: int) -> None:
        """Set the learning rate and the random state of the next step.

        Args:
            position: Steps of this epoch that are made.
            n_steps: Steps that it has.
        """
        done = (self.epoch + position / n_steps) / self.settings.epochs
        factor = rate_factor(self.settings, done, self._scores)
        self.learner.rate = factor * self.settings.learning_rate
        seed = mixed(self.settings.seed, self.restarts)
        self.learner.generator.manual_seed(
            mixed(seed, self.epoch, position, process_number("world"))
        )

    def finish_epoch(self) -> Record:
        """Look at the run, write down what is seen, and decide how it goes on."""
        loss = self._mean_loss()
        warming_up = self.learner.warming_up
        self.epoch += 1
        share_first(self.learner.network.buffers())
        log_q = self._perceived(self._watched)
        self._check_finite(log_q)
        signs, self._mass = vitals(
            log_q, self._marginals, weight=self._about(self._watched)["weight"], before=self._mass
        )
        score = self._score(log_q)
        best = not warming_up and score is not None and score > self.best_score
        if best and score is not None:
            self._keep(score)
        found: list[Alarm] = []
        if not warming_up:
            self._looks.append(signs)
            self._scores.append(score)
            found = alarms(
                self._looks,
                n_classes=self._collection.belief.n_classes,
                expected=self.settings.epochs - self.warm_up,
            )
        record = Record(
            run=self.number,
            epoch=self.epoch,
            loss=loss,
            warming_up=warming_up,
            learning_rate=self.learner.rate,
            held_out_evidence=score,
            best=best,
            vitals=signs,
            alarms=tuple(found),
        )
        self.history.append(record)
        self.learner.loss_sum.zero_()
        self.n_steps = 0
        self.learner.warming_up = self.epoch < self.warm_up
        self._decide(found)
        return record

    def result(self) -> nn.Module:
        """The network in its best state, ready to predict."""
        if self.best_state is not None:
            self.learner.network.load_state_dict(self.best_state)
        return self.learner.network.eval()

    def state(self) -> dict[str, Any]:
        """All that the run needs to go on where it is."""
        return {
            "learner": self.learner.state(),
            "best_state": self.best_state,
            "learned": self._learned(),
            "mass": self._mass,
            "n_steps": self.n_steps,
            "epoch": self.epoch,
            "restarts": self.restarts,
            "ended": self.ended,
            "history": [record.as_dict() for record in self.history],
            "n_looks": len(self._looks),
            "scores": self._scores,
            "best": [None if self.best_score == -math.inf else self.best_score, self.best_epoch],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.learner.load(state["learner"])
        best = state["best_state"]
        self.best_state = best and {name: t.to(self._device) for name, t in best.items()}
        if (learned := state["learned"]) is not None:
            self.belief = self._collection.belief.with_learned(learned)
        self._mass, self.n_steps = state["mass"], state["n_steps"]
        self.epoch, self.restarts, self.ended = state["epoch"], state["restarts"], state["ended"]
        self.history = [Record.from_dict(record) for record in state["history"]]
        n_looks = state["n_looks"]
        self._looks = [record.vitals for record in self.history[len(self.history) - n_looks :]]
        self._scores = state["scores"]
        score, self.best_epoch = state["best"]
        self.best_score = -math.inf if score is None else score
        self.learner.warming_up = self.epoch < self.warm_up

    def _learned(self) -> dict[str, Tensor] | None:
        """What the belief has learned since it was stated, if anything."""
        return None if self.belief is self._collection.belief else self.belief.learned()

    def _mean_loss(self) -> float:
        loss = float(self.learner.loss_sum) / max(self.n_steps, 1)
        if not math.isfinite(loss):
            raise self._diverged("loss", self.epoch + 1)
        return loss

    def check_network(self, features: Tensor) -> None:
        """Refuse to go on with a network that makes no numbers of numbers any more."""
        values = features.coalesce().values() if features.is_sparse else features
        with torch.no_grad():
            logits = self.learner.network(features)
        if bool(values.isfinite().all()) and not bool(logits.isfinite().all()):
            raise self._diverged("loss", self.epoch + 1)

    def _check_finite(self, log_q: Tensor) -> None:
        if bool(log_q.isnan().any()):
            raise self._diverged("prediction", self.epoch)

    def _diverged(self, what: str, epoch: int) -> DivergedError:
        return DivergedError(
            f"The {what} of run {self.number} is no finite number any more in epoch {epoch}; lower "
            "`learning_rate`, or look for huge numbers in the features and scale them."
        )

    def _perceived(self, rows: Tensor) -> Tensor:
        return perceive(
            self.learner.network,
            self._collection.features,
            rows=rows,
            autocast=self._execution.autocast,
        )

    def _score(self, log_q: Tensor) -> float | None:
        if not len(self._split.held_out):
            return None
        return held_out_evidence(log_q, self._watched_belief, **self._about(self._watched))

    def _about(self, rows: Tensor) -> dict[str, Any]:
        """Weight and strata of some instances, as functions of evidence take them."""
        weight, strata = self._collection.weight, self._collection.strata
        n_strata = self._objective.mass.n_strata
        return {
            "weight": None if weight is None else weight.cpu()[rows],
            "strata": None if strata is None or n_strata == 1 else strata.cpu()[rows],
            "n_strata": n_strata,
        }

    def _keep(self, score: float) -> None:
        self.best_score, self.best_epoch = score, self.epoch
        self.best_state = {
            name: value.detach().clone()
            for name, value in self.learner.network.state_dict().items()
        }

    def _decide(self, found: list[Alarm]) -> None:
        settings = self.settings
        collapsed = any(alarm.degenerate for alarm in found)
        if collapsed and settings.on_collapse == "restart" and self.restarts < _RESTARTS:
            self.restarts += 1
            self.begin()
        elif collapsed and settings.on_collapse in ("stop", "restore", "restart"):
            self.ended = "collapsed"
            if settings.on_collapse == "stop":
                self.best_state = None
        elif self.epoch >= settings.epochs:
            self.ended = "all epochs"
        elif self._is_stuck():
            self.ended = "no better for long"

    def _is_stuck(self) -> bool:
        """Whether held-out evidence has not risen for as long as the settings' patience."""
        if not self.settings.patience or not self._scores or self._scores[-1] is None:
            return False
        return self.epoch - max(self.best_epoch, self.warm_up) >= self.settings.patience

    def _sample(self, rows: Tensor) -> Tensor:
        """A fixed sample in whole groups, for vital signs."""
        if len(rows) <= _SAMPLE:
            return rows
        seed = mixed(self.settings.seed, 3)
        found = split(rows, self.groups, _SAMPLE / len(rows), seed).held_out
        return found if len(found) else rows


def _check_updates(settings: Settings, collection: Collection) -> None:
    if settings.update_every and not collection.belief.learned():
        raise refuse(
            "update_every",
            f"be 0 for {type(collection.belief).__name__}, a belief that has nothing to learn",
            f"it is {settings.update_every}",
            "leave it out, or pass a belief that learns, such as tacit.sources.dawid_skene(votes)",
        )


def _check_objective(objective: Objective, collection: Collection) -> None:
    if objective.reduction == "none":
        raise refuse(
            "reduction",
            "be 'mean' or 'sum' for the engine",
            "it is 'none'",
            "leave it out; give instances their `weight` in the collection",
        )
    n_strata = objective.mass.n_strata
    check_strata(collection.strata if n_strata > 1 else None, n_strata)
