"""A small collection in three clusters, beliefs of every kind about it, and short runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.testing import assert_close

from tacit.beliefs import Bags, Candidates, Categorical, Chains, Orderings, Pairs
from tacit.fitting import Collection, Execution, Plan, Settings, fit
from tacit.objectives import RQ
from tacit.predictors import Linear, Perceptron
from tacit.sources import Voted, Votes

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from tacit.beliefs import Belief
    from tacit.fitting import Fitted
    from tacit.objectives import Objective

N, N_FEATURES, N_CLASSES = 90, 4, 3
CPU = Execution(device="cpu")
EVERY_STEP = Execution(device="cpu", checkpoint_every=0.0)


def truth(n: int = N) -> Tensor:
    return torch.arange(n) * 7 % N_CLASSES


def features(n: int = N) -> Tensor:
    """Instances of a class around a corner of its own."""
    noise = torch.randn(n, N_FEATURES, generator=torch.Generator().manual_seed(5))
    return noise + 3.0 * torch.eye(N_CLASSES, N_FEATURES)[truth(n)]


def candidates(n: int = N) -> Candidates:
    """The label and, of two instances in three, another one."""
    others = (truth(n) + torch.arange(n) // N_CLASSES) % N_CLASSES
    sets = [{*pair} for pair in torch.stack([truth(n), others], 1).tolist()]
    return Candidates([sorted(each) for each in sets], n_classes=N_CLASSES)


def categorical(n: int = N) -> Categorical:
    draw = torch.rand(n, N_CLASSES, generator=torch.Generator().manual_seed(6))
    return Categorical(draw + 2 * torch.eye(N_CLASSES)[truth(n)])


def pairs(n: int = N) -> Pairs:
    """Instances with their neighbours but one, all but the last few."""
    first = torch.arange(n - 10).view(-1, 4)
    numbers = torch.cat([first[:, [0, 2]], first[:, [1, 3]]])
    labels = truth(n)
    different = labels[numbers[:, 0]] != labels[numbers[:, 1]]
    return Pairs.different(numbers[different], n_classes=N_CLASSES, n_instances=n)


def bags(n: int = N) -> Bags:
    """Bags of 2 to 5 instances, of which the labels are counted."""
    lists = [list(part) for part in torch.arange(n - 6).split([2, 5, 3, 4] * ((n - 6) // 14))]
    counts = [torch.bincount(truth(n)[torch.stack(bag)], minlength=N_CLASSES) for bag in lists]
    return Bags.from_counts(
        [[int(i) for i in bag] for bag in lists], torch.stack(counts), n_instances=n
    )


def chains(n: int = N) -> Chains:
    transition = [[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]
    return Chains(torch.arange(n).view(-1, 5), transition, n_instances=n)


def orderings(n: int = N) -> Orderings:
    return Orderings(torch.arange(n).view(-1, 3), n_classes=N_CLASSES, n_instances=n, strict=False)


def votes(n: int = N) -> Voted:
    """Three workers, wrong now and then, who are taken for equally good."""
    generator = torch.Generator().manual_seed(7)
    right = torch.rand(n, 3, generator=generator) < torch.tensor([0.9, 0.6, 0.5])
    other = (truth(n).unsqueeze(1) + torch.randint(1, 3, (n, 3), generator=generator)) % N_CLASSES
    said = torch.where(right, truth(n).unsqueeze(1), other)
    alike = 0.2 + 0.4 * torch.eye(N_CLASSES).expand(3, -1, -1)
    asked = Votes.from_matrix(said, n_classes=N_CLASSES, all_asked=False)
    return Voted(asked, alike, torch.ones(N_CLASSES))


BELIEFS = {
    "candidates": candidates,
    "categorical": categorical,
    "pairs": pairs,
    "bags": bags,
    "chains": chains,
    "orderings": orderings,
    "product": lambda n=N: pairs(n) * categorical(n),
    "votes": votes,
}


def perceptron(generator: torch.Generator) -> Perceptron:
    return Perceptron(N_FEATURES, N_CLASSES, widths=(6,), generator=generator)


def linear(generator: torch.Generator) -> Linear:
    return Linear(N_FEATURES, N_CLASSES, generator=generator)


def plan(objective: Objective | None = None, predictor: Any = perceptron, **settings: Any) -> Plan:
    """Two epochs of four steps, unless told otherwise."""
    given = {"epochs": 2, "batch_size": 20, "learning_rate": 0.02, "held_out": 0.1} | settings
    return Plan(predictor=predictor, objective=objective or RQ(), settings=Settings(**given))


def collection(belief: Belief | None = None, **extra: Any) -> Collection:
    return Collection(features(), candidates() if belief is None else belief, **extra)


def train(
    plans: Plan | list[Plan],
    of: Collection | None = None,
    execution: Execution = CPU,
    folder: Path | None = None,
    **how: Any,
) -> list[Fitted]:
    plans = [plans] if isinstance(plans, Plan) else plans
    of = collection() if of is None else of
    return fit(plans, of, execution=execution, folder=folder, **how)


def weights(fitted: Fitted) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in fitted.network.state_dict().items()}


def assert_same(left: Fitted, right: Fitted) -> None:
    """Weights, history and end are the same to the bit."""
    theirs = weights(right)
    for name, value in weights(left).items():
        assert torch.equal(value, theirs[name]), name
    assert [replace(r, run=0) for r in left.history] == [replace(r, run=0) for r in right.history]
    assert left[2:] == right[2:]


def assert_near(left: Fitted, right: Fitted, **tolerance: float) -> None:
    theirs = weights(right)
    for name, value in weights(left).items():
        assert_close(value, theirs[name], **tolerance)
