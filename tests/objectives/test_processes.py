"""Two real processes with unequal shares of a batch against one process with all of it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.testing import assert_close

from tacit.beliefs.pairs import Pairs
from tacit.evidence import BatchMass, CollectionMass, TrackedMass, class_mass, sum_by_class
from tacit.objectives import EM, RQ, Clustering, SoftCrossEntropy, rq
from tests.objectives.cases import COUPLED, draw, upstream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import Tensor

N, N_CLASSES = 10, 4
SHARES = [slice(0, 6), slice(6, 10)]
"""What each process gets; pairs of neighbours stay together."""

ALL = SoftCrossEntropy, *COUPLED
UNEVEN = RQ, EM, Clustering
OWN_STRATA = torch.tensor([0] * 6 + [1] * 4)
"""The second process has a stratum that the first has not heard of."""


class Case(NamedTuple):
    """One comparison.

    Attributes:
        kind: Name of the objective.
        by_formula: Closed form or autograd.
        extra: Which of weight, mask and strata are given; "alone" masks all of the second process.
        reduction: The reduction.
        structured: Whether the belief is one of pairs.
        mass: "batch" or "tracked".
    """

    kind: str
    by_formula: bool = True
    extra: str = ""
    reduction: str = "mean"
    structured: bool = False
    mass: str = "batch"

    def objective(self, group: str | None) -> nn.Module:
        kind = {kind.__name__: kind for kind in ALL}[self.kind]
        n_strata = 2 if "strata" in self.extra else 1
        mass = TrackedMass(n_strata=n_strata) if self.mass == "tracked" else BatchMass(n_strata)
        how = {"smoothing": 1e-3, "reduction": self.reduction, "by_formula": self.by_formula}
        return kind(mass, group=group, **how)

    def arguments(self, rows: slice) -> dict[str, Any]:
        batch = draw((N, N_CLASSES), 7)
        mask = torch.arange(N) % 3 > 0
        if "alone" in self.extra:
            mask = torch.arange(N) < 6
        given = {"weight": batch.weight, "mask": mask, "strata": batch.strata}
        extra = {name: given[name][rows] for name in given if name in self.extra}
        extra |= {"mask": mask[rows]} if "alone" in self.extra else {}
        if self.kind == "Clustering":
            return extra
        pairs = torch.arange(N).view(-1, 2)
        own = Pairs.greater(pairs, n_classes=N_CLASSES, n_instances=N)
        return extra | {"belief": own[rows] if self.structured else batch.belief[rows]}

    def run(self, rows: slice, group: str | None, n_processes: int) -> dict[str, Any]:
        """Two steps: loss, parameters' gradient averaged over processes, state of the mass."""
        objective, network = self.objective(group), _network()
        features = torch.linspace(-2, 2, 3 * N, dtype=torch.float64).sin().view(N, 3)
        value = torch.zeros(())
        for _ in range(2):
            network.zero_grad()
            value = objective(network(features[rows]), **self.arguments(rows))
            factor = upstream(torch.empty(N))[rows] if value.ndim else 1.0
            (value * factor).sum().backward()
        gradient = network.weight.grad
        if n_processes > 1:
            dist.all_reduce(gradient)
            # Bare values are each process's own, so that the sum of their gradients is the whole.
            gradient /= n_processes if self.reduction != "none" else 1
        return {"value": value.detach(), "gradient": gradient, "state": objective.state_dict()}


def _network() -> nn.Linear:
    network = nn.Linear(3, N_CLASSES, bias=False, dtype=torch.float64)
    weight = torch.linspace(-1, 1, 3 * N_CLASSES, dtype=torch.float64).view(N_CLASSES, 3)
    network.weight.data.copy_(weight.mul(5).cos())
    return network


COUPLED_NAMES = [kind.__name__ for kind in ALL]
CASES = [
    *(
        Case(name, by_formula, extra, reduction)
        for name in COUPLED_NAMES
        for by_formula in (True, False)
        for extra in ("", "weight", "weight mask", "alone", "weight strata")
        for reduction in ("mean", "sum", "none")
        if not (name == "SoftCrossEntropy" and "strata" in extra)
    ),
    *(
        Case(name, extra=extra, reduction=reduction, structured=True)
        for name in ("RQ", "QR", "FreeEnergy", "EM")
        for extra in ("", "mask", "alone")
        for reduction in ("mean", "none")
    ),
    *(
        Case(name, by_formula, extra, mass="tracked")
        for name in ("RQ", "EM")
        for by_formula in (True, False)
        for extra in ("", "weight strata", "alone")
    ),
]


