"""The main job in small: handwritten digits whose labels nobody tells.

`tacit demo` writes what is known of scikit-learn's digits to files, resolves them as `tacit
resolve` resolves any files, and counts: once each digit is known only as one of five candidates,
once only one wrong label is known of each.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import load_digits

from tacit._files import write_atomically
from tacit.errors import refuse
from tacit.estimator import BeliefClassifier
from tacit.report import write_report
from tacit.table import Recipe, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from tacit.fitting import Progress

__all__ = ["TASKS", "Digits", "Task", "digits", "draw", "run"]

N_CLASSES: Final = 10
_SHADES: Final = " ░▒▓█"


class Digits(NamedTuple):
    """The digits, and what only the final count may look at.

    Attributes:
        images: Ink of each pixel between 0 and 1, `(instances, 1, 8, 8)`.
        truth: The label, `(instances,)`.
    """

    images: NDArray[np.float32]
    truth: NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """One way of not quite knowing a label.

    Attributes:
        name: Of its folder.
        column: What the file of beliefs lists: "candidates" or "excluded".
        n_labels: Number of labels that are listed for each digit.
        words: For the heading.
    """

    name: str
    column: str
    n_labels: int
    words: str

    @property
    def chance(self) -> float:
        """How often any label that is allowed would be right."""
        allowed = self.n_labels if self.column == "candidates" else N_CLASSES - self.n_labels
        return 1 / allowed


TASKS: Final = (
    Task("five-candidates", "candidates", 5, "its own label and four others drawn at random"),
    Task("one-wrong-label", "excluded", 1, "one label that it has not, drawn at random"),
)


def digits() -> Digits:
    """Scikit-learn's 1,797 digits."""
    data = load_digits()
    images = (np.asarray(data.images)[:, np.newaxis] / 16).astype(np.float32)
    return Digits(images, np.asarray(data.target, np.int64))


def draw(truth: NDArray[np.int64], task: Task, seed: int) -> NDArray[np.int64]:
    """The labels that a task lists for each digit, `(instances, n_labels)`, in ascending order.

    Candidates hold the true label, excluded labels do not; which others, chance decides.

    Args:
        truth: The true labels.
        task: What is listed.
        seed: Seed of the draw.

    Example:
        >>> truth = np.array([3, 0])
        >>> bool((draw(truth, TASKS[0], seed=0) == truth[:, None]).sum() == 2)
        True
        >>> bool((draw(truth, TASKS[1], seed=0) == truth[:, None]).any())
        False
    """
    lot = np.random.default_rng(seed).random((len(truth), N_CLASSES))
    lot[np.arange(len(truth)), truth] = 2.0 if task.column == "candidates" else -1.0
    listed: NDArray[np.int64] = np.sort(np.argsort(-lot, axis=1)[:, : task.n_labels], axis=1)
    return listed


def run(
    out: Path,
    *,
    seed: int = 0,
    learning: Mapping[str, Any] | None = None,
    tell: Callable[[str], object] = str,
    bar: Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]] | None = None,
) -> dict[str, Any]:
    """Write the files, resolve them, count.

    Args:
        out: A new folder: for each task one with the beliefs and the run.
        seed: Seed of the draws and the networks.
        learning: Settings of the estimator, instead of its defaults.
        tell: Told a line at a time how it goes.
        bar: Opens a progress bar.

    Returns:
        For each task the shares of right labels by any allowed label, by q and by r.
    """
    started = time.monotonic()
    BeliefClassifier(**(learning or {}), random_state=seed).check()
    _make(out)
    data = digits()
    images = out / "digits.npy"
    write_atomically(images, lambda file: np.save(file, data.images))
    tell(f"{len(data.truth):,} handwritten digits of 8 x 8 pixels, {images}")
    found = {}
    for task in TASKS:
        beliefs = out / f"{task.name}.parquet"
        _write_beliefs(beliefs, task, draw(data.truth, task, seed))
        tell(f"\n{task.name.replace('-', ' ').capitalize()}: of each digit is known {task.words}.")
        recipe = Recipe(
            data=str(images),
            beliefs=str(beliefs),
            classes=tuple(map(str, range(N_CLASSES))),
            seed=seed,
            learning=learning or {},
        )
        opened = nullcontext(None) if bar is None else bar(task.name)
        with opened as watch:
            summary = resolve(recipe, out / task.name, watch=watch)
        assert summary is not None
        found[task.name] = asdict(task) | _count(out / task.name, data.truth, task)
        tell(_shown(out / task.name, data, task, seed) + f"\n  resolved in {summary.seconds:.0f} s")
        tell(f"  to look at: {write_report(out / task.name)}")
    tell(f"\n{_table(found)}")
    tell(f"\nNo label was told: {_MORAL}\n\n{_next(out)}")
    return {"out": str(out), "seconds": round(time.monotonic() - started, 1), "tasks": found}


