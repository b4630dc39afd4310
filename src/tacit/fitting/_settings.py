"""What a run is asked to do, and what it may use for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_type_hints

from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

__all__ = ["Execution", "Settings"]

Schedule = Literal["constant", "plateau", "cosine"]
Optimizer = Literal["adam", "adamw", "sgd"]
OnCollapse = Literal["warn", "stop", "restore", "restart"]
Augment = Literal["none", "shift", "shift_mirror"]
Hold = Literal["auto", "yes", "no"]
Together = Literal["auto", "yes", "no"]
CudaGraph = Literal["auto", "yes", "no"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a predictor learns: all that decides the result, apart from data and objective.

    Attributes:
        epochs: Passes over the collection, at the most.
        batch_size: Instances in a batch; groups stay whole.
        learning_rate: Step of the optimizer at its highest.
        optimizer: "adam", "adamw" or "sgd" (with momentum 0.9).
        weight_decay: Decay of the weights, as the optimizer understands it.
        schedule: "constant"; "cosine", down to zero at the last epoch; or "plateau", halved
            when the held-out evidence has not risen for a third of `patience` epochs.
        warm_up: Epochs of soft cross-entropy against the belief's marginals before the objective;
            fewer than there are epochs.
        update_every: Epochs between two updates of a belief that learns along, such as votes of
            sources whose reliability is not known for certain: before an epoch begins, what the
            belief learns is estimated anew (`Belief.updated`) from the posterior of the whole
            collection. The first update comes when so many epochs after the warm-up are done; 0 is
            never. Held-out evidence and vital signs are still taken against the belief as it was
            stated, so that all epochs are judged by one measure.
        held_out: Share of the instances, in whole groups, that is kept out of training to judge it
            by held-out evidence: early stopping, the best state and the plateau need it. At most
            20,000 instances; 0 trains on all for all epochs.
        patience: Epochs without better held-out evidence before a run stops; 0 is never.
        augment: "none", or "shift": images are moved by up to a sixteenth of their side, and at
            least a pixel, each time they are seen; "shift_mirror": they are turned round, left to
            right, half of the times too.
        on_collapse: What to do when a run degenerates: "warn"; "stop"; "restore", which stops and
            goes back to the best state; "restart", from the start with a longer warm-up, twice at
            the most, and then as "restore".
        seed: Seed of the first weights, the split, the order and everything else that is random;
            below 2^63.

    Example:
        >>> Settings(epochs=5, schedule="constant").learning_rate
        0.002
        >>> Settings(epochs=5, warm_up=5)
        Traceback (most recent call last):
        ...
        tacit.errors.InvalidInputError: `warm_up` must be below the number of epochs, but it is 5 of
        5; raise `epochs`, or pass SoftCrossEntropy as the objective.
    """

    epochs: int = 50
    batch_size: int = 128
    learning_rate: float = 2e-3
    optimizer: Optimizer = "adam"
    weight_decay: float = 0.0
    schedule: Schedule = "cosine"
    warm_up: int = 0
    update_every: int = 0
    held_out: float = 0.1
    patience: int = 10
    augment: Augment = "none"
    on_collapse: OnCollapse = "warn"
    seed: int = 0

    def __post_init__(self) -> None:
        _check_types(self)
        for name, low in _LEAST.items():
            _check_range(name, getattr(self, name), low, math.inf)
        _check_range("seed", self.seed, 0, _LARGEST_SEED)
        _check_range("learning_rate", self.learning_rate, 0.0, math.inf, open_below=True)
        _check_range("weight_decay", self.weight_decay, 0.0, math.inf)
        _check_range("held_out", self.held_out, 0.0, 0.5)
        if self.warm_up >= self.epochs:
            raise refuse(
                "warm_up",
                "be below the number of epochs",
                f"it is {self.warm_up} of {self.epochs}",
                "raise `epochs`, or pass SoftCrossEntropy as the objective",
            )
        if self.update_every and self.warm_up + self.update_every >= self.epochs:
            raise refuse(
                "update_every",
                "be below the number of epochs after the warm-up",
                f"it is {self.update_every} of {self.epochs - self.warm_up}",
                "pass a smaller one, or raise `epochs`",
            )
        if not self.held_out:
            self.check_needs()

    def check_needs(self) -> None:
        """Refuse what needs held-out evidence; to be called where nothing is held out."""
        if self.on_collapse == "restore":
            raise refuse(
                "on_collapse",
                "be another one where nothing is held out",
                "it is 'restore', which needs a best state to go back to",
                "pass a larger `held_out`, or on_collapse='stop'",
            )
        if self.schedule == "plateau":
            raise refuse(
                "schedule",
                "be another one where nothing is held out",
                "it is 'plateau', which waits for held-out evidence to rise",
                "pass a larger `held_out`, or schedule='cosine'",
            )


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Where and how a run is carried out: nothing here is meant to change the result.

    Attributes:
        device: "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1", ...
        hold: Whether features are held on the device: "auto" holds them where they take at most
            half of its free memory, "no" streams them batch by batch.
        together: Whether several networks of one shape are evaluated as one: "auto" does so on a
            GPU, and on a CPU where there are only linear maps.
        cuda_graph: Whether to capture the training step in a CUDA graph, which makes small networks
            many times faster, since their kernels take less time than their launch: "auto" does so
            for tacit's own predictors without dropout, "yes" for any network; both where features
            are held on a GPU, instances stand alone, beliefs stay as they are and there is one
            process.
        autocast: Whether the network computes in bfloat16.
        channels_last: Whether images are laid out with the channels last, as convolutions on GPUs
            prefer.
        compile: Whether to compile the network by `torch.compile`.
        checkpoint_every: Seconds between checkpoints, where there is a folder for them; 0 is after
            every step.

    Example:
        >>> Execution(device="cpu", hold="never")
        Traceback (most recent call last):
        ...
        tacit.errors.InvalidInputError: `hold` must be one of 'auto', 'yes', 'no', but it is
        'never'; pick one.
    """

    device: str = "auto"
    hold: Hold = "auto"
    together: Together = "auto"
    cuda_graph: CudaGraph = "auto"
    autocast: bool = False
    channels_last: bool = False
    compile: bool = False
    checkpoint_every: float = 30.0

    def __post_init__(self) -> None:
        _check_types(self)
        _check_range("checkpoint_every", self.checkpoint_every, 0.0, math.inf)

    def torch_device(self) -> torch.device:
        """The device that is meant; "auto" and "cuda" are the GPU that is current."""
        import torch

        name = self.device
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            device = torch.device(name)
        except RuntimeError as error:
            raise refuse(
                "device", "be one that torch knows", f"it is {name!r}", 'pass "cpu" or "cuda"'
            ) from error
        if device.type not in ("cpu", "cuda"):
            raise refuse("device", "be a CPU or a CUDA GPU", f"it is {name!r}", 'pass "cpu"')
        if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
            raise refuse("device", "be there", f"{name!r} is not", 'pass device="auto"')
        if device.type == "cuda" and device.index is None:
            return torch.device("cuda", torch.cuda.current_device())
        return device


_LEAST: Final = {"epochs": 1, "batch_size": 1, "warm_up": 0, "update_every": 0, "patience": 0}

_LARGEST_SEED: Final = 2**63 - 1
"""What torch's generators take."""

