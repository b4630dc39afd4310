"""Five collections of which people, programs or captions tell something: ours beside its rivals.

    tacit reproduce real-beliefs --data DIR

Comments and messages with the votes of labelling functions (youtube, sms), faces and regions of
images with the names in their captions (lost, msrcv2), and images with the votes of three people
(cifar10n). Every row learns with the same predictor, from the same instances, for as many epochs,
and is taken in the state in which its held-out evidence was best. True labels are for counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import torch

from experiments._data import files_of, people_of, task
from experiments._experiment import Experiment
from experiments._rivals import Numbered, Proden, label_model
from experiments.real_beliefs_page import page
from tacit import diagnostics
from tacit.beliefs import Candidates, Categorical
from tacit.evidence import sum_by_class
from tacit.fitting import Collection, Execution, Plan, Settings, fit, perceive, posterior
from tacit.fitting._rows import split
from tacit.objectives import EM, QR, RQ, FreeEnergy, HardCrossEntropy, SoftCrossEntropy, UnionNLL
from tacit.predictors import Linear, Perceptron, PooledCNN
from tacit.sources import combined, dawid_skene, majority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from torch import Tensor, nn

    from experiments._data import Part, Task
    from experiments._experiment import Means
    from experiments._store import Cell, Figures
    from tacit.beliefs import Independent
    from tacit.fitting import Fitted
    from tacit.objectives import Objective

__all__ = ["EXPERIMENT"]

Known = Literal["belief", "majority", "reliability", "crowd-kit", "snorkel", "any vote"]
"""What is made of votes; "belief" is what tacit makes of them by default, or the candidates."""


class Method(NamedTuple):
    """A row of the table.

    Attributes:
        known: What it learns from.
        objective: What it minimises, given what is known.
        needs_votes: Whether it is one for votes alone.
    """

    known: Known
    objective: Callable[[Independent], Objective]
    needs_votes: bool = False


OURS: Final = {
    "RQ": Method("belief", lambda _: RQ()),
    "QR": Method("belief", lambda _: QR()),
    "FreeEnergy": Method("belief", lambda _: FreeEnergy()),
    "EM": Method("belief", lambda _: EM()),
    "soft cross-entropy": Method("belief", lambda _: SoftCrossEntropy()),
}
RIVALS: Final = {
    "union NLL": Method("belief", lambda _: UnionNLL()),
    "PRODEN": Method("any vote", Proden),
    "majority vote, classifier": Method("majority", lambda _: HardCrossEntropy(), True),
    "Dawid-Skene (tacit), classifier": Method("reliability", lambda _: SoftCrossEntropy(), True),
    "Dawid-Skene (crowd-kit), classifier": Method("crowd-kit", lambda _: SoftCrossEntropy(), True),
    "label model (snorkel), classifier": Method("snorkel", lambda _: SoftCrossEntropy(), True),
}
METHODS: Final = OURS | RIVALS


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How all methods learn one set.

    Attributes:
        predictor: Builds the network for a task.
        settings: Of the engine.
        steps: Learning rates, of which each method gets its best by held-out evidence.
        has_votes: Whether what is known are votes.
        score: What counts: the share of right labels, or F1 of the second class.
    """

    predictor: Callable[[Task, torch.Generator], nn.Module]
    settings: dict[str, Any]
    steps: tuple[float, ...]
    has_votes: bool
    score: Literal["accuracy", "F1"] = "accuracy"


def _linear(task: Task, generator: torch.Generator) -> nn.Module:
    return Linear(task.train.features.shape[1], task.n_classes, generator=generator)


def _perceptron(task: Task, generator: torch.Generator) -> nn.Module:
    return Perceptron(task.train.features.shape[1], task.n_classes, generator=generator)


def _convolutions(task: Task, generator: torch.Generator) -> nn.Module:
    return PooledCNN(3, (32, 32), task.n_classes, generator=generator)


_SMALL: Final = {"epochs": 100, "batch_size": 128, "patience": 0}
_IMAGES: Final = {"epochs": 30, "batch_size": 256, "augment": "shift_mirror", "patience": 0}
_STEPS: Final = (2e-3, 1e-2)
SETS: Final = {
    "youtube": Setup(predictor=_linear, settings=_SMALL, steps=_STEPS, has_votes=True),
    "sms": Setup(predictor=_linear, settings=_SMALL, steps=_STEPS, has_votes=True, score="F1"),
    "lost": Setup(predictor=_perceptron, settings=_SMALL, steps=_STEPS, has_votes=False),
    "msrcv2": Setup(predictor=_perceptron, settings=_SMALL, steps=_STEPS, has_votes=False),
    "cifar10n": Setup(predictor=_convolutions, settings=_IMAGES, steps=(2e-3,), has_votes=True),
}


def cells(seeds: Sequence[int]) -> list[Cell]:
    """Every method on every set that has what it needs."""
    return [
        {"set": name, "method": method, "step": step, "seed": seed}
        for name, setup in SETS.items()
        for method, how in METHODS.items()
        if setup.has_votes or not how.needs_votes
        for step in setup.steps
        for seed in seeds
    ]


