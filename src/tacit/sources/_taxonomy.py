"""Taxonomies: labels of any level of a tree, of which the leaves are the classes."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import torch

from tacit.beliefs import Candidates, Categorical
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.beliefs import Independent

__all__ = ["Taxonomy"]

Tree: TypeAlias = "Mapping[str, Tree] | Sequence[str | Tree] | str | None"


class Taxonomy:
    """A tree of names; its leaves are the classes.

    Args:
        parent: The name above each name, None for those at the top, in order.
        weights: How likely the classes are within what is above them, see `belief`.

    Attributes:
        names: All names, of any level, in order.
        classes: The leaves, in order.
        weights: The weight of each class, or None.

    Example:
        >>> tree = Taxonomy.from_tree({"sports": ["tennis", "golf"], "arts": {"music": ["opera"]}})
        >>> tree.classes
        ('tennis', 'golf', 'opera')
        >>> tree.belief(["sports", "opera", None]).labels()
        [[0, 1], [2], [0, 1, 2]]
    """

    def __init__(
        self, parent: Mapping[str, str | None], *, weights: Mapping[str, float] | None = None
    ) -> None:
        self._parent = dict(parent)
        _check(self._parent)
        self.names = tuple(self._parent)
        above = set(self._parent.values())
        self.classes = tuple(name for name in self._parent if name not in above)
        self._leaves: dict[str, list[int]] = {name: [] for name in self._parent}
        for number, leaf in enumerate(self.classes):
            for name in self._path(leaf):
                self._leaves[name].append(number)
        if len(self.classes) < 2:
            raise refuse(
                "taxonomy",
                "have at least 2 leaves",
                f"it has {len(self.classes)}",
                "with one class there is nothing to resolve",
            )
        self.weights = None if weights is None else self._checked(weights)

    @classmethod
    def from_tree(cls, tree: Tree, *, weights: Mapping[str, float] | None = None) -> Self:
        """A taxonomy as nested mappings and lists, as YAML and JSON have them.

        Args:
            tree: Names that hold names; a name that holds nothing is a leaf.
            weights: How likely the classes are within what is above them.
        """
        parent: dict[str, str | None] = {}
        for name, above in _named(tree, None):
            if name in parent:
                raise _twice(name)
            parent[name] = above
        return cls(parent, weights=weights)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str | None]],
        *,
        weights: Mapping[str, float] | None = None,
    ) -> Self:
        """A taxonomy as pairs of a name and the one above it.

        Args:
            edges: A pair for each name, in any order; None (or an empty text) is above those at the
                top, and what is only named as being above others is at the top too.
            weights: How likely the classes are within what is above them.

        Example:
            >>> Taxonomy.from_edges([("tennis", "sports"), ("golf", "sports")]).classes
            ('tennis', 'golf')
        """
        parent: dict[str, str | None] = {}
        for name, above in edges:
            if name in parent:
                raise _twice(name)
            parent[name] = above or None
        for above in [each for each in parent.values() if each is not None]:
            parent.setdefault(above, None)
        return cls(parent, weights=weights)

    def __contains__(self, name: object) -> bool:
        return name in self._parent

    def __repr__(self) -> str:
        return f"Taxonomy({len(self._parent)} names, {len(self.classes)} of them leaves)"

    def leaves_below(self, name: str) -> tuple[str, ...]:
        """The classes that a name stands for; a leaf stands for itself."""
        return tuple(self.classes[number] for number in self._numbers(name, "name"))

    def belief(
        self, labels: Sequence[str | None], *, weights: Mapping[str, float] | None = None
    ) -> Independent:
        """The belief about instances that are labelled at any level.

        Args:
            labels: A name for each instance; None where nothing is known.
            weights: How likely the classes are within what is above them, such as their shares in
                the collection; by default those of the taxonomy, if it has any, else equal.

        Returns:
            Candidates, or with weights a Categorical.

        Example:
            >>> tree = Taxonomy.from_tree({"sports": ["tennis", "golf"], "arts": ["opera"]})
            >>> weights = {"tennis": 3, "golf": 1, "opera": 1}
            >>> tree.belief(["sports", "opera"], weights=weights).marginals()
            tensor([[0.7500, 0.2500, 0.0000],
                    [0.0000, 0.0000, 1.0000]])
        """
        everything = list(range(len(self.classes)))
        sets = [
            everything if name is None else self._numbers(name, f"row {row}")
            for row, name in enumerate(labels)
        ]
        return self.weighted(Candidates(sets, n_classes=len(self.classes)), weights=weights)

    def weighted(
        self,
        candidates: Candidates,
        *,
        weights: Mapping[str, float] | None = None,
        classes: Sequence[str] | None = None,
    ) -> Independent:
        """Candidates as likely as the classes' weights, p_i(l) ∝ w_l where l is a candidate.

        Args:
            candidates: Which classes each instance may have.
            weights: w, by name; those of the taxonomy by default.
            classes: The names of the candidates' classes, in their order; that of the taxonomy by
                default.

        Returns:
            The candidates themselves where there are no weights.
        """
        known = self.weights if weights is None else self._checked(weights)
        if known is None:
            return candidates
        w = torch.tensor([known[name] for name in classes or self.classes])
        return Categorical(candidates.mask().float() * w)

    def unweighted(self) -> Self:
        """The same without weights."""
        plain = copy.copy(self)
        plain.weights = None
        return plain

    def _numbers(self, name: str, where: str) -> list[int]:
        if name not in self._leaves:
            near = get_close_matches(str(name), self._leaves, n=1)
            raise refuse(
                "labels",
                "name what the taxonomy has",
                f"{where} holds {name!r}",
                f"perhaps {near[0]!r} is meant" if near else "add it to the tree",
            )
        return self._leaves[name]

    def _checked(self, weights: Mapping[str, float]) -> dict[str, float]:
        known = {name: each if isinstance(each, Real) else 0 for name, each in weights.items()}
        wrong = [name for name in self.classes if not 0 < known.get(name, 0) < float("inf")]
        if wrong or len(weights) != len(self.classes):
            unknown = [name for name in weights if name not in self.classes]
            raise refuse(
                "weights",
                "give each class a finite number above 0",
                f"{unknown[0]!r} is no class" if unknown else f"{wrong[0]!r} has none",
                "pass one for each of `classes`",
            )
        return {name: float(weights[name]) for name in self.classes}

    def _path(self, leaf: str) -> Iterable[str]:
        name: str | None = leaf
        while name is not None:
            yield name
            name = self._parent[name]


def _named(tree: Any, above: str | None) -> Iterable[tuple[str, str | None]]:
    """Each name in a tree with the one above it."""
    if tree is None:
        return
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield str(name), above
            yield from _named(below, str(name))
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for each in tree:
            yield from _named(each, above)
    else:
        yield str(tree), above


def _check(parent: Mapping[str, str | None]) -> None:
    if "" in parent:
        raise refuse("taxonomy", "give each node a name", "one has none", "name it")
    for name, above in parent.items():
        if above is not None and above not in parent:
            near = get_close_matches(above, parent, n=1)
            raise refuse(
                "taxonomy",
                "hold what is above each name",
                f"{name!r} is below {above!r}, which is not there",
                f"perhaps {near[0]!r} is meant" if near else "add it",
            )
    _check_no_cycle(parent)


def _check_no_cycle(parent: Mapping[str, str | None]) -> None:
    sound: set[str] = set()
    for start in parent:
        seen: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in sound:
            if name in seen:
                loop = [*list(seen)[list(seen).index(name) :], name]
                raise refuse(
                    "taxonomy",
                    "be a tree",
                    f"{' is below '.join(map(repr, loop))}",
                    "take one of these apart",
                )
            seen[name] = None
            name = parent[name]
        sound |= set(seen)


def _twice(name: str) -> Exception:
    return refuse(
        "taxonomy",
        "hold each name once",
        f"{name!r} comes twice",
        "give the two different names, such as with what is above them in front",
    )
