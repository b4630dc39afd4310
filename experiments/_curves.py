"""Networks that learn side by side, and how right they are after each epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import torch

from tacit.fitting import Execution, fit
from tacit.predictors import SmallCNN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import Tensor, nn

    from experiments._data import Images
    from experiments._store import Cell
    from tacit.fitting import Collection, Fitted, Plan, Progress

__all__ = ["Curves", "execution_on", "in_parts", "learned", "small_cnn"]

_AT_A_TIME: Final = 5000
_SELDOM: Final = 10
_SAMPLE: Final = 10_000
"""Images of the training set that are looked at after each epoch."""


def execution_on(device: str) -> Execution:
    """As fast as the device allows: on a GPU in bfloat16, captured, networks side by side."""
    if Execution(device=device).torch_device().type == "cpu":
        return Execution(device=device)
    return Execution(
        device=device, cuda_graph="yes", together="no", autocast=True, channels_last=True
    )


@dataclass
class Curves:
    """Shares of right predictions after each epoch, run by run.

    Attributes:
        images: Of the training set, of which the first 10,000 are looked at, and of the test set.
        execution: Where the networks are, and how they compute.
        test: For each run a share for each epoch.
        train: The same on the training set, every tenth epoch and after the last.
        confusions: For each run and epoch what is said of the test set, `(true, said)`; where
            wanted.
    """

    images: Images
    execution: Execution
    with_confusions: bool = False
    test: dict[int, list[Tensor]] = field(default_factory=dict)
    train: dict[int, list[Tensor]] = field(default_factory=dict)
    confusions: dict[int, list[Tensor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        device = self.execution.torch_device()
        own = self.images
        shown = {
            "test": (own.x_test, own.y_test),
            "train": (own.x_train[:_SAMPLE], own.y_train[:_SAMPLE]),
        }
        self._shown = {name: (x.to(device), y.to(device)) for name, (x, y) in shown.items()}

    def __call__(self, progress: Progress) -> None:
        """Look at the network of an epoch that has just ended; nobody waits for what is seen."""
        record, network = progress.record, progress.network
        if record is None or network is None:
            return
        x, y = self._shown["test"]
        said = self._said(network, x)
        self.test.setdefault(record.run, []).append((said == y).float().mean())
        if self.with_confusions:
            n = int(self.images.y_train.max()) + 1
            table = torch.zeros(n * n, device=y.device)
            table.index_add_(0, y * n + said, torch.ones_like(y, dtype=table.dtype))
            self.confusions.setdefault(record.run, []).append(table.view(n, n))
        if record.epoch % _SELDOM == 0 or record.epoch == progress.epochs:
            x, y = self._shown["train"]
            right = (self._said(network, x) == y).float().mean()
            self.train.setdefault(record.run, []).append(right)

    @torch.no_grad()
    def _said(self, network: nn.Module, x: Tensor) -> Tensor:
        was_training = network.training
        network.eval()
        with torch.autocast(x.device.type, torch.bfloat16, enabled=self.execution.autocast):
            said = torch.cat([network(part).argmax(1) for part in x.split(_AT_A_TIME)])
        network.train(was_training)
        return said

    def figures(self, run: int) -> dict[str, Any]:
        """Final and best shares of a run, and the whole curves."""
        curves = {
            name: [round(float(share), 4) for share in kept[run]]
            for name, kept in (("test", self.test), ("train", self.train))
        }
        return {
            **{name: curve[-1] for name, curve in curves.items()},
            **{f"peak {name}": max(curve) for name, curve in curves.items()},
            "curve": curves["test"],
        }


def small_cnn(shape: Sequence[int], n_classes: int = 10) -> Callable[[torch.Generator], SmallCNN]:
    """What builds the paper's small network for images of a shape."""
    channels, height, width = shape
    return lambda generator: SmallCNN(channels, (height, width), n_classes, generator=generator)


def in_parts(cells: Sequence[Cell], size: int) -> Iterator[Sequence[Cell]]:
    """Cells that are measured side by side, so many at a time."""
    return (cells[start : start + size] for start in range(0, len(cells), size))


def learned(
    plans: Sequence[Plan],
    collection: Collection,
    images: Images,
    device: str,
    *,
    confusions: bool = False,
) -> tuple[list[Fitted], Curves]:
    """Fit plans side by side, watched after each epoch."""
    execution = execution_on(device)
    curves = Curves(images, execution, confusions)
    # Which convolution is fastest is tried out, once for each shape.
    with torch.backends.cudnn.flags(enabled=True, benchmark=True):
        return fit(plans, collection, execution=execution, watch=curves), curves
