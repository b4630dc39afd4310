"""Time and memory of every objective, as ratios to torch's soft-target cross-entropy.

Forward and backward on one batch, all contenders in turn within one run, medians over rounds. On a
GPU "ms" is the time of a captured CUDA graph, what the GPU itself takes, and "eager_ms" that of a
call from Python, which on small batches is the time to launch kernels. Peak extra memory is what a
step takes beyond logits and beliefs, the gradient included.

    python benchmarks/objectives.py --device cuda --out benchmarks/results/objectives-cuda.json

The last line printed is one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from record import circumstances, write
from torch import Tensor
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

from tacit import objectives

SHAPES = [(128, 5, 128, 128), (4096, 10), (65536, 1000)]
TIME_TARGET = {"cuda": 2.0, "cpu": 3.5}
MEMORY_TARGET = 2.0
AIMED_AT = ("RQ", "QR", "FreeEnergy", "EM")
OWN = (*AIMED_AT, "Clustering", "SoftCrossEntropy", "HardCrossEntropy", "SquaredError", "UnionNLL")

Step = Callable[[Tensor, Tensor], Tensor]


def direct_formula(logits: Tensor, belief: Tensor) -> Tensor:
    """RQ as one would first write it: softmax, two normalisations, a sum; autograd."""
    q = logits.softmax(1)
    mean = q.mean([axis for axis in range(q.ndim) if axis != 1], keepdim=True)
    joint = belief * q / mean
    r = joint / joint.sum(1, keepdim=True)
    gap = (r + 1e-30).log() - (q + 1e-30).log()
    return torch.einsum("nc...,nc...->n...", r, gap).mean()


def contenders(*, validate: bool) -> dict[str, Step]:
    """The soft cross-entropy first, then everything compared with it."""
    steps: dict[str, Step] = {"torch soft cross-entropy": functional.cross_entropy}
    for name in OWN:
        objective = getattr(objectives, name)(validate=validate)
        steps[name] = without_belief(objective) if name == "Clustering" else objective
    steps["RQ, direct formula"] = direct_formula
    return steps


def without_belief(objective: Step) -> Step:
    """A step for an objective that takes logits alone."""

    def step(logits: Tensor, _: Tensor) -> Tensor:
        return objective(logits)

    return step


def inputs(shape: tuple[int, ...], device: str, seed: int) -> tuple[Tensor, Tensor]:
    """Random logits and beliefs."""
    generator = torch.Generator(device).manual_seed(seed)
    logits = torch.randn(shape, device=device, generator=generator)
    belief = torch.rand(shape, device=device, generator=generator)
    return logits.requires_grad_(), belief / belief.sum(1, keepdim=True)


def seconds(step: Step, logits: Tensor, belief: Tensor) -> float:
    """Time of one forward and backward pass, from the call to the gradient."""
    logits.grad = None
    if logits.device.type == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    step(logits, belief).backward()
    if logits.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def captured(step: Step, logits: Tensor, belief: Tensor) -> torch.cuda.CUDAGraph:
    """One pass as a CUDA graph, whose replay costs the GPU's time alone."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            torch.autograd.grad(step(logits, belief), logits)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.autograd.grad(step(logits, belief), logits)
    return graph


def gpu_seconds(graphs: list[torch.cuda.CUDAGraph], rounds: int) -> float:
    """Median time of a replay, over several batches so that no cache holds them all."""
    times = []
    for number in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graphs[number % len(graphs)].replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def extra_bytes(step: Step, logits: Tensor, belief: Tensor) -> int:
    """Peak memory of one pass beyond what was there before it."""
    logits.grad = None
    gc.collect()
    if logits.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step(logits, belief).backward()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        step(logits, belief).backward()
    return _highest(recorded)


def _highest(recorded: profile) -> int:
    """Highest sum of what tensors took and gave back, to the byte, whatever the system keeps."""
    events = [e for e in recorded.profiler.kineto_results.events() if e.name() == "[memory]"]
    changes = [event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())]
    return max(accumulate(changes))


def measure(shape: tuple[int, ...], device: str, rounds: int, *, validate: bool) -> dict[str, Any]:
    """All contenders on one shape, in turn, so that a noisy minute hits all alike."""
    size = 4 * torch.Size(shape).numel()
    copies = max(2, min(8, 2**28 // size)) if device == "cuda" else 1
    batches = [inputs(shape, device, seed) for seed in range(copies)]
    steps = contenders(validate=validate)
    memory = {}
    for name, step in steps.items():
        for batch in batches[:2]:
            seconds(step, *batch)
        memory[name] = extra_bytes(step, *batches[0])
    times: dict[str, list[float]] = {name: [] for name in steps}
    for round_number in range(rounds):
        for name, step in steps.items():
            times[name].append(seconds(step, *batches[round_number % copies]))
    medians = {name: statistics.median(values) for name, values in times.items()}
    rows = {name: {"memory": _ratio(memory[name], size)} for name in steps}
    if device == "cuda":
        _add_times(rows, medians, "eager_ms", "eager_ratio")
        medians = {
            name: gpu_seconds([captured(step, *batch) for batch in batches[:4]], rounds)
            for name, step in steps.items()
        }
    _add_times(rows, medians, "ms", "ratio")
    return rows


def _add_times(
    rows: dict[str, dict[str, Any]], seconds_of: dict[str, float], key: str, ratio_key: str
) -> None:
    reference = seconds_of["torch soft cross-entropy"]
    for name, row in rows.items():
        row[key] = round(1e3 * seconds_of[name], 4)
        row[ratio_key] = _ratio(seconds_of[name], reference)


def _ratio(value: float, reference: float) -> float:
    return round(value / reference, 3)


def report(result: dict[str, Any], device: str) -> list[str]:
    """Targets that were missed; the table goes to the error stream."""
    missed = []
    for shape, rows in result.items():
        print(f"\n{shape} on {device}", file=sys.stderr)
        for name, row in rows.items():
            shown = f"{row['ms']:10.3f} ms {row['ratio']:6.2f}x"
            if "eager_ms" in row:
                shown += f" (eager {row['eager_ms']:7.3f} ms {row['eager_ratio']:5.2f}x)"
            print(f"  {name:26s} {shown} {row['memory']:5.2f}x", file=sys.stderr)
            if name in AIMED_AT and row["ratio"] > TIME_TARGET[device]:
                missed.append(f"{name} {shape}: {row['ratio']}x the time")
            if name in AIMED_AT and row["memory"] > MEMORY_TARGET:
                missed.append(f"{name} {shape}: {row['memory']}x the memory")
    return missed


def main() -> None:
    """Parse, measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rounds", type=int, default=0, help="0: 100 on a GPU, 9 on a CPU")
    parser.add_argument(
        "--validate", action="store_true", help="let objectives look at their value"
    )
    parser.add_argument("--small", action="store_true", help="leave out the largest batch")
    parser.add_argument("--out", type=Path, help="file to keep the result in")
    options = parser.parse_args()
    rounds = options.rounds or (100 if options.device == "cuda" else 9)
    shapes = SHAPES[:2] if options.small else SHAPES
    measured = {
        str(shape): measure(shape, options.device, rounds, validate=options.validate)
        for shape in shapes
    }
    missed = report(measured, options.device)
    result = {
        **circumstances(options.device),
        "rounds": rounds,
        "validate": options.validate,
        "time_target": TIME_TARGET[options.device],
        "memory_target": MEMORY_TARGET,
        "missed": missed,
        "shapes": measured,
    }
    write(result, options.out)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
