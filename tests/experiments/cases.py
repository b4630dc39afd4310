"""Miniature data of each kind that the experiments read, drawn by a seed."""

import gzip
import json

import numpy as np


def crowd(data, name="bluebirds", n=60, n_workers=7, seed=0):
    """Two classes, three votes on each item; most workers are good, and some guess."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    item = np.repeat(np.arange(n), 3)
    worker = np.concatenate([rng.permutation(n_workers)[:3] for _ in range(n)])
    right = rng.random(3 * n) < np.where(worker < 4, 0.95, 0.5)
    label = np.where(right, truth[item], 1 - truth[item])
    crowd = {"item": item, "worker": worker, "label": label, "truth": truth}
    save(data / "crowd" / f"{name}.npz", classes=np.array(["no", "yes"]), **crowd)
    return crowd


def save(path, **arrays):
    """An archive of arrays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


WORDS = (("song", "love", "voice", "great"), ("click", "free", "money", "subscribe"))


def wrench(data, name="youtube", n=(60, 30), seed=0):
    """Texts of two classes, and what four functions say of them; the last text has no votes."""
    rng = np.random.default_rng(seed)
    (data / "wrench").mkdir(parents=True, exist_ok=True)
    for part, size in zip(("train", "test"), n, strict=True):
        with gzip.open(data / "wrench" / f"{name}_{part}.jsonl.gz", "wt") as file:
            for number in range(size):
                label = int(rng.integers(2))
                words = [*rng.choice(WORDS[label], 4), rng.choice(WORDS[1 - label])]
                votes = np.where(rng.random(4) < 0.85, label, 1 - label)
                votes = np.where(rng.random(4) < 0.3, -1, votes) if number + 1 < size else [-1] * 4
                row = {"text": " ".join(words), "label": label, "weak_labels": [*map(int, votes)]}
                file.write(json.dumps(row) + "\n")


def table(data, name="lost", n=50, n_features=6, n_classes=4, seed=0):
    """Rows around a corner of their class, with the label and another candidate."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    x = 10 + 5 * (2 * np.eye(n_classes, n_features)[y] + rng.normal(size=(n, n_features)))
    x[:, -1] = 7.0  # says nothing
    partial = np.eye(n_classes, dtype=bool)[y]
    partial[np.arange(n), rng.integers(0, n_classes, n)] = True
    save(data / "partial_label_tabular" / f"{name}.npz", x=x, partial=partial, y=y)
    return x, partial, y


def images(data, n=(60, 40), seed=0):
    """Noise whose first channel is brighter the higher the class, and people who name it."""
    rng = np.random.default_rng(seed)
    y = {part: np.arange(size) % 10 for part, size in zip(("train", "test"), n, strict=True)}
    x = {part: rng.integers(0, 100, (len(y[part]), 32, 32, 3), dtype=np.uint8) for part in y}
    for part in y:
        x[part][..., 0] += (15 * y[part])[:, None, None].astype(np.uint8)
    save(
        data / "cifar10" / "cifar10.npz",
        **{f"x_{part}": x[part] for part in x},
        **{f"y_{part}": y[part] for part in y},
    )
    said = {
        f"random_label{number}": np.where(
            rng.random(n[0]) < 0.8, y["train"], rng.integers(0, 10, n[0])
        )
        for number in (1, 2, 3)
    }
    people = data / "cifar10_human_labels"
    save(people / "cifar10n_train_human.npz", **said)
    counts = 1 + 40 * np.eye(10, dtype=int)[y["test"]]
    save(people / "cifar10h_test_human.npz", counts=counts)
    return x, y, said