def measure(wanted: Sequence[Cell], means: Means) -> Iterator[tuple[Cell, Figures]]:
    """Fit the runs that share a collection side by side."""
    for (name, known, seed), group in groupby(sorted(wanted, key=_shared), key=_shared):
        given = task(name, means.data, seed=seed)
        try:
            kept = means.data / "label_models" / f"{name}-{known}-{seed}.npz"
            belief, counts = _known(given.train, known, seed, kept)
        except ImportError:
            continue  # a rival that is not installed
        yield from _fitted(list(group), given, belief, counts, means)


def _shared(cell: Cell) -> tuple[str, Known, int]:
    """What runs must have in common to be fitted side by side."""
    return str(cell["set"]), METHODS[str(cell["method"])].known, int(cell["seed"])


def _known(part: Part, known: Known, seed: int, kept: Path) -> tuple[Independent, Tensor | None]:
    """A belief, and which instances count: those that somebody voted on."""
    if part.votes is None:
        assert part.candidates is not None
        return part.candidates, None
    votes = part.votes
    voted = votes.heard()
    makers: dict[str, Callable[[], Independent]] = {
        "belief": lambda: combined(votes),
        "majority": lambda: majority(votes),
        "reliability": lambda: dawid_skene(votes),
        "crowd-kit": lambda: label_model(known, votes, seed=seed, kept=kept),
        "snorkel": lambda: label_model(known, votes, seed=seed, kept=kept),
        "any vote": lambda: Candidates.from_mask((votes.counts() > 0) | ~voted.unsqueeze(1)),
    }
    return makers[known](), voted.float()


def _fitted(
    group: list[Cell], given: Task, belief: Independent, counts: Tensor | None, means: Means
) -> Iterator[tuple[Cell, Figures]]:
    setup = SETS[str(group[0]["set"])]
    collection = Collection(given.train.features, Numbered(belief), weight=counts)
    plans = [
        Plan(
            predictor=partial(setup.predictor, given),
            objective=METHODS[str(cell["method"])].objective(belief),
            settings=Settings(
                seed=int(cell["seed"]), learning_rate=float(cell["step"]), **setup.settings
            ),
        )
        for cell in group
    ]
    on_gpu = Execution(device=means.device).torch_device().type == "cuda"
    execution = Execution(
        device=means.device, cuda_graph="yes" if on_gpu else "no", autocast=on_gpu
    )
    for cell, plan, run in zip(
        group, plans, fit(plans, collection, execution=execution), strict=True
    ):
        yield cell, _figures(cell, plan, run, given, belief, counts, means)


def _figures(
    cell: Cell,
    plan: Plan,
    run: Fitted,
    given: Task,
    belief: Independent,
    counts: Tensor | None,
    means: Means,
) -> Figures:
    setup = SETS[str(cell["set"])]
    log_q = perceive(run.network, given.train.features)
    log_mass = sum_by_class(log_q, weight=counts, group=None).log_mass[0]
    log_r = posterior(log_q, belief, log_mass=log_mass)
    tested = perceive(run.network, given.test.features)
    rows = torch.arange(len(belief)) if counts is None else counts.nonzero().squeeze(1)
    held_out = split(rows, None, plan.settings.held_out, plan.settings.seed).held_out
    judged = log_q[held_out], belief[held_out]
    found = {
        "test": _score(tested, given.test.truth, setup.score),
        "r": _score(log_r, given.train.truth, setup.score),
        "q": _score(log_q, given.train.truth, setup.score),
        "belief": _score(belief.marginals().log(), given.train.truth, setup.score),
        "held-out evidence": run.held_out_evidence,
        "covering rate": diagnostics.covering_rate(*judged),
        "approximated accuracy": diagnostics.approximated_accuracy(*judged),
        "best epoch": run.best_epoch,
        "collapsed": any(alarm.degenerate for alarm in run.history[-1].alarms),
    }
    if cell["set"] == "cifar10n":
        found |= _beside_people(tested, people_of(means.data))
    return {key: round(v, 5) if isinstance(v, float) else v for key, v in found.items()}


def _score(log_table: Tensor, truth: Tensor, score: str) -> float:
    said = log_table.argmax(1)
    if score == "accuracy":
        return float((said == truth).double().mean())
    hit = float(((said == 1) & (truth == 1)).sum())
    return 2 * hit / max(float((said == 1).sum() + (truth == 1).sum()), 1.0)


def _beside_people(log_q: Tensor, people: Tensor) -> dict[str, float]:
    """How well q tells what many people say: mean cross-entropy, and calibration."""
    likeliest = diagnostics.reliability(log_q.exp(), Categorical(people))
    return {
        "cross-entropy of people": float(-(people * log_q.double()).sum(1).mean()),
        "calibration error": likeliest.error,
    }


def files(wanted: Sequence[Cell], data: Path) -> list[Path]:
    """All files that the cells are measured on."""
    names = dict.fromkeys(str(cell["set"]) for cell in wanted)
    return [path for name in names for path in files_of(name, data)]


EXPERIMENT: Final = Experiment(
    name="real-beliefs",
    about="five real collections: votes of programs and of people, names in captions",
    needs="wrench, partial_label_tabular, cifar10_human_labels and cifar10",
    seeds=5,
    cells=cells,
    files=files,
    measure=measure,
    page=page,
    versions=("crowd-kit", "snorkel"),
)
