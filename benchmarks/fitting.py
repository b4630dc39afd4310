"""Time of an epoch and memory of the engine, beside the loop that one would first write.

All contenders train the same network on the same rows with the same objective, RQ, in batches of
256 rows with five candidates of ten classes each, in turn within one run, medians over rounds:

* the straightforward loop: a DataLoader over tensors, each batch moved to the device, the loss read
  after each step; several runs one after another;
* the lean loop: tensors on the device, rows drawn there, nothing read, a fused optimizer; the same;
* tacit's engine as it comes, and with other options.

Where an epoch has more steps than are measured, its time is that of those steps, scaled; of several
runs one after another one is measured and counted as often as there are runs. The result says so.
"start" is what passes until the first step is made: beliefs made dense or moved, rows drawn.

Memory is what a fit takes at the most beyond features and packed beliefs in the host's memory: on a
GPU all of the device's, on a CPU the growth of a process of its own. A CPU is used by one thread,
and its own time is taken, which other programs do not lengthen.

    python benchmarks/fitting.py --device cuda --out benchmarks/results/fitting-cuda.json

The last line printed is one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import multiprocessing
import statistics
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from record import circumstances, memory_of, write
from torch.utils.data import DataLoader, TensorDataset

from tacit.beliefs import Candidates
from tacit.fitting import Collection, Execution, Plan, Settings, fit
from tacit.objectives import RQ
from tacit.predictors import Perceptron, PooledCNN, SmallCNN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

    from torch import nn

    from tacit.fitting import Progress

    Contender: TypeAlias = "Callable[[Case, Collection, Clock, str], None]"

BATCH, CLASSES, CANDIDATES, RATE = 256, 10, 5, 2e-3
SHAPES = {"perceptron": (64,), "pooled CNN": (1, 8, 8), "small CNN": (1, 28, 28)}
ROWS = tuple(1024 * 10**power for power in range(5))
"""1k to 10M, in whole batches."""
RUNS = (4, 16, 64)
STEPS = {"cuda": 200, "cpu": 100}
FEWEST_STEPS = 40
"""Steps measured of networks that take their time: images, and many at once."""
WARM = 8
"""Steps before the clock runs: libraries set themselves up, and CUDA graphs are captured."""
REFERENCE = "straightforward loop"


@dataclass(frozen=True)
class Case:
    """What is trained on what.

    Attributes:
        network: Its name.
        rows: Number of instances.
        runs: Number of networks.
        most: Steps to measure at the most.
    """

    network: str
    rows: int
    runs: int
    most: int

    @property
    def per_epoch(self) -> int:
        """Steps of an epoch."""
        return self.rows // BATCH

    @property
    def steps(self) -> int:
        """Steps that are measured: of whole epochs, or of a part of one."""
        if self.per_epoch > self.most:
            return self.most
        return self.most // self.per_epoch * self.per_epoch

    def build(self, generator: torch.Generator) -> nn.Module:
        """The network."""
        shape = SHAPES[self.network]
        if self.network == "perceptron":
            return Perceptron(shape[0], CLASSES, generator=generator)
        kind = PooledCNN if self.network == "pooled CNN" else SmallCNN
        return kind(shape[0], (shape[1], shape[2]), CLASSES, generator=generator)


def cases(
    networks: Sequence[str], rows: Sequence[int], runs: Sequence[int], steps: int
) -> list[Case]:
    """Many rows, many networks at once, and images."""
    few, fewer = min(10 * rows[0], rows[-1]), min(steps, FEWEST_STEPS)
    found = [
        *(Case("perceptron", each, 1, steps) for each in rows),
        *(Case("perceptron", few, each, fewer) for each in runs),
        *(Case("pooled CNN", few, each, fewer) for each in (1, runs[0])),
        Case("small CNN", few, 1, fewer),
    ]
    return [case for case in found if case.network in networks]


class EnoughError(Exception):
    """All steps that are measured are made."""


class Clock:
    """Time of the steps of a fit, told by the fit itself after each.

    Args:
        steps: How many are measured, after the first few. As many as whole epochs have include as
            many ends of epochs, wherever they begin.
        device: Waited for when the clock is read.

    Attributes:
        start: Seconds until the first step was made.
        seconds: Of the steps that are measured.
        memory: The most that was taken of a GPU, in bytes.
    """

    def __init__(self, steps: int, device: str) -> None:
        self._last, self._device, self._made = WARM + steps, device, 0
        self._called = self._began = self._now()
        self.start = self.seconds = 0.0
        self.memory = 0

    def step(self) -> None:
        """A step is made.

        Raises:
            EnoughError: If it was the last.
        """
        self._made += 1
        if self._made == 1:
            self.start = self._now() - self._called
        if self._made == WARM:
            self._began = self._now()
        if self._made == self._last:
            self.seconds = self._now() - self._began
            raise EnoughError

    def _now(self) -> float:
        if self._device == "cpu":
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()


def straightforward(case: Case, given: Collection, clock: Clock, device: str) -> None:
    """The loop that one would first write, for one network."""
    data = TensorDataset(given.features, given.belief.marginals())
    order = torch.Generator().manual_seed(0)
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, generator=order)
    network, objective = case.build(torch.Generator().manual_seed(0)).to(device), RQ(validate=False)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    total = 0.0
    while True:
        for features, belief in loader:
            loss = objective(network(features.to(device)), belief.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            clock.step()


def lean(case: Case, given: Collection, clock: Clock, device: str) -> None:
    """The loop of one who knows what takes time, for one network."""
    features, beliefs = given.features.to(device), given.belief.marginals().to(device)
    network, objective = case.build(torch.Generator().manual_seed(0)).to(device), RQ(validate=False)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, fused=True)
    total = torch.zeros((), device=device)
    while True:
        order = torch.randperm(case.rows, device=device)
        for rows in order.split(BATCH):
            loss = objective(network(features.index_select(0, rows)), beliefs.index_select(0, rows))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
            clock.step()


def engine(**options: Any) -> Contender:
    """Tacit's engine, all networks at once."""

    def contender(case: Case, given: Collection, clock: Clock, device: str) -> None:
        plans = [
            Plan(
                predictor=case.build,
                objective=RQ(validate=False),
                settings=Settings(
                    epochs=1_000_000,
                    batch_size=BATCH,
                    learning_rate=RATE,
                    schedule="constant",
                    held_out=0.0,
                    patience=0,
                    seed=seed,
                ),
            )
            for seed in range(case.runs)
        ]

        def watch(progress: Progress) -> None:
            if progress.record is None:
                clock.step()

        fit(plans, given, execution=Execution(device=device, **options), watch=watch)

    return contender


