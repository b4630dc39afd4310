"""What an experiment is: cells to measure, a way to measure them, and a page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks import record
from experiments._store import Store
from tacit.errors import refuse
from tacit.fitting import Execution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from experiments._store import Cell, Figures

__all__ = ["Experiment", "Means", "reproduce"]

_ALWAYS: Final = ("numpy", "scikit-learn", "tacit-learn")


class Means(NamedTuple):
    """What an experiment may use.

    Attributes:
        data: Folder of the data.
        device: Where networks learn, as `tacit.fitting.Execution` names it.
    """

    data: Path
    device: str


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or a figure, and how it comes about.

    Attributes:
        name: On the command line, and of its record and page.
        about: What it shows, in a line.
        needs: What the folder of the data must hold, in a line.
        seeds: Seeds unless others are asked for: 0, 1, ... below this number.
        cells: All cells for some seeds.
        files: The files of the data that some cells need.
        measure: Measures cells, in any order, giving each as it is done.
        page: What a record shows, as Markdown.
        pictures: What it shows as SVG, by the names of the files that the page refers to.
        versions: Distributions whose versions matter, beside those always named.
        cpu: Whether it computes on the CPU, whatever device is named.
        threads: Threads of each of its processes, where it starts processes of its own.
    """

    name: str
    about: str
    needs: str
    seeds: int
    cells: Callable[[Sequence[int]], list[Cell]]
    files: Callable[[Sequence[Cell], Path], Iterable[Path]]
    measure: Callable[[Sequence[Cell], Means], Iterator[tuple[Cell, Figures]]]
    page: Callable[[Store], str]
    versions: tuple[str, ...] = ()
    pictures: Callable[[Store], dict[str, str]] = lambda store: {}  # noqa: ARG005  none
    cpu: bool = False
    threads: int | None = None


def reproduce(
    experiment: Experiment,
    means: Means,
    *,
    out: Path,
    seeds: Sequence[int],
    only: Sequence[str] = (),
    watch: Callable[[int, int, Cell | None], None] | None = None,
) -> Store:
    """Measure the cells of an experiment that its record does not have yet.

    Each is kept as soon as it is done: a run that was killed goes on where it was.

    Args:
        experiment: Which one.
        means: What it may use.
        out: The record.
        seeds: Which draws.
        only: Texts of which each must be one of a cell's settings; all cells by default.
        watch: Told how many cells are done, of how many, and which was the last.
    """
    store = Store(out, experiment.name)
    wanted = _wanted(experiment.cells(seeds), only)
    missing = [cell for cell in wanted if cell not in store]
    if watch is not None:
        watch(len(wanted) - len(missing), len(wanted), None)
    if not missing:
        return store
    store.begin(
        _circumstances(experiment, means),
        data={file.name: file for file in experiment.files(missing, means.data)},
    )
    done = len(wanted) - len(missing)
    for cell, figures in experiment.measure(missing, means):
        store.add(cell, figures)
        done += 1
        if watch is not None:
            watch(done, len(wanted), cell)
    return store


def _circumstances(experiment: Experiment, means: Means) -> dict[str, Any]:
    """Machine, versions and commit; the machine is the one that computes."""
    device = "cpu" if experiment.cpu else Execution(device=means.device).torch_device().type
    found = record.circumstances(device) | {"versions": _versions(experiment.versions)}
    return found if experiment.threads is None else found | {"threads": experiment.threads}


def _versions(names: Iterable[str]) -> dict[str, str]:
    """Versions of the distributions that are installed."""
    found = {}
    for name in (*_ALWAYS, *names):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _wanted(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
    """The cells that have all of some settings."""
    found = [cell for cell in cells if {*only} <= {*map(str, cell.values())}]
    if not found:
        raise refuse(
            "only",
            "name settings that a cell has, all at once",
            f"no cell has {' and '.join(only)}",
            f"the first has {', '.join(map(str, cells[0].values()))}",
        )
    return found
