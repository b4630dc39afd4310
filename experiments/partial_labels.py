"""Images with several candidate labels each: ours beside published objectives, on one network.

    tacit reproduce partial-labels --data DIR

Each wrong label becomes a candidate beside the true one with a chance that is the same for all, or
that depends on the image: its probability under a network that was trained on the true labels,
divided by that of the likeliest wrong one. All rows learn with the paper's small network, for as
many epochs; each has the step that its held-out evidence likes best. True labels are for counting.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

import torch

from experiments._curves import execution_on, in_parts, learned, small_cnn
from experiments._data import images, images_file
from experiments._experiment import Experiment
from experiments._rivals import LeveragedWeighted, Numbered, Proden
from experiments.partial_labels_page import page
from tacit.beliefs import Candidates
from tacit.evidence import TrackedMass
from tacit.fitting import (
    Collection,
    Plan,
    Settings,
    fit,
    load_state,
    perceive,
    save_state,
)
from tacit.objectives import EM, RQ, FreeEnergy, HardCrossEntropy, SoftCrossEntropy, UnionNLL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from experiments._data import Images
    from experiments._experiment import Means
    from experiments._store import Cell, Figures
    from tacit.beliefs import Independent
    from tacit.objectives import Objective

__all__ = ["EXPERIMENT", "flipped", "wrong_chances"]

SETS: Final = ("mnist", "fashion_mnist", "cifar10")
FLIPS: Final = ("0.1", "0.3", "0.5", "0.7", "0.9", "instance")
N_CLASSES: Final = 10
ROWS: Final[dict[str, Callable[[Independent], Objective]]] = {
    "RQ": lambda _: RQ(),
    "FreeEnergy": lambda _: FreeEnergy(),
    "EM": lambda _: EM(),
    "EM, tracked mass": lambda _: EM(TrackedMass()),
    "soft cross-entropy": lambda _: SoftCrossEntropy(),
    "union NLL (CC)": lambda _: UnionNLL(),
    "PRODEN (RC)": Proden,
    "LWS": LeveragedWeighted,
}
STEPS: Final = (3e-4, 1e-3, 3e-3)
SETTINGS: Final = {"epochs": 60, "batch_size": 256, "held_out": 0.1, "patience": 0}
TEACHER: Final = {"epochs": 20, "batch_size": 256, "learning_rate": 1e-3, "held_out": 0.0}
"""How the network learns that makes candidates depend on the image."""
_AT_ONCE: Final = 12


def cells(seeds: Sequence[int]) -> list[Cell]:
    """Seeds first, then sets."""
    return [
        {"set": name, "flips": flips, "row": row, "step": step, "seed": seed}
        for seed in seeds
        for name in SETS
        for flips in FLIPS
        for row in ROWS
        for step in STEPS
    ]


def measure(wanted: Sequence[Cell], means: Means) -> Iterator[tuple[Cell, Figures]]:
    """Runs that are told the same learn side by side."""
    for (name, flips, seed), group in groupby(wanted, key=_shared):
        own = images(name, means.data)
        chances = _chances(flips, own, name, seed, means)
        told = Candidates.from_mask(flipped(own.y_train, chances, seed))
        collection = Collection(own.x_train, Numbered(told))
        for some in in_parts(list(group), _AT_ONCE):
            plans = [_plan(cell, own, told) for cell in some]
            runs, curves = learned(plans, collection, own, means.device)
            for number, (cell, run) in enumerate(zip(some, runs, strict=True)):
                found = curves.figures(number)
                best = run.history[run.best_epoch - 1]
                found["held-out evidence"] = round(float(best.held_out_evidence or 0.0), 5)
                found["test"] = found["curve"][run.best_epoch - 1]
                found["last"] = found["curve"][-1]
                found["candidates"] = round(float(told.mask().sum(1).double().mean()), 3)
                yield cell, found


def _shared(cell: Cell) -> tuple[str, str, int]:
    return str(cell["set"]), str(cell["flips"]), int(cell["seed"])


def _plan(cell: Cell, own: Images, told: Independent) -> Plan:
    return Plan(
        predictor=small_cnn(own.x_train.shape[1:]),
        objective=ROWS[str(cell["row"])](told),
        settings=Settings(seed=int(cell["seed"]), learning_rate=float(cell["step"]), **SETTINGS),
    )


def flipped(truth: Tensor, chances: Tensor, seed: int) -> Tensor:
    """Candidates `(N, class)`: the true label, and each wrong one by its chance."""
    generator = torch.Generator().manual_seed(seed)
    allowed = torch.rand(len(truth), chances.shape[-1], generator=generator) < chances
    return allowed.scatter_(1, truth.unsqueeze(1), value=True)


def _chances(flips: str, own: Images, name: str, seed: int, means: Means) -> Tensor:
    if flips != "instance":
        return torch.full((1, N_CLASSES), float(flips))
    return wrong_chances(_teacher(own, name, seed, means), own.y_train)


def wrong_chances(q: Tensor, truth: Tensor) -> Tensor:
    """Each wrong label's probability, divided by that of the likeliest wrong one."""
    wrong = q.scatter(1, truth.unsqueeze(1), 0.0)
    return wrong / wrong.amax(1, keepdim=True).clamp(min=torch.finfo(q.dtype).tiny)


def _teacher(own: Images, name: str, seed: int, means: Means) -> Tensor:
    """What a network that was told the true labels predicts; it is kept beside the data."""
    kept = means.data / "teachers" / f"{name}-{seed}.safetensors"
    if not kept.exists():
        known = Candidates(own.y_train.unsqueeze(1), n_classes=N_CLASSES)
        plan = Plan(
            predictor=small_cnn(own.x_train.shape[1:]),
            objective=HardCrossEntropy(),
            settings=Settings(seed=seed, **TEACHER),
        )
        (run,) = fit([plan], Collection(own.x_train, known), execution=execution_on(means.device))
        q = perceive(run.network, own.x_train).exp()
        kept.parent.mkdir(parents=True, exist_ok=True)
        state = {"q": q, "network": run.network.state_dict()}
        save_state(kept, state, kind="teacher")
    found: Tensor = load_state(kept, kind="teacher")["q"]
    return found


def files(wanted: Sequence[Cell], data: Path) -> list[Path]:
    """The images that the cells are about."""
    names = dict.fromkeys(str(cell["set"]) for cell in wanted)
    return list(map(partial(images_file, data=data), names))


EXPERIMENT: Final = Experiment(
    name="partial-labels",
    about="candidate labels on MNIST, Fashion-MNIST and CIFAR-10, beside published objectives",
    needs="mnist, fashion_mnist and cifar10",
    seeds=3,
    cells=cells,
    files=files,
    measure=measure,
    page=page,
)
