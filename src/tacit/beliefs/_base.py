"""What a belief is: an object that turns evidence into a posterior."""

from __future__ import annotations

import copy
import types
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias, cast

import torch
from torch import Tensor

from tacit.beliefs._logspace import normalised
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import EllipsisType

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "Belief",
    "Independent",
    "Posterior",
    "Rows",
    "learned_by",
    "learned_of",
    "row_index",
    "taken",
]

_Plain: TypeAlias = "Tensor | slice | Sequence[int]"
Rows: TypeAlias = "_Plain | tuple[_Plain, EllipsisType]"


class Posterior(NamedTuple):
    """What evidence makes of a belief.

    Attributes:
        log_marginals: Log posterior of each instance's label, `(instances, class)`.
        log_normaliser: Log of the belief's expectation of exp(evidence), one per group; zero at
            zero evidence, because beliefs are normalised.
    """

    log_marginals: Tensor
    log_normaliser: Tensor


class Belief(ABC):
    """What is known about the labels of a collection before its features are seen.

    A belief covers `len(belief)` instances in `n_groups` groups: labels of different groups are
    independent, labels within a group may depend on each other. Evidence is a tensor
    `(instances, class)`, one log-likelihood per instance and class, known up to a constant per
    instance.
    """

    n_classes: int

    @abstractmethod
    def __len__(self) -> int:
        """Number of instances."""

    @property
    @abstractmethod
    def n_groups(self) -> int:
        """Number of groups."""

    @property
    @abstractmethod
    def group_of(self) -> Tensor:
        """The group of each instance, `(instances,)`, numbered from zero."""

    @abstractmethod
    def posterior(self, log_evidence: Tensor) -> Posterior:
        """Update the belief by evidence.

        Args:
            log_evidence: Log-likelihood of each class, `(instances, class)`.

        Returns:
            Log marginals per instance and one log-normaliser per group. Where evidence and belief
            exclude each other both are minus infinity, for the whole group.
        """

    @abstractmethod
    def __getitem__(self, rows: Rows) -> Self:
        """The belief about some of the instances, renumbered in the order of `rows`.

        Whole groups only: an independent belief takes any rows, a structured one refuses rows
        that tear a group apart.
        """

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where the belief's tensors live."""

    @property
    def shape(self) -> tuple[int, int]:
        """Instances and classes; what scikit-learn splits and searches over must have one."""
        return len(self), self.n_classes

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.generic]:
        """The marginals, for tools that want to know what kind of target this is."""
        del copy
        marginals: NDArray[np.generic] = self.marginals().cpu().numpy()
        return marginals if dtype is None else marginals.astype(dtype)

    def marginals(self, dtype: torch.dtype = torch.float32) -> Tensor:
        """Probability of each instance's label before any evidence, `(instances, class)`."""
        nothing = torch.zeros(len(self), self.n_classes, dtype=dtype, device=self.device)
        return self.posterior(nothing).log_marginals.exp()

    def updated(
        self,
        log_prediction: Tensor,
        *,
        weight: Tensor | None = None,
        strata: Tensor | None = None,
    ) -> Self:
        """The belief as revised by a prediction; itself for a belief that has nothing to learn.

        Args:
            log_prediction: Log of the prediction q, `(instances, class)`.
            weight: Weight of each instance, `(instances,)`.
            strata: Stratum of each instance, where each has a class mass of its own.
        """
        del log_prediction, weight, strata
        return self

    def learned(self) -> dict[str, Tensor]:
        """What `updated` revises, by name; empty for a belief that has nothing to learn."""
        return {}

    def with_learned(self, learned: Mapping[str, Tensor]) -> Self:
        """The same belief with what another one of its kind has learned.

        Args:
            learned: As `learned` gives it, of a belief that may be about other instances.
        """
        if {*learned} != {*self.learned()}:
            raise refuse(
                "learned",
                f"hold what this belief learns ({', '.join(self.learned()) or 'nothing'})",
                f"it holds {', '.join(learned) or 'nothing'}",
                "take it from a belief of the same kind and sources",
            )
        return self._taught(learned)

    def _taught(self, learned: Mapping[str, Tensor]) -> Self:
        """`with_learned`, after its check."""
        del learned
        return self

    def to(self, device: torch.device | str) -> Self:
        """The same belief with its tensors on `device`."""
        moved = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, Tensor | Belief):
                setattr(moved, name, value.to(device))
        return moved

    def __mul__(self, other: Independent) -> Belief:
        """This belief and an independent one, both true at once."""
        from tacit.beliefs._product import product

        return product(self, other)

    def __repr__(self) -> str:
        groups = "" if self.n_groups == len(self) else f", n_groups={self.n_groups}"
        return f"{type(self).__name__}(n_instances={len(self)}, n_classes={self.n_classes}{groups})"

    def _check_evidence(self, log_evidence: Tensor) -> None:
        expected = (len(self), self.n_classes)
        if tuple(log_evidence.shape) != expected:
            raise refuse(
                "log_evidence",
                f"have shape (instances, class) = {expected}",
                f"its shape is {tuple(log_evidence.shape)}",
                "pass one row per instance that the belief covers",
            )
        if not log_evidence.is_floating_point():
            raise refuse(
                "log_evidence",
                "be floating-point numbers",
                f"it is {log_evidence.dtype}",
                "convert it with log_evidence.float()",
            )