_NUMBERS: Final = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}


def _check_types(settings: Settings | Execution) -> None:
    """Refuse a value of the wrong kind, and a word that is none of those allowed.

    Numbers of other kinds, such as numpy's, become Python's, which JSON knows.
    """
    hints: Mapping[str, Any] = get_type_hints(type(settings))
    for field in fields(settings):
        value, hint = getattr(settings, field.name), hints[field.name]
        if allowed := get_args(hint):
            if not isinstance(value, str) or value not in allowed:
                words = ", ".join(repr(word) for word in allowed)
                raise refuse(field.name, f"be one of {words}", f"it is {value!r}", "pick one")
            continue
        kind = {int: Integral, float: Real}.get(hint, hint)
        if not isinstance(value, kind) or (isinstance(value, bool) and hint is not bool):
            raise refuse(
                field.name, f"be {_NUMBERS[hint]}", f"it is {value!r}", "see the docs of it"
            )
        object.__setattr__(settings, field.name, hint(value))


def _check_range(
    name: str, value: float, low: float, high: float, *, open_below: bool = False
) -> None:
    if low < value < high or (value == low and not open_below) or (value == high < math.inf):
        return
    bounds = f"be {'above' if open_below else 'at least'} {low:g}"
    bounds += f" and at most {high:g}" if high < math.inf else " and finite"
    raise refuse(name, bounds, f"it is {value}", "leave it out for the default")