def _vanished() -> Tensor:
    """Log-predictions in which a class has vanished from the first share alone."""
    logits = draw((N, N_CLASSES), 3).logits.float()
    logits[SHARES[0], 1] = -500
    return logits


def _in_a_process(rank: int, work: Callable[[slice], Any], folder: str) -> None:
    torch.set_num_threads(1)
    meeting = f"file://{folder}/meeting"
    limit = timedelta(seconds=60)
    dist.init_process_group("gloo", meeting, limit, world_size=2, rank=rank)
    try:
        torch.save(work(SHARES[rank]), f"{folder}/{rank}.pt")
    finally:
        dist.destroy_process_group()


def in_two_processes(work: Callable[[slice], Any], folder: Path) -> list[Any]:
    """What each of two processes makes of its share."""
    torch.multiprocessing.spawn(_in_a_process, (work, str(folder)), nprocs=2)
    return [torch.load(folder / f"{rank}.pt") for rank in (0, 1)]


def _work(rows: slice) -> dict[str, Any]:
    log_q = draw((N, N_CLASSES), 7).logits.log_softmax(1)
    return {
        "cases": [case.run(rows, "world", 2) for case in CASES],
        "alone": Case("RQ").run(rows, None, 1),
        "mass": class_mass(log_q[rows]),
        "collection": CollectionMass().refresh(log_q[rows].split(2)).log_mass,
    }


def _work_on_uneven_shares(rows: slice) -> dict[str, Any]:
    batch = draw((N, N_CLASSES), 7)
    return {
        "vanished": [kind()(_vanished()[rows], *_belief_for(kind, rows)) for kind in UNEVEN],
        "strata": rq(batch.logits[rows], batch.belief[rows], strata=OWN_STRATA[rows]),
    }


def _belief_for(kind, rows):
    return () if kind is Clustering else (draw((N, N_CLASSES), 3).belief.float()[rows],)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return in_two_processes(_work, tmp_path_factory.mktemp("processes"))


@pytest.mark.parametrize(
    "number", range(len(CASES)), ids=lambda number: "-".join(map(str, CASES[number]))
)
def test_two_processes_equal_one(results, number):
    case = CASES[number]
    first, second = (result["cases"][number] for result in results)
    expected = case.run(slice(None), None, 1)
    if case.reduction == "none":
        together = torch.cat([first["value"], second["value"]])
    else:
        together = first["value"]
        assert torch.equal(first["value"], second["value"])
    close = {"rtol": 1e-9, "atol": 1e-9}
    assert_close(together, expected["value"], **close)
    assert_close(first["gradient"], expected["gradient"], **close)
    for name, state in expected["state"].items():
        assert_close(first["state"][name], state, **close)
        assert torch.equal(first["state"][name], second["state"][name])


def test_a_process_without_group_keeps_to_itself(results):
    for rank, rows in enumerate(SHARES):
        expected = Case("RQ").run(rows, None, 1)
        assert_close(results[rank]["alone"]["value"], expected["value"])
        assert_close(results[rank]["alone"]["gradient"], expected["gradient"])
    assert results[0]["alone"]["value"] != results[1]["alone"]["value"]


def test_the_mass_of_a_collection_is_that_of_all_processes(results):
    expected = sum_by_class(draw((N, N_CLASSES), 7).logits.log_softmax(1)).log_mass
    for result in results:
        assert_close(result["collection"], expected)
        assert_close(result["mass"], expected[0].exp())


@pytest.fixture(scope="module")
def uneven_results(tmp_path_factory):
    return in_two_processes(_work_on_uneven_shares, tmp_path_factory.mktemp("processes"))


def test_a_class_may_vanish_from_one_process_alone(uneven_results):
    for number, kind in enumerate(UNEVEN):
        expected = kind()(_vanished(), *_belief_for(kind, slice(None)))
        for result in uneven_results:
            assert_close(result["vanished"][number], expected)


def test_a_stratum_may_be_on_one_process_alone(uneven_results):
    batch = draw((N, N_CLASSES), 7)
    expected = rq(batch.logits, batch.belief, strata=OWN_STRATA)
    assert_close(torch.cat([result["strata"] for result in uneven_results]), expected)
