"""The main job in small: handwritten digits, each known only as one of five candidate labels.

Run it with `make demo` or `python -m tacit demo`. It is also the example of a torch loop of one's
own: `fit` holds all that tacit adds to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from tacit.beliefs import Candidates
from tacit.errors import MissingExtraError
from tacit.evidence import class_mass, evidence
from tacit.objectives import RQ

if TYPE_CHECKING:
    from tacit.objectives import Objective

__all__ = ["Digits", "Resolved", "accuracy", "fit", "load", "main", "perceive", "resolve"]

N_CLASSES = 10
N_CANDIDATES = 5
HELD_OUT = 359
"""A fifth of the 1,797 digits: nothing is known or learned of them."""
EPOCHS, BATCH, STEP = 30, 128, 3e-3
_SHADES = " ░▒▓█"


class Digits(NamedTuple):
    """Digits, what is known of them, and what only the final count may look at.

    Attributes:
        images: Ink of each pixel between 0 and 1, `(instances, 1, 8, 8)`.
        belief: Five candidate labels for each digit.
        truth: The label, `(instances,)`.
    """

    images: Tensor
    belief: Candidates
    truth: Tensor


class Resolved(NamedTuple):
    """What came out.

    Attributes:
        posterior: r on the collection, `(instances, class)`.
        prediction: q on the collection, `(instances, class)`.
        held_out: q on the digits that were held out, `(instances, class)`.
    """

    posterior: Tensor
    prediction: Tensor
    held_out: Tensor


def main() -> None:
    """Resolve the digits, and show it."""
    torch.set_num_threads(1)  # the network is so small that threads cost more than they bring
    collection, held_out = load(seed=0)
    n, n_all = len(collection.truth), len(collection.truth) + len(held_out.truth)
    print(f"{n:,} of scikit-learn's {n_all:,} handwritten digits, each known only as one of")
    print("five labels: its own, and four others drawn at random.\n")
    resolved = resolve(collection, held_out, RQ(), seed=0, talk=True)
    print(f"\n{_picture(collection, resolved.posterior)}\n")
    print(_table(collection, held_out, resolved))
    print("\nNo label was told: a small network and the candidates taught each other. Digits that")
    print("look alike should be called alike, and as a rule only their true labels let them.")


def load(seed: int) -> tuple[Digits, Digits]:
    """The collection and the digits that are held out, with candidates drawn at random.

    Args:
        seed: Seed of the draw and of the split.

    Raises:
        MissingExtraError: If scikit-learn, which ships the digits, is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtraError(
            "the demo takes its digits from scikit-learn, which is not installed; "
            'install it with: pip install "tacit-learn[demo]"'
        ) from error
    generator = torch.Generator().manual_seed(seed)
    data = load_digits()
    images = torch.as_tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    truth = torch.as_tensor(data.target).long()
    lot = torch.rand(len(truth), N_CLASSES, generator=generator)
    lot.scatter_(1, truth.unsqueeze(1), 2.0)  # the true label is always among the candidates
    belief = Candidates(lot.topk(N_CANDIDATES, 1).indices, n_classes=N_CLASSES)
    order = torch.randperm(len(truth), generator=generator)
    collection, held_out = (
        Digits(images[rows], belief[rows], truth[rows])
        for rows in (order[HELD_OUT:], order[:HELD_OUT])
    )
    return collection, held_out


def resolve(
    collection: Digits, held_out: Digits, objective: Objective, *, seed: int, talk: bool = False
) -> Resolved:
    """Learn from the beliefs of the collection; its truth plays no part.

    Args:
        collection: The digits to resolve.
        held_out: Digits to predict afterwards.
        objective: What the network minimises.
        seed: Seed of the network's first weights and of the order of the digits.
        talk: Whether to print how it goes.
    """
    network = _network(seed)
    fit(network, objective, collection.images, collection.belief, seed=seed, talk=talk)
    log_prediction = perceive(network, collection.images)
    log_mass = class_mass(log_prediction).log()
    posterior = collection.belief.posterior(evidence(log_prediction, log_mass=log_mass))
    return Resolved(
        posterior.log_marginals.exp(),
        log_prediction.exp(),
        perceive(network, held_out.images).exp(),
    )


def fit(
    network: nn.Module,
    objective: Objective,
    images: Tensor,
    belief: Candidates,
    *,
    seed: int,
    talk: bool = False,
) -> None:
    """A torch loop like any other, with a belief where the labels would be."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=STEP)
    for epoch in range(1, EPOCHS + 1):
        total = 0.0
        for rows in torch.randperm(len(images), generator=generator).split(BATCH):
            loss = objective(network(images[rows]), belief[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        if talk and (epoch == 1 or epoch % 10 == 0):
            print(f"  epoch {epoch:2} of {EPOCHS}   loss {total / len(images):.3f}")


@torch.no_grad()
def perceive(network: nn.Module, images: Tensor) -> Tensor:
    """Log of the prediction q."""
    log_prediction: Tensor = network(images).log_softmax(1)
    return log_prediction


def _network(seed: int) -> nn.Module:
    """Two convolutions and a linear map; the caller's random state stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(
            *(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(64 * 2 * 2, N_CLASSES)),
        )


def _table(collection: Digits, held_out: Digits, resolved: Resolved) -> str:
    rows = {
        "belief: any one of the candidates": 1 / N_CANDIDATES,
        "prediction q, the collection": accuracy(resolved.prediction, collection.truth),
        "posterior r, the collection": accuracy(resolved.posterior, collection.truth),
        "prediction q, digits held out": accuracy(resolved.held_out, held_out.truth),
    }
    lines = [f"  {name:36}{share:7.1%}" for name, share in rows.items()]
    return "\n".join([f"  {'':36}  right", f"  {'-' * 43}", *lines])


def accuracy(probabilities: Tensor, truth: Tensor) -> float:
    """Share of the instances whose likeliest class is the true one."""
    return (probabilities.argmax(1) == truth).double().mean().item()


def _picture(collection: Digits, posterior: Tensor) -> str:
    """Three digits and the one that is least sure, as blocks, side by side."""
    sure, label = posterior.max(1)
    shown = [0, 1, 2, int(sure.argmin())]
    candidates = collection.belief[shown].labels()
    columns = [
        [
            *_blocks(collection.images[row, 0]),
            "",
            "one of " + " ".join(map(str, names)),
            f"-> {label[row]}   with {sure[row]:.3f}",
        ]
        for row, names in zip(shown, candidates, strict=True)
    ]
    lines = zip(*columns, strict=True)
    return "\n".join("  ".join(f"{part:16}" for part in line).rstrip() for line in lines)


def _blocks(image: Tensor) -> list[str]:
    """Each row of an image as text, two characters to a pixel, which makes it about square."""
    shade = (image * len(_SHADES)).long().clamp(max=len(_SHADES) - 1)
    return ["".join(2 * _SHADES[pixel] for pixel in row) for row in shade.tolist()]
