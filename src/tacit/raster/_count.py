"""Tables of co-occurrence, counted from labelled tiles: what `tacit cooccurrence` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tacit.errors import refuse
from tacit.raster._grid import Grid
from tacit.raster._pairs import counted
from tacit.sources._cooccurrence import shares_of
from tacit.table import Cooccurrence
from tacit.table._errors import listed, refused

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from tacit.raster._classes import ClassTable

__all__ = ["count_rasters"]


def count_rasters(
    coarse: Sequence[str | os.PathLike[str]],
    labels: Sequence[str | os.PathLike[str]],
    *,
    classes: ClassTable,
    coarse_classes: ClassTable | None = None,
    into: Mapping[str, str] | None = None,
) -> Cooccurrence:
    """The table p(class | coarse class), counted where labels of a higher resolution are known.

    Args:
        coarse: The coarse map, one or several files.
        labels: Rasters of labels, each a tile: tiles count the same, however large they are.
        classes: The classes of the labels; other codes, such as "unclassified", are passed over.
        coarse_classes: The classes of the coarse map, a row for each; unless given there is a row
            for each code that was seen.
        into: By the name of a class, that of the class that it counts as.

    Returns:
        The table, its rows named by codes and adding up to one; a row of zeros was never seen.

    Raises:
        InvalidInputError: If a file cannot be used.
    """
    if not labels:
        raise refuse("labels", "name at least one file", "it is empty", "pass rasters of labels")
    names = _names(classes, into or {})
    column = dict(zip(classes.codes, names.values(), strict=True))
    parts = [counted(coarse, [tile], Grid.of([tile])) for tile in labels]
    seen = {code for part in parts for (code, label) in part if label in column}
    if not seen:
        fix = f"check that its codes are among {listed(classes.codes)}"
        raise refused(str(labels[0]), "has no label of these classes on the coarse map", fix)
    codes = sorted(seen if coarse_classes is None else seen | {*coarse_classes.codes})
    row = {code: number for number, code in enumerate(codes)}
    left = tuple(dict.fromkeys(names.values()))
    place = {name: number for number, name in enumerate(left)}
    counts = torch.zeros(len(parts), len(codes), len(left), dtype=torch.float64)
    for number, part in enumerate(parts):
        for (code, label), n in part.items():
            if label in column:
                counts[number, row[code], place[column[label]]] += n
    return Cooccurrence(tuple(map(str, codes)), left, shares_of(counts))


def _names(classes: ClassTable, into: Mapping[str, str]) -> dict[str, str]:
    """By the name of each class, that of the class that it counts as."""
    for name in into:
        if name not in classes.names:
            fix = f"name some of {', '.join(classes.names)}"
            raise refuse("into", "name classes to merge", f"'{name}' is none", fix)
    return {name: into.get(name, name) for name in classes.names}