_MORAL: Final = (
    "networks and beliefs taught each other. Digits that look alike\n"
    "should be called alike, and as a rule only their true labels let them."
)


def _make(out: Path) -> None:
    """Make the folder; one that holds something is refused."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        taken = any(out.iterdir())
    except OSError as error:
        raise refuse(
            "--out",
            "be a new folder",
            f"'{out}' cannot be made ({error.strerror})",
            "name another one",
        ) from error
    if taken:
        raise refuse("--out", "be a new folder", f"'{out}' is not empty", "name another one")


def _write_beliefs(path: Path, task: Task, labels: NDArray[np.int64]) -> None:
    names = [[str(label) for label in row] for row in labels]
    write_atomically(path, lambda file: pq.write_table(pa.table({task.column: names}), file))


def _count(folder: Path, truth: NDArray[np.int64], task: Task) -> dict[str, float]:
    """Shares of right labels."""
    table = pq.read_table(folder / "resolved.parquet")
    right = {"chance": task.chance}
    for kind in ("q", "r"):
        columns = [table[f"{kind}_{label}"].to_numpy() for label in range(N_CLASSES)]
        right[kind] = float((np.stack(columns, 1).argmax(1) == truth).mean())
    return right


def _table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Right labels of all tasks."""
    rows = {
        "any label that is allowed": "chance",
        "prediction q (what the networks say)": "q",
        "posterior r (belief and networks)": "r",
    }
    head = "".join(f"{name.replace('-', ' '):>18}" for name in found)
    lines = [f"  {'right labels':38}{head}", f"  {'-' * (38 + 18 * len(found))}"]
    for words, key in rows.items():
        shares = "".join(f"{each[key]:>18.1%}" for each in found.values())
        lines.append(f"  {words:38}{shares}")
    return "\n".join(lines)


def _next(out: Path) -> str:
    first, second = (out / task.name for task in TASKS)
    images, labels, em = out / "digits.npy", out / "labels.parquet", out / "em"
    commands: tuple[tuple[object, ...], ...] = (
        ("report", first),
        ("check", f"{second}.parquet"),
        ("predict", first, images, "--out", labels),
        ("resolve", images, "--beliefs", f"{first}.parquet", "--objective", "em", "--out", em),
    )
    return "\n".join(
        (
            f"The labels are in {first / 'resolved.parquet'}, the networks in {first / 'model'}.",
            "Try:",
            *(f"  {shlex.join((_program(), *map(str, command)))}" for command in commands),
        )
    )


def _program() -> str:
    """How this tacit is called: by its name, or where it is when the shell would not find it."""
    if shutil.which("tacit"):
        return "tacit"
    place = Path(sys.executable).with_name("tacit")
    here = Path.cwd()
    return str(place.relative_to(here) if place.is_relative_to(here) else place)


def _shown(folder: Path, data: Digits, task: Task, seed: int) -> str:
    """Three digits and the one that is least sure, side by side."""
    table = pq.read_table(folder / "resolved.parquet")
    r = np.stack([table[f"r_{label}"].to_numpy() for label in range(N_CLASSES)], 1)
    shown = [0, 1, 2, int(r.max(1).argmin())]
    listed = draw(data.truth, task, seed)
    words = "one of" if task.column == "candidates" else "not"
    columns = [
        [
            *_blocks(data.images[row, 0]),
            f"{words} {' '.join(map(str, listed[row]))}",
            f"-> {r[row].argmax()}  with {r[row].max():.3f}",
        ]
        for row in shown
    ]
    lines = zip(*columns, strict=True)
    return "\n".join("  " + "  ".join(f"{part:16}" for part in line).rstrip() for line in lines)


def _blocks(image: NDArray[np.float32]) -> list[str]:
    """Each row of an image as text, two characters to a pixel, which makes it about square."""
    shade = (image * len(_SHADES)).astype(int).clip(max=len(_SHADES) - 1)
    return ["".join(2 * _SHADES[pixel] for pixel in row) for row in shade.tolist()]