def learned_by(parts: Iterable[Belief]) -> dict[str, Tensor]:
    """What the parts of a belief have learned, each under its number."""
    return {
        f"{number}/{name}": value
        for number, part in enumerate(parts)
        for name, value in part.learned().items()
    }


def learned_of(learned: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    """What one of the parts has learned; inverse of `learned_by`."""
    start = f"{number}/"
    return {
        name.removeprefix(start): value for name, value in learned.items() if name.startswith(start)
    }


class Independent(Belief):
    """A belief in which every instance stands alone: one distribution per instance."""

    @abstractmethod
    def log_probabilities(self, dtype: torch.dtype = torch.float32) -> Tensor:
        """Log of each instance's normalised belief, `(instances, class)`.

        Args:
            dtype: Precision of the result.

        Returns:
            Logs, with minus infinity for "never".
        """

    @property
    def dtype(self) -> torch.dtype:
        """Precision in which the belief is known; at least float32."""
        return torch.float32

    def dense(self) -> tuple[Tensor, bool]:
        """The belief as it is stored, for objectives, which do not mind factors per row.

        Returns:
            A table `(instances, class)` of probabilities, a mask, or log-probabilities, and
            whether it holds logs.
        """
        return self.log_probabilities(), True

    def rows_at(self, index: Tensor) -> Independent:
        """Some rows by their numbers, unchecked where a kind can: on a GPU a check waits for it.

        Of what else a belief knows, such as votes, the rows need not remember anything.

        Args:
            index: Row numbers from 0, on the belief's device.
        """
        return self[index]

    @property
    def n_groups(self) -> int:
        return len(self)

    @property
    def group_of(self) -> Tensor:
        return torch.arange(len(self), device=self.device)

    def posterior(self, log_evidence: Tensor) -> Posterior:
        self._check_evidence(log_evidence)
        log_joint = self.log_probabilities(log_evidence.dtype) + log_evidence
        return Posterior(*normalised(log_joint))

    def marginals(self, dtype: torch.dtype = torch.float32) -> Tensor:
        return self.log_probabilities(dtype).exp()


def taken(table: Tensor, rows: Rows) -> Tensor:
    """Some rows of a table: a view for a slice where torch has one, else a copy."""
    rows = _plain(rows)
    if isinstance(rows, slice) and (rows.step is None or rows.step > 0):
        return table[rows]
    return table[row_index(rows, len(table), table.device)]


def row_index(rows: Rows, n_instances: int, device: torch.device) -> Tensor:
    """Turn a slice, a mask or a list of rows into row numbers, refusing rows that do not exist."""
    rows = _plain(rows)
    if isinstance(rows, slice):
        start, stop, step = rows.indices(n_instances)
        # Torch knows no empty range that ends before it starts.
        return torch.arange(
            start, stop if (stop - start) * step > 0 else start, step, device=device
        )
    index = torch.as_tensor(rows, device=device)
    if index.dtype == torch.bool:
        if index.shape != (n_instances,):
            raise refuse(
                "rows",
                f"be a mask of {n_instances} entries",
                f"its shape is {tuple(index.shape)}",
                "pass one entry per instance, or row numbers",
            )
        return index.nonzero().squeeze(1)
    if index.numel() == 0:
        return index.reshape(0).long()
    if index.ndim != 1 or index.is_floating_point():
        raise refuse(
            "rows",
            "be a slice, a mask or a list of row numbers",
            f"it is {index.dtype} with shape {tuple(index.shape)}",
            "use a slice even for a single row, as in belief[3:4]",
        )
    index = torch.where(index < 0, index + n_instances, index)
    wrong = (index < 0) | (index >= n_instances)
    if bool(wrong.any()):
        first = int(wrong.nonzero()[0])
        raise refuse(
            "rows",
            f"lie between {-n_instances} and {n_instances - 1}",
            f"entry {first} is out of that range",
            f"the belief covers {n_instances} instances",
        )
    return index.long()


def _plain(rows: Rows) -> _Plain:
    """Rows as they are meant where scikit-learn writes `belief[rows, ...]`."""
    match rows:
        case (chosen, types.EllipsisType()):
            return cast("_Plain", chosen)
        case _:
            return rows
