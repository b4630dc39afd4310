"""Maps beside a reference: what `tacit evaluate` does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from tacit.diagnostics import Scores, merged, scored
from tacit.raster._area import read_areas
from tacit.raster._class_files import classes_of
from tacit.raster._grid import Grid
from tacit.raster._pairs import counted_tiles
from tacit.table._errors import refused

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from tacit.raster._classes import ClassTable

__all__ = ["Evaluation", "evaluate"]


class Evaluation(NamedTuple):
    """A map beside a reference.

    Attributes:
        classes: The names of the classes, in the order of the scores.
        scores: Of all pixels that both know.
        areas: Of each area, by its name.
    """

    classes: tuple[str, ...]
    scores: Scores
    areas: dict[str, Scores]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, without a number where there is none."""
        named = {name: self._plain(scores) for name, scores in self.areas.items()}
        return {"classes": list(self.classes), **self._plain(self.scores), "areas": named}

    def _plain(self, scores: Scores) -> dict[str, Any]:
        shares = dict(zip(self.classes, map(_plain, scores.iou.tolist()), strict=True))
        return {
            "n": scores.n,
            "accuracy": _plain(scores.accuracy),
            "mean_iou": _plain(scores.mean_iou),
            "iou": shares,
            "confusion": scores.confusion.tolist(),
        }


def evaluate(
    map_files: Sequence[str | os.PathLike[str]],
    reference: Sequence[str | os.PathLike[str]],
    *,
    classes: ClassTable | None = None,
    reference_classes: ClassTable | None = None,
    into: Mapping[str, str] | None = None,
    areas: str | os.PathLike[str] | None = None,
    area_names: str | None = None,
) -> Evaluation:
    """Compare a map of classes with a reference, pixel by pixel of the reference.

    Args:
        map_files: The map, one or several files; warped by the nearest pixel where need be.
        reference: The reference, one or several files.
        classes: The classes of the map. Unless given, as the file tells them if it is tacit's, or
            else those of the reference.
        reference_classes: The classes of the reference; unless given, those of the map. Codes that
            are not among them are unknown. Classes of one name are one class.
        into: By the name of a class, that of the class that it counts as.
        areas: A file of polygons; scores are told of each as well.
        area_names: Its column of names; areas of one name are one. Unless given they are numbered
            from 1.

    Raises:
        InvalidInputError: If a file cannot be used, or nothing can be compared.
    """
    ours = classes or classes_of(map_files[0]) or reference_classes
    theirs = reference_classes or ours
    if ours is None or theirs is None:
        fix = "name the classes, such as chesapeake, or a CSV file of codes and names"
        raise refused(str(map_files[0]), "does not say what its codes mean", fix)
    grid = Grid.of(reference)
    read = [] if areas is None else read_areas(areas, names=area_names)
    named = [area.to(grid.crs) for area in read]
    counts: list[Counter[tuple[int, int]]] = [Counter() for _ in range(len(named) + 1)]
    found = counted_tiles(
        map_files,
        reference,
        grid,
        lambda tile: [None, *(area.mask(grid.around(tile, 0)) for area in named)],
    )
    for number, pairs in found:
        counts[number].update(pairs)
    names = tuple(dict.fromkeys([*theirs.names, *ours.names]))
    tables = [_confusion(each, ours, theirs, names) for each in counts]
    if not int(tables[0].sum()):
        fix = "check the classes of both, and that they show the same place"
        raise refused(str(map_files[0]), "and the reference have no pixel in common", fix)
    joined = [merged(table, names, into or {}) for table in tables]
    left = joined[0][1]
    scores = [scored(table) for table, _ in joined]
    return Evaluation(
        left, scores[0], {area.name: one for area, one in zip(named, scores[1:], strict=True)}
    )


def _confusion(
    counts: Mapping[tuple[int, int], int],
    ours: ClassTable,
    theirs: ClassTable,
    names: Sequence[str],
) -> torch.Tensor:
    """Pixels by true class and class that was found; unknown codes are left out."""
    place = {name: number for number, name in enumerate(names)}
    column = {code: place[name] for code, name in zip(ours.codes, ours.names, strict=True)}
    row = {code: place[name] for code, name in zip(theirs.codes, theirs.names, strict=True)}
    table = torch.zeros(len(names), len(names), dtype=torch.long)
    for (code, true), n in counts.items():
        if code in column and true in row:
            table[row[true], column[code]] += n
    return table


def _plain(value: float) -> float | None:
    return value if value == value else None