def contenders(case: Case, device: str) -> dict[str, Contender]:
    """The straightforward loop first, then those compared with it."""
    found = {REFERENCE: straightforward, "lean loop": lean, "engine": engine()}
    if case.runs > 1:
        found["engine, in turn"] = engine(together="no")
    if device == "cuda":
        found["engine, no CUDA graph"] = engine(cuda_graph="no")
    if device == "cuda" and case.network != "perceptron":
        found["engine, bfloat16"] = engine(autocast=True, channels_last=True)
    return found


def collection(case: Case, device: str) -> Collection:
    """Rows around the centres of classes, in the host's memory, with candidates as bits."""
    random, shape = torch.Generator(device).manual_seed(0), SHAPES[case.network]
    label = torch.randint(CLASSES, (case.rows,), generator=random, device=device)
    features = torch.empty(case.rows, *shape)
    centres = torch.randn(CLASSES, *shape, generator=random, device=device)
    parts = []
    for own, part in zip(label.split(1 << 17), features.split(1 << 17), strict=True):
        noise = torch.randn(part.shape, generator=random, device=device)
        part.copy_(centres[own] + noise)
        order = torch.rand(len(own), CLASSES, generator=random, device=device)
        order.scatter_(1, own.unsqueeze(1), -1.0)
        mask = torch.zeros(len(own), CLASSES, dtype=torch.bool, device=device)
        mask.scatter_(1, order.topk(CANDIDATES, largest=False).indices, True)
        parts.append(Candidates.from_mask(mask.cpu()))
    return Collection(features, Candidates.joined(parts))


def timed(contender: Contender, case: Case, given: Collection, device: str) -> Clock:
    """Let a contender make its steps."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    clock = Clock(case.steps, device)
    with suppress(EnoughError):
        contender(case, given, clock, device)
    clock.memory = torch.cuda.max_memory_allocated() - before
    return clock


def warm_up(case: Case) -> None:
    """Let libraries set themselves up on the GPU, which takes memory that no contender owes."""
    small = replace(case, rows=BATCH, most=1)
    for contender in contenders(small, "cuda").values():
        timed(contender, small, collection(small, "cuda"), "cuda")


def growth(contender: Contender, case: Case, given: Collection) -> int:
    """Growth of a process of its own by the first steps of a fit on the CPU."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_grow, args=(contender, case, given, sending))
    child.start()
    sending.close()
    grown: int = receiving.recv()
    child.join()
    return grown


