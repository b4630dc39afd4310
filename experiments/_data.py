"""The real collections of the experiments: features, what is known of the labels, and the truth."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor

from tacit.beliefs import Candidates
from tacit.errors import InvalidInputError
from tacit.sources import Votes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = [
    "Images",
    "Part",
    "Task",
    "check_there",
    "files_of",
    "images",
    "images_file",
    "people_of",
    "task",
    "word_shares",
]

_WRENCH: Final = ("youtube", "sms")
_TABLES: Final = ("lost", "msrcv2")
_TESTED: Final = 0.2
"""Share of a table that is kept for the test; the sets of candidates come without a split."""


class Part(NamedTuple):
    """Some instances.

    Attributes:
        features: As a `tacit.fitting.Collection` takes them.
        truth: True labels, `(instances,)`; for counting alone.
        votes: What sources say of them, where there are sources.
        candidates: What they may be, where that is what is known.
    """

    features: Any
    truth: Tensor
    votes: Votes | None = None
    candidates: Candidates | None = None


class Task(NamedTuple):
    """A collection to learn from, and one to be tested on.

    Attributes:
        train: What to learn from.
        test: What to be tested on.
        n_classes: Number of classes.
    """

    train: Part
    test: Part
    n_classes: int


def files_of(name: str, data: Path) -> list[Path]:
    """The files that a task is read from."""
    if name in _WRENCH:
        return [data / "wrench" / f"{name}_{part}.jsonl.gz" for part in ("train", "test")]
    if name in _TABLES:
        return [data / "partial_label_tabular" / f"{name}.npz"]
    people = data / "cifar10_human_labels"
    return [
        images_file("cifar10", data),
        people / "cifar10n_train_human.npz",
        people / "cifar10h_test_human.npz",
    ]


def task(name: str, data: Path, *, seed: int) -> Task:
    """A task by its name.

    Args:
        name: "youtube", "sms", "lost", "msrcv2" or "cifar10n".
        data: Folder of the data.
        seed: Decides the split where the set has none of its own.
    """
    for path in files_of(name, data):
        check_there(path)
    if name in _WRENCH:
        return _from_wrench(*files_of(name, data))
    if name in _TABLES:
        return _from_table(files_of(name, data)[0], seed)
    return _with_people(data)


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Say in a sentence that a file is damaged or not of the kind that is read here."""
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error) as wrong:
        raise InvalidInputError(
            f"'{path}' cannot be read as the data of this experiment ({type(wrong).__name__}: "
            f"{wrong}); it is damaged or another file of that name: fetch it again."
        ) from wrong


@contextmanager
def archive(path: Path) -> Iterator[Any]:
    """The arrays of an `.npz` by their names, as far as they can be read."""
    with (
        understood(path),
        path.open("rb") as opened,
        np.load(opened, allow_pickle=False) as file,
    ):
        yield file


def check_there(path: Path) -> None:
    """Refuse a file that is not there."""
    if not path.is_file():
        raise InvalidInputError(
            f"'{path}' is not there; name the folder that holds the data with --data."
        )


@cache
def _from_wrench(train: Path, test: Path) -> Task:
    """Texts with the votes of labelling functions; features are words and pairs of words."""
    parts = [_rows(path) for path in (train, test)]
    features = word_shares(*([row["text"] for row in rows] for rows in parts))
    return Task(
        *(
            Part(
                features=table,
                truth=torch.tensor([row["label"] for row in rows]),
                votes=Votes.from_matrix(
                    torch.tensor([row["weak_labels"] for row in rows]), n_classes=2
                ),
            )
            for table, rows in zip(features, parts, strict=True)
        ),
        n_classes=2,
    )


def word_shares(train: Sequence[str], test: Sequence[str]) -> tuple[Any, Any]:
    """Weighted counts of words and pairs of words, as scipy sparse matrices of float32."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    counter = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    return counter.fit_transform(train), counter.transform(test)


def _rows(path: Path) -> list[dict[str, Any]]:
    import gzip
    import json

    with understood(path), gzip.open(path, "rt", encoding="utf-8") as file:
        rows = (json.loads(line) for line in file)
        return [{name: row[name] for name in ("text", "label", "weak_labels")} for row in rows]


def _from_table(path: Path, seed: int) -> Task:
    """Rows with a set of candidates each; a fifth, drawn by the seed, is kept for the test."""
    with archive(path) as file:
        x, partial, y = file["x"].astype(np.float32), file["partial"], file["y"]
    order = np.random.default_rng(seed).permutation(len(y))
    n_tested = round(_TESTED * len(y))
    test, train = order[:n_tested], order[n_tested:]
    centre, scale = x[train].mean(0), x[train].std(0)
    x = (x - centre) / np.where(scale > 0, scale, 1)
    parts = [
        Part(
            features=torch.from_numpy(x[rows]),
            truth=torch.from_numpy(y[rows].astype(np.int64)),
            candidates=Candidates.from_mask(torch.from_numpy(partial[rows].astype(bool))),
        )
        for rows in (train, test)
    ]
    return Task(*parts, n_classes=partial.shape[1])


class Images(NamedTuple):
    """Images and their true labels, for training and for the test."""

    x_train: Tensor
    y_train: Tensor
    x_test: Tensor
    y_test: Tensor


@cache
def images(name: str, data: Path) -> Images:
    """Images `(N, channel, H, W)`, each channel with mean 0 and deviation 1.

    Args:
        name: "mnist", "fashion_mnist" or "cifar10".
        data: Folder of the data.
    """
    path = images_file(name, data)
    check_there(path)
    with archive(path) as file:
        x = {part: torch.from_numpy(file[f"x_{part}"]) for part in ("train", "test")}
        y = {part: torch.from_numpy(file[f"y_{part}"].astype(np.int64)) for part in x}
    scaled = {part: _channels_first(each).float() / 255 for part, each in x.items()}
    axes = (0, 2, 3)
    centre = scaled["train"].mean(axes, keepdim=True)
    deviation = scaled["train"].std(axes, keepdim=True)
    ready = {part: (each - centre) / deviation for part, each in scaled.items()}
    return Images(ready["train"], y["train"].flatten(), ready["test"], y["test"].flatten())


def images_file(name: str, data: Path) -> Path:
    """The file that images are read from."""
    return data / name / f"{name}.npz"


def _channels_first(raw: Tensor) -> Tensor:
    """Images of three channels, or of one that has no axis of its own."""
    return raw.movedim(-1, 1).contiguous() if raw.ndim == 4 else raw.unsqueeze(1)


@cache
def _with_people(data: Path) -> Task:
    """CIFAR-10 with the votes of three people on each image that is learned from."""
    own = images("cifar10", data)
    people = data / "cifar10_human_labels"
    path = people / "cifar10n_train_human.npz"
    with archive(path) as file:
        said = np.stack([file[f"random_label{number}"] for number in (1, 2, 3)], axis=1)
    votes = Votes.from_matrix(torch.from_numpy(said.astype(np.int64)), n_classes=10)
    return Task(
        Part(own.x_train, own.y_train, votes=votes),
        Part(own.x_test, own.y_test),
        n_classes=10,
    )


def people_of(data: Path) -> Tensor:
    """How some fifty people each name the test images of CIFAR-10, as shares, `(N, class)`."""
    path = data / "cifar10_human_labels" / "cifar10h_test_human.npz"
    with archive(path) as file:
        counts = torch.from_numpy(file["counts"].astype(np.float64))
    return counts / counts.sum(1, keepdim=True)
