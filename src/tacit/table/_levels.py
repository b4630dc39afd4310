"""Names of any level of a taxonomy as the classes below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.sources import Taxonomy

__all__ = ["Levels"]


class Levels:
    """The classes that each name of a taxonomy stands for.

    Args:
        taxonomy: The tree.
        classes: Its leaves, in the order in which they are numbered.

    Attributes:
        names: All names of the tree.
    """

    def __init__(self, taxonomy: Taxonomy, classes: Sequence[str]) -> None:
        self.names = taxonomy.names
        number = {name: place for place, name in enumerate(classes)}
        leaves = [[number[leaf] for leaf in taxonomy.leaves_below(name)] for name in self.names]
        self._sizes = np.array([len(each) for each in leaves])
        self._starts = self._sizes.cumsum() - self._sizes
        self._leaves = np.array([leaf for each in leaves for leaf in each])

    def spread(
        self, row: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Entries that name nodes, as entries that name the leaves below them.

        Args:
            row: The row of each entry.
            codes: The number of its name.
        """
        sizes = self._sizes[codes]
        within = np.arange(sizes.sum()) - (sizes.cumsum() - sizes).repeat(sizes)
        return row.repeat(sizes), self._leaves[self._starts[codes].repeat(sizes) + within]