def _grow(contender: Contender, case: Case, given: Collection, sending: Connection) -> None:
    small = replace(case, rows=BATCH, most=1)
    timed(contender, small, collection(small, "cpu"), "cpu")  # libraries set themselves up
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory_of()["VmRSS"]
    timed(contender, replace(case, most=1), given, "cpu")
    sending.send(memory_of()["VmHWM"] - before)


def growths(case: Case) -> dict[str, int]:
    """Growth by each contender; to be asked for before this process trains anything itself."""
    given = collection(case, "cpu")
    return {name: growth(each, case, given) for name, each in contenders(case, "cpu").items()}


def measure(case: Case, device: str, rounds: int) -> dict[str, Any]:
    """All contenders on one case, in turn, so that a noisy minute hits all alike."""
    given, found = collection(case, device), contenders(case, device)
    clocks: dict[str, list[Clock]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, contender in found.items():
            clocks[name].append(timed(contender, case, given, device))
    times = {name: _epoch(name, case, clocks[name]) for name in found}
    return {
        "network": case.network,
        "rows": case.rows,
        "runs": case.runs,
        "steps_per_epoch": case.per_epoch,
        "steps_measured": case.steps,
        "contenders": {
            name: {
                "epoch_ms": round(1e3 * times[name], 3),
                "ratio": round(times[name] / times[REFERENCE], 4),
                "start_ms": round(1e3 * statistics.median(c.start for c in clocks[name]), 1),
                "memory_mib": _mebibytes(max(clock.memory for clock in clocks[name])),
                "counted_times": _times(name, case),
            }
            for name in found
        },
    }


def _mebibytes(n_bytes: int) -> float:
    return round(n_bytes / 2**20, 1)


def _epoch(name: str, case: Case, clocks: list[Clock]) -> float:
    """Seconds of an epoch of all networks."""
    seconds = statistics.median(clock.seconds for clock in clocks)
    return seconds * case.per_epoch / case.steps * _times(name, case)


def _times(name: str, case: Case) -> int:
    """How often the one network of a loop counts."""
    return 1 if name.startswith("engine") else case.runs


def report(measured: list[dict[str, Any]], device: str) -> list[str]:
    """Cases where the engine as it comes is slower; the table goes to the error stream."""
    slower = []
    for case in measured:
        what = f"{case['network']}, {case['rows']:,} rows, {case['runs']} at once"
        print(f"\n{what}, on {device}", file=sys.stderr)
        for name, row in case["contenders"].items():
            print(
                f"  {name:30s} {row['epoch_ms']:12.2f} ms {row['ratio']:7.3f}x  start "
                f"{row['start_ms']:9.1f} ms  {row['memory_mib']:9.1f} MiB",
                file=sys.stderr,
            )
        if case["contenders"]["engine"]["ratio"] > 1:
            slower.append(what)
    return slower


def main() -> None:
    """Parse, measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help=f"multiples of {BATCH}")
    parser.add_argument("--runs", type=int, nargs="+", default=RUNS, help="networks at once")
    parser.add_argument("--networks", nargs="+", choices=SHAPES, default=[*SHAPES])
    parser.add_argument("--steps", type=int, default=0, help="0: 200 on a GPU, 100 on a CPU")
    parser.add_argument("--out", type=Path, help="file to keep the result in")
    options = parser.parse_args()
    begin = time.perf_counter()
    importlib.import_module("torch._dynamo")  # optimizers would, within the first step of each
    steps = options.steps or STEPS[options.device]
    asked = cases(options.networks, options.rows, options.runs, steps)
    on_cpu = options.device == "cpu"
    if on_cpu:
        torch.set_num_threads(1)
    else:
        warm_up(asked[0])
    grown = [growths(case) for case in asked] if on_cpu else []
    measured = [measure(case, options.device, options.rounds) for case in asked]
    for case, own in zip(measured, grown, strict=False):
        for name, n_bytes in own.items():
            case["contenders"][name]["memory_mib"] = _mebibytes(n_bytes)
    result = {
        **circumstances(options.device),
        "rounds": options.rounds,
        "batch": BATCH,
        "slower": report(measured, options.device),
        "seconds": round(time.perf_counter() - begin, 1),
        "cases": measured,
    }
    write(result, options.out)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
