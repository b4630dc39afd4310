"""One run: a network, what it minimises, and all that is decided about it after each epoch."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tacit.diagnostics import Alarm, alarms, held_out_evidence, vitals
from tacit.errors import TacitError, refuse
from tacit.evidence import CollectionMass, sum_by_class
from tacit.fitting._perceive import perceive
from tacit.fitting._record import Record
from tacit.fitting._rows import batches, check_groups, groups_of, mixed, split
from tacit.fitting._schedule import rate_factor
from tacit.objectives import Objective, SoftCrossEntropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.fitting._collection import Collection
    from tacit.fitting._settings import Execution, Settings

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
    """

    predictor: nn.Module | Callable[[torch.Generator], nn.Module]
    objective: Objective
    settings: Settings


class Run:
    """The state of one run, and the rules that move it from epoch to epoch.

    Args:
        plan: What to do.
        collection: What to learn from.
        number: Which of several runs it is.
        execution: Where to learn.
        device: The device that is meant.
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
        self.collection, self.execution, self.device = collection, execution, device
        self._predictor = plan.predictor
        self._objective = plan.objective
        self._groups = groups_of(collection.belief)
        check_groups(self._groups, plan.settings.batch_size)
        self._split = split(
            len(collection), self._groups, plan.settings.held_out, plan.settings.seed
        )
        self._watched = self._split.held_out if len(self._split.held_out) else self._sample()
        self._watched_belief = collection.belief[self._watched]
        self._marginals = self._watched_belief.marginals()
        self.history: list[Record] = []
        self.restarts = 0
        self.ended = ""
        self.begin()

    def begin(self) -> None:
        """Start from the first weights: at first, and when a run is restarted."""
        self.network = self._built().to(self.device)
        if self.execution.channels_last:
            for parameter in self.network.parameters():
                if parameter.ndim == 4:
                    parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
        self.forward: nn.Module = (
            torch.compile(self.network) if self.execution.compile else self.network  # type: ignore[assignment]
        )
        self.objective = copy.deepcopy(self._objective).to(self.device)
        # On a GPU looking at each value would wait for it; the engine looks once an epoch.
        self.objective.validate = self.objective.validate and self.device.type == "cpu"
        self.easing = SoftCrossEntropy(validate=self.objective.validate)
        self.optimizer = _optimizer(self.network, self.settings, self.execution, self.device)
        self.epoch = 0
        self.loss_sum = torch.zeros((), dtype=torch.float64, device=self.device)
        self.n_steps = 0
        self.mass: Tensor | None = None
        self.looks: list[Any] = []
        self.scores: list[float | None] = []
        self.best_score, self.best_epoch = -math.inf, 0
        self.best_state: dict[str, Tensor] | None = None

    @property
    def warm_up(self) -> int:
        """Epochs of warm-up; each restart has more."""
        if not self.restarts:
            return self.settings.warm_up
        longer = max(self.settings.warm_up, _LEAST_WARM_UP) << self.restarts
        return min(longer, self.settings.epochs // 2)

    @property
    def warming_up(self) -> bool:
        """Whether the next epoch is one of the warm-up."""
        return self.epoch < self.warm_up

    @property
    def loss(self) -> Objective:
        """What is minimised in this epoch."""
        return self.easing if self.warming_up else self.objective

    def plan_epoch(self) -> list[Tensor]:
        """The batches of the epoch."""
        mass = getattr(self.objective, "mass", None)
        if isinstance(mass, CollectionMass) and not self.warming_up:
            log_q = perceive(self.network, self.collection.features, rows=self._split.fit)
            part = sum_by_class(log_q, **self._about(self._split.fit), group=None)
            mass.refresh([part], group=None)
            mass.to(self.device)
        seed = mixed(self.settings.seed, self.restarts)
        return batches(self._split.fit, self._groups, self.settings.batch_size, seed, self.epoch)

    def set_rate(self, progress: float) -> None:
        """Set the learning rate of the next step.

        Args:
            progress: Share of this epoch that is done.
        """
        done = (self.epoch + progress) / self.settings.epochs
        rate = self.settings.learning_rate * rate_factor(self.settings, done, self.scores)
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def finish_epoch(self) -> Record:
        """Look at the run, write down what is seen, and decide how it goes on."""
        loss = float(self.loss_sum) / max(self.n_steps, 1)
        if not math.isfinite(loss):
            raise DivergedError(
                f"The loss of run {self.number} is {loss} after epoch {self.epoch + 1}; lower "
                "`learning_rate`, or look for huge numbers in the features and scale them."
            )
        warming_up = self.warming_up
        self.epoch += 1
        log_q = perceive(
            self.network,
            self.collection.features,
            rows=self._watched,
            autocast=self.execution.autocast,
        )
        signs, self.mass = vitals(log_q, self._marginals, before=self.mass)
        score = self._score(log_q)
        best = not warming_up and score is not None and score > self.best_score
        if best and score is not None:
            self._keep(score)
        found: list[Alarm] = []
        if not warming_up:
            self.looks.append(signs)
            self.scores.append(score)
            found = alarms(self.looks, n_classes=self.collection.belief.n_classes)
        record = Record(
            run=self.number,
            epoch=self.epoch,
            loss=loss,
            warming_up=warming_up,
            learning_rate=float(self.optimizer.param_groups[0]["lr"]),
            held_out_evidence=score,
            best=best,
            vitals=signs,
            alarms=tuple(alarm.message for alarm in found),
        )
        self.history.append(record)
        self.loss_sum.zero_()
        self.n_steps = 0
        self._decide(found)
        return record

    def result(self) -> nn.Module:
        """The network in its best state, ready to predict."""
        if self.best_state is not None:
            self.network.load_state_dict(self.best_state)
        return self.network.eval()

    def state(self) -> dict[str, Any]:
        """All that the run needs to go on where it is."""
        return {
            "network": self.network.state_dict(),
            "objective": self.objective.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best_state": self.best_state,
            "mass": self.mass,
            "loss_sum": self.loss_sum,
            "n_steps": self.n_steps,
            "epoch": self.epoch,
            "restarts": self.restarts,
            "ended": self.ended,
            "history": [record.as_dict() for record in self.history],
            "n_looks": len(self.looks),
            "scores": self.scores,
            "best": [None if self.best_score == -math.inf else self.best_score, self.best_epoch],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.objective.load_state_dict(state["objective"])
        self.optimizer.load_state_dict(state["optimizer"])
        best = state["best_state"]
        self.best_state = best and {name: t.to(self.device) for name, t in best.items()}
        self.mass, self.n_steps = state["mass"], state["n_steps"]
        self.loss_sum.copy_(state["loss_sum"])
        self.epoch, self.restarts, self.ended = state["epoch"], state["restarts"], state["ended"]
        self.history = [Record.from_dict(record) for record in state["history"]]
        n_looks = state["n_looks"]
        self.looks = [record.vitals for record in self.history[len(self.history) - n_looks :]]
        self.scores = state["scores"]
        score, self.best_epoch = state["best"]
        self.best_score = -math.inf if score is None else score

    def _score(self, log_q: Tensor) -> float | None:
        if not len(self._split.held_out):
            return None
        return held_out_evidence(log_q, self._watched_belief, **self._about(self._watched))

    def _about(self, rows: Tensor) -> dict[str, Any]:
        """Weight and strata of some instances, as functions of evidence take them."""
        weight, strata = self.collection.weight, self.collection.strata
        n_strata = getattr(getattr(self.objective, "mass", None), "n_strata", 1)
        return {
            "weight": None if weight is None else weight.cpu()[rows],
            "strata": None if strata is None or n_strata == 1 else strata.cpu()[rows],
            "n_strata": n_strata,
        }

    def _keep(self, score: float) -> None:
        self.best_score, self.best_epoch = score, self.epoch
        self.best_state = {
            name: value.detach().clone() for name, value in self.network.state_dict().items()
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
        if not self.settings.patience or not self.scores or self.scores[-1] is None:
            return False
        return self.epoch - max(self.best_epoch, self.warm_up) >= self.settings.patience

    def _sample(self) -> Tensor:
        """A fixed sample in whole groups, for vital signs."""
        n = len(self.collection)
        if n <= _SAMPLE:
            return torch.arange(n)
        found = split(n, self._groups, _SAMPLE / n, mixed(self.settings.seed, 3)).held_out
        return found if len(found) else torch.arange(n)

    def _built(self) -> nn.Module:
        seed = mixed(self.settings.seed, self.restarts) if self.restarts else self.settings.seed
        if not isinstance(self._predictor, nn.Module):
            return self._predictor(torch.Generator().manual_seed(seed))
        if not any(p.requires_grad for p in self._predictor.parameters()):
            raise refuse(
                "predictor",
                "have parameters to learn",
                "it has none that require a gradient",
                "switch them on with requires_grad_()",
            )
        return copy.deepcopy(self._predictor)


def _optimizer(
    network: nn.Module, settings: Settings, execution: Execution, device: torch.device
) -> torch.optim.Optimizer:
    parameters = [p for p in network.parameters() if p.requires_grad]
    common: dict[str, Any] = {"weight_decay": settings.weight_decay, "fused": True}
    rate: float | Tensor = settings.learning_rate
    if execution.cuda_graph and device.type == "cuda":
        # A captured step reads its rate from memory.
        rate = torch.tensor(rate, device=device)
        common["capturable"] = settings.optimizer != "sgd"
    if settings.optimizer == "sgd":
        common.pop("capturable", None)
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9, **common)
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    return kind(parameters, lr=rate, **common)
