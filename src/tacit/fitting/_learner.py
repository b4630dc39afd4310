"""What a step of training moves: a network, the objective that it minimises, an optimizer."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tacit.objectives import SoftCrossEntropy

if TYPE_CHECKING:
    from tacit.fitting._settings import Execution, Settings
    from tacit.objectives import Objective

__all__ = ["Learner"]


class Learner:
    """A network in training.

    Args:
        network: What learns; it is moved to the device.
        objective: What it minimises; a copy is used.
        settings: Which optimizer, and how features are augmented.
        execution: How the network computes.
        device: Where.

    Attributes:
        network: In its present state.
        forward: What is called for its logits: the network, or its compiled form.
        objective: With the state of its class mass.
        warming_up: Whether soft cross-entropy is minimised instead.
        generator: Decides how features are augmented; set before every step.
        loss_sum: Sum of the losses of the steps since it was set to zero, on the device.
    """

    def __init__(
        self,
        network: nn.Module,
        objective: Objective,
        settings: Settings,
        execution: Execution,
        device: torch.device,
    ) -> None:
        self.network, self.settings, self.device = network.to(device), settings, device
        if execution.channels_last:
            _put_channels_last(self.network)
        # torch annotates what `compile` returns as a function.
        self.forward: nn.Module = (
            torch.compile(self.network) if execution.compile else self.network  # type: ignore[assignment]
        )
        self.objective = copy.deepcopy(objective).to(device)
        # On a GPU looking at each value would wait for it; the engine looks once an epoch.
        self.objective.validate = self.objective.validate and device.type == "cpu"
        self._easing = SoftCrossEntropy(validate=self.objective.validate)
        self.warming_up = False
        self.generator = torch.Generator(device)
        self.optimizer = _optimizer(self.network, settings, execution, device)
        self.loss_sum = torch.zeros((), dtype=torch.float64, device=device)

    @property
    def loss(self) -> Objective:
        """What is minimised now."""
        return self._easing if self.warming_up else self.objective

    @property
    def n_strata(self) -> int:
        """Number of strata of the class mass in use."""
        return int(getattr(getattr(self.loss, "mass", None), "n_strata", 1))

    @property
    def rate(self) -> float:
        """The learning rate."""
        return float(self.optimizer.param_groups[0]["lr"])

    @rate.setter
    def rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def state(self) -> dict[str, Any]:
        """All that it needs to go on where it is."""
        return {
            "network": self.network.state_dict(),
            "objective": self.objective.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "loss_sum": self.loss_sum,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.objective.load_state_dict(state["objective"])
        # The rate stays where a captured step reads it, and the rest as this execution needs it.
        own = [
            {name: value for name, value in group.items() if name != "params"}
            for group in self.optimizer.param_groups
        ]
        self.optimizer.load_state_dict(state["optimizer"])
        rate = self.rate
        for group, options in zip(self.optimizer.param_groups, own, strict=True):
            group.update(options)
        self.rate = rate
        self.loss_sum.copy_(state["loss_sum"])


def _put_channels_last(network: nn.Module) -> None:
    for parameter in network.parameters():
        if parameter.ndim == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)


def _optimizer(
    network: nn.Module, settings: Settings, execution: Execution, device: torch.device
) -> torch.optim.Optimizer:
    parameters = [p for p in network.parameters() if p.requires_grad]
    is_captured = execution.cuda_graph != "no" and device.type == "cuda"
    # A captured step reads its rate from memory.
    rate = torch.tensor(settings.learning_rate, device=device) if is_captured else None
    common: dict[str, Any] = {
        "lr": settings.learning_rate if rate is None else rate,
        "weight_decay": settings.weight_decay,
        "fused": True,
    }
    if settings.optimizer == "sgd":
        return torch.optim.SGD(parameters, momentum=0.9, **common)
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    return kind(parameters, capturable=is_captured, **common)
