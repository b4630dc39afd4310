"""The digits of the demo under several objectives: what the picture in the README shows.

    python -m experiments.digits --out experiments/results/digits.json

Five draws of candidates; accuracy of the posterior r, of the prediction q, and of q on digits that
were held out. Draw 0 under RQ is the demo. The last line printed is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks.record import circumstances, write
from tacit import demo
from tacit.evidence import TrackedMass
from tacit.objectives import EM, RQ, SoftCrossEntropy, UnionNLL

OBJECTIVES = {
    "RQ": RQ,
    "EM": EM,
    "union NLL": UnionNLL,
    "soft cross-entropy": SoftCrossEntropy,
    "RQ, tracked mass": lambda: RQ(TrackedMass()),
    "EM, tracked mass": lambda: EM(TrackedMass()),
}
DRAWS = range(5)
SHOWN = 4


def figures(draw: int) -> tuple[dict[str, dict[str, float]], list[dict[str, Any]]]:
    """Accuracies of every objective on one draw, and the first digits as RQ resolved them."""
    collection, held_out = demo.load(draw)
    found, shown = {}, []
    for name, objective in OBJECTIVES.items():
        resolved = demo.resolve(collection, held_out, objective(), seed=draw)
        found[name] = {
            "r": demo.accuracy(resolved.posterior, collection.truth),
            "q": demo.accuracy(resolved.prediction, collection.truth),
            "q, held out": demo.accuracy(resolved.held_out, held_out.truth),
        }
        if name == "RQ":
            shown = [digit(collection, resolved, row) for row in range(SHOWN)]
        print(draw, name, found[name], file=sys.stderr)
    return found, shown


def digit(collection: demo.Digits, resolved: demo.Resolved, row: int) -> dict[str, Any]:
    """All that the picture shows of a digit."""
    probability, label = resolved.posterior[row].max(0)
    return {
        "ink": (16 * collection.images[row, 0]).int().tolist(),
        "candidates": collection.belief[row : row + 1].labels()[0],
        "resolved": int(label),
        "probability": round(float(probability), 4),
        "truth": int(collection.truth[row]),
    }


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="file to keep the result in")
    options = parser.parse_args()
    torch.set_num_threads(1)
    draws = [figures(draw) for draw in DRAWS]
    accuracy = {
        name: {
            what: [round(found[name][what], 4) for found, _ in draws]
            for what in ("r", "q", "q, held out")
        }
        for name in OBJECTIVES
    }
    result = {
        **circumstances("cpu"),
        "draws": list(DRAWS),
        "chance": 1 / demo.N_CANDIDATES,
        "accuracy": accuracy,
        "mean": {
            name: {what: round(statistics.mean(values), 4) for what, values in row.items()}
            for name, row in accuracy.items()
        },
        "digits": draws[0][1],
    }
    write(result, options.out)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
