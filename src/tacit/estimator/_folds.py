"""Folds for cross-validation that keep the groups of a belief whole."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from tacit.beliefs import Belief
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["BeliefKFold"]


class BeliefKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds of about equal size in which no group of a belief is torn apart.

    Pairs, bags, orderings and chains stay whole: their labels depend on each other. Where every
    instance stands alone these are scikit-learn's shuffled `KFold`.

    Args:
        n_splits: Number of folds.
        random_state: Seed of the order in which groups go to folds.

    Example:
        >>> import numpy as np
        >>> from tacit.beliefs import Pairs
        >>> pairs = Pairs.greater([[0, 1], [2, 3], [4, 5]], n_classes=3, n_instances=6)
        >>> for train, test in BeliefKFold(3, random_state=0).split(np.zeros((6, 1)), pairs):
        ...     print(train, test)
        [0 1 2 3] [4 5]
        [0 1 4 5] [2 3]
        [2 3 4 5] [0 1]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = None) -> None:
        self.n_splits, self.random_state = n_splits, random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        del X, y, groups
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Rows to learn from and rows to test on, for each fold.

        Args:
            X: Features, for their number.
            y: The belief, for its groups; without one each row stands alone.
            groups: The group of each instance, instead of the belief's.
        """
        if groups is None:
            alone = np.arange(np.shape(X)[0])
            groups = y.group_of.cpu().numpy() if isinstance(y, Belief) else alone
        _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        if not isinstance(self.n_splits, Integral) or not 2 <= self.n_splits <= len(sizes):
            raise refuse(
                "n_splits",
                f"be a whole number, at least 2 and at most the number of groups, {len(sizes)}",
                f"it is {self.n_splits!r}",
                "pass fewer folds",
            )
        fold = _folds_of(sizes, self.n_splits, check_random_state(self.random_state))[group]
        rows = np.arange(len(group))
        for number in range(self.n_splits):
            yield rows[fold != number], rows[fold == number]


def _folds_of(sizes: NDArray[np.int64], n_folds: int, random: Any) -> NDArray[np.int64]:
    """The fold of each group: the largest first, each to the fold that is emptiest."""
    order = random.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold = np.empty(len(sizes), np.int64)
    if sizes.min() == sizes.max():
        fold[order] = np.arange(len(sizes)) % n_folds
        return fold
    filled = np.zeros(n_folds, np.int64)
    for group in order:
        fold[group] = filled.argmin()
        filled[fold[group]] += sizes[group]
    return fold
