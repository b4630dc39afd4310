"""Which classes the beliefs cannot tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.beliefs import Independent

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["Alike", "indistinct"]

_NUMBERS = 1 << 22
"""Numbers that are looked at at a time."""

_EXACT = 1e-6
"""Columns whose directions differ by less than this are the same up to rounding."""


class Alike(NamedTuple):
    """Classes of which the beliefs say the same.

    Attributes:
        classes: Their numbers, in ascending order.
        kind: "equal": every belief gives them the same; nothing breaks the symmetry, and a run will
            find the things but may swap the names. "proportional": every belief gives them the
            same share, up to a factor; only how large they are tells them apart. "nearly": so
            nearly proportional that it will take many instances.
        apart: Largest angle between two of them that are joined, in radians; 0 for "equal".
    """

    classes: tuple[int, ...]
    kind: str
    apart: float


def indistinct(belief: Belief, *, nearly: float = 0.02, most_rows: int = 200_000) -> list[Alike]:
    """Find classes that the beliefs cannot tell apart.

    The marginals of a class over the collection are a vector; two classes are told apart by the
    angle between theirs.

    Args:
        belief: What is known. Of groups, such as pairs, the marginals count; what only the labels
            of a group together tell is not seen.
        nearly: Angle in radians below which classes are nearly alike.
        most_rows: Instances that are looked at, evenly spread, where there are more.

    Returns:
        Sets of classes, each class in one of them at the most.

    Example:
        >>> from tacit.beliefs import Candidates
        >>> indistinct(Candidates([[0, 1], [2], [0, 1, 2]], n_classes=3))
        [Alike(classes=(0, 1), kind='equal', apart=0.0)]
    """
    gram = _gram(belief, most_rows)
    size = gram.diagonal().sqrt()
    cosine = gram / (size.unsqueeze(0) * size.unsqueeze(1)).clamp(min=1e-300)
    # Of two that point the same way rounding may make the cosine larger than one. The angle is from
    # the distance of the directions, which keeps its digits where the cosine has none left.
    angle = 2 * ((2 - 2 * cosine).clamp(min=0).sqrt() / 2).clamp(max=1).asin()
    used = size > 0
    close = (angle < nearly) & used & used.unsqueeze(1)
    found = []
    for classes in _components(close):
        if len(classes) > 1:
            inside = angle[classes][:, classes]
            joined = inside[close[classes][:, classes]]
            found.append(_alike(classes, float(joined.max()), size[classes]))
    return found


def _alike(classes: Tensor, apart: float, size: Tensor) -> Alike:
    numbers = tuple(classes.tolist())
    if apart > _EXACT:
        return Alike(numbers, "nearly", apart)
    equal = float(size.max() - size.min()) <= _EXACT * float(size.max())
    return Alike(numbers, "equal" if equal else "proportional", 0.0)


def _gram(belief: Belief, most_rows: int) -> Tensor:
    """Inner products of the classes' marginals, in float64."""
    n, n_classes = len(belief), belief.n_classes
    gram = torch.zeros(n_classes, n_classes, dtype=torch.float64)
    if not isinstance(belief, Independent):
        p = belief.marginals(torch.float64).cpu()
        return gram + p.T @ p
    rows = torch.arange(n) if n <= most_rows else torch.linspace(0, n - 1, most_rows).long()
    for part in rows.split(max(1, _NUMBERS // n_classes)):
        p = belief[part].marginals(torch.float64).cpu()
        gram += p.T @ p
    return gram


def _components(close: Tensor) -> list[Tensor]:
    """Classes that are joined by others that are close, each once."""
    left, found = set(range(len(close))), []
    while left:
        reached, todo = set[int](), [min(left)]
        while todo:
            here = todo.pop()
            if here not in reached:
                reached.add(here)
                todo += close[here].nonzero().squeeze(1).tolist()
        left -= reached
        found.append(torch.tensor(sorted(reached)))
    return found
