"""Two real processes that train together against one that trains alone."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.testing import assert_close

from tacit._processes import _of_this_start, process_number
from tacit.evidence import CollectionMass, TrackedMass
from tacit.fitting import CHECKPOINT, CheckpointError, Collection, perceive
from tacit.objectives import EM, RQ, FreeEnergy
from tests.fitting.cases import BELIEFS, EVERY_STEP, N, features, perceptron, plan, train


def double(generator):
    return perceptron(generator).double()


def of_its_own(generator):
    """What differs from process to process: all must begin with that of the first."""
    network = double(generator)
    network.maps[0].weight.data += process_number("world")
    return network


class Normalised(nn.Module):
    """Batch statistics differ between processes; what is returned must not."""

    def __init__(self, generator):
        super().__init__()
        self.norm, self.network = nn.BatchNorm1d(4, dtype=torch.float64), double(generator)

    def forward(self, features):
        return self.network(self.norm(features))


CASES = {
    "independent": ("candidates", [plan(RQ(), double, epochs=3)]),
    "tracked": ("candidates", [plan(EM(TrackedMass()), double, epochs=3)]),
    "collection": ("categorical", [plan(RQ(CollectionMass()), double, epochs=3)]),
    "pairs": ("pairs", [plan(RQ(), double, epochs=3)]),
    "bags": ("bags", [plan(EM(TrackedMass()), double, epochs=3, warm_up=1)]),
    "product": ("product", [plan(FreeEnergy(), double, epochs=3)]),
    # A batch is one chain of five, which stays whole: the share of one process is empty.
    "empty share": ("chains", [plan(EM(TrackedMass()), double, batch_size=5)]),
    "lone instances": ("candidates", [plan(RQ(), double, epochs=1, batch_size=1)]),
    "several": ("candidates", [plan(RQ(), double, seed=s, batch_size=9 + s) for s in (0, 1, 2)]),
    "learning along": ("votes", [plan(EM(TrackedMass()), double, epochs=4, update_every=1)]),
    "own weights": ("candidates", [plan(RQ(), of_its_own)]),
}
WEIGHT = torch.arange(N) % 4


def results(name):
    belief, plans = CASES[name]
    of = Collection(features().double(), BELIEFS[belief](), weight=WEIGHT.double())
    return [(each.network.state_dict(), each.history) for each in train(plans, of)]


def normalised():
    of = Collection(features().double(), BELIEFS["candidates"]())
    return train(plan(RQ(), Normalised), of)[0].network.state_dict()


def refused(folder):
    """What each process says of a checkpoint that only the first has."""
    own = folder / str(process_number("world"))
    of = Collection(features().double(), BELIEFS["candidates"]())
    train(CASES["independent"][1], of, folder=own)
    try:
        train(CASES["independent"][1], of, folder=own, resume=True)
    except CheckpointError as error:
        return str(error)
    return ""


def asked(folder):
    """How each process ends when only the second is interrupted."""
    told = 0

    def watch(progress):
        nonlocal told
        told += progress.record is None
        if told == 3 and process_number("world") == 1:
            os.kill(os.getpid(), signal.SIGINT)

    of = Collection(features().double(), BELIEFS["candidates"]())
    try:
        train(CASES["independent"][1], of, EVERY_STEP, folder, watch=watch)
    except KeyboardInterrupt:
        return told
    return -1


def _in_a_process(rank, folder):
    torch.set_num_threads(1)
    meeting, limit = f"file://{folder}/meeting", timedelta(seconds=100)
    dist.init_process_group("gloo", meeting, limit, world_size=2, rank=rank)
    for name in ("asked", "0", "1"):
        Path(folder, name).mkdir(exist_ok=True)
    try:
        found = {name: results(name) for name in CASES}
        found["normalised"] = normalised()
        found["refused"] = refused(Path(folder))
        found["asked"] = asked(Path(folder, "asked"))
        one = perceive(double(torch.Generator()), features().double(), rows=torch.tensor([7]))
        torch.save(found | {"one row": one}, f"{folder}/{rank}.pt")
    finally:
        dist.destroy_process_group()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    torch.multiprocessing.spawn(_in_a_process, (str(folder),), nprocs=2)
    found = [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in (0, 1)]
    return folder, found


@pytest.mark.parametrize("name", CASES)
def test_two_processes_equal_one(both, name):
    first, second = (found[name] for found in both[1])
    for one, other, expected in zip(first, second, results(name), strict=True):
        for weight, value in expected[0].items():
            assert_close(one[0][weight], value, rtol=1e-6, atol=1e-6)
            assert one[0][weight].equal(other[0][weight])
        for mine, theirs, record in zip(one[1], other[1], expected[1], strict=True):
            assert mine == theirs
            assert mine.loss == pytest.approx(record.loss, abs=1e-6)
            assert mine.held_out_evidence == pytest.approx(record.held_out_evidence, abs=1e-6)


def test_running_means_are_those_of_the_first_process(both):
    first, second = (found["normalised"] for found in both[1])
    assert all(first[name].equal(value) for name, value in second.items())


def test_processes_that_see_other_checkpoints_refuse_to_go_on(both):
    for found in both[1]:
        assert "is not the same file for all processes" in found["refused"]


def test_an_interruption_of_one_process_ends_all_after_the_same_step(both):
    assert [found["asked"] for found in both[1]] == [3, 3]
    assert (both[0] / "asked" / CHECKPOINT).exists()


def test_a_process_without_rows_gets_them_all(both):
    expected = perceive(double(torch.Generator()), features().double(), rows=torch.tensor([7]))
    for found in both[1]:
        assert_close(found["one row"], expected)


def started(store, delays):
    """What two processes of one start share, of which one may be late."""

    def start(number):
        time.sleep(delays[number])
        return _of_this_start(store, number, 2)

    with ThreadPoolExecutor(2) as both:
        return list(both.map(start, range(2)))


@pytest.mark.parametrize("delays", [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2)])
def test_a_restart_finds_nothing_of_processes_that_are_dead(delays):
    store = dist.HashStore()
    for address in (b"old", b"new"):
        first, second = started(store, delays)
        assert not first.check(["address"])
        second.set("address", address)
        assert first.get("address") == address
