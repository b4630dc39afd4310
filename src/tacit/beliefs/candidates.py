"""Sets of labels that each instance may have, one bit per instance and class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from tacit.beliefs._base import Independent, Rows, row_index
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Candidates"]

_MASK_BYTES = 1 << 26
"""Masks are expanded this many bytes at a time while sets are packed, so that building is lean."""


class Candidates(Independent):
    """Sets of allowed labels: uniform over the set, impossible outside it.

    Kept as bits: 10 million instances with 1,000 classes take 1.25 GB.

    Args:
        labels: For each instance the list of labels it may have; lists may differ in length. An
            integer tensor `(instances, candidates)` does as well.
        n_classes: Number of classes; labels run from 0 to `n_classes - 1`.

    Example:
        >>> Candidates([[0, 2], [1]], n_classes=3).marginals()
        tensor([[0.5000, 0.0000, 0.5000],
                [0.0000, 1.0000, 0.0000]])
    """

    def __init__(self, labels: Sequence[Sequence[int]] | Tensor, *, n_classes: int) -> None:
        self._set(_pack_lists(labels, n_classes, "labels", excluded=False), n_classes, "labels")

    @classmethod
    def excluding(cls, labels: Sequence[Sequence[int]] | Tensor, *, n_classes: int) -> Self:
        """Sets given by the labels that each instance does *not* have.

        Args:
            labels: For each instance its excluded labels: a list each, possibly empty, or an
                integer tensor `(instances,)` or `(instances, excluded)`.
            n_classes: Number of classes.

        Example:
            >>> import torch
            >>> Candidates.excluding(torch.tensor([2, 0]), n_classes=3).mask()
            tensor([[ True,  True, False],
                    [False,  True,  True]])
        """
        belief = cls.__new__(cls)
        bits = _pack_lists(labels, n_classes, "labels", excluded=True)
        belief._set(bits, n_classes, "labels")
        return belief

    @classmethod
    def from_mask(cls, mask: Tensor) -> Self:
        """Sets given as a mask of allowed labels.

        Args:
            mask: Booleans `(instances, class)`.

        Example:
            >>> import torch
            >>> Candidates.from_mask(torch.tensor([[True, False, True]])).labels()
            [[0, 2]]
        """
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.ndim != 2:
            got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
            raise refuse(
                "mask",
                "be a boolean tensor (instances, class)",
                f"it is {got}",
                "compare the numbers with a threshold first, as in probabilities > 0",
            )
        belief = cls.__new__(cls)
        n, n_classes = mask.shape
        step = max(1, _MASK_BYTES // max(n_classes, 1))
        parts = [_pack(mask[start : start + step]) for start in range(0, n, step)]
        belief._set(torch.cat(parts) if parts else _pack(mask), n_classes, "mask")
        return belief

    def __len__(self) -> int:
        return self._bits.shape[0]

    @property
    def device(self) -> torch.device:
        return self._bits.device

    def mask(self) -> Tensor:
        """Which labels each instance may have, `(instances, class)`."""
        shift = torch.arange(8, dtype=torch.uint8, device=self.device)
        unpacked = (self._bits.unsqueeze(-1) >> shift) & 1
        return unpacked.flatten(1)[:, : self.n_classes].bool()

    def dense(self) -> tuple[Tensor, bool]:
        return self.mask(), False

    def labels(self) -> list[list[int]]:
        """The allowed labels of each instance as lists."""
        return [row.nonzero().squeeze(1).tolist() for row in self.mask()]

    def sizes(self) -> Tensor:
        """Number of allowed labels of each instance, `(instances,)`."""
        count = torch.tensor([bin(byte).count("1") for byte in range(256)], device=self.device)
        step = max(1, _MASK_BYTES // (8 * self._bits.shape[1]))
        parts = [count[part.long()].sum(-1) for part in self._bits.split(step)]
        return torch.cat(parts)

    def log_probabilities(self, dtype: torch.dtype = torch.float32) -> Tensor:
        mask = self.mask()
        log_size = mask.sum(-1, keepdim=True).to(dtype).log()
        return (-log_size).expand(mask.shape).masked_fill(~mask, -torch.inf)

    def __getitem__(self, rows: Rows) -> Self:
        taken = rows if isinstance(rows, slice) else row_index(rows, len(self), self.device)
        belief = type(self).__new__(type(self))
        belief._bits, belief.n_classes = self._bits[taken], self.n_classes
        return belief

    def _set(self, bits: Tensor, n_classes: int, argument: str) -> None:
        if n_classes < 2:
            raise refuse(
                argument,
                "speak of at least 2 classes",
                f"n_classes is {n_classes}",
                "with one class there is nothing to resolve",
            )
        empty = bits.amax(-1) == 0 if len(bits) else bits.new_zeros(0, dtype=torch.bool)
        if bool(empty.any()):
            raise refuse(
                argument,
                "leave each instance at least one label",
                f"row {int(empty.nonzero()[0])} leaves none",
                "allow every label where nothing is known",
            )
        self._bits, self.n_classes = bits, n_classes


def _pack(mask: Tensor) -> Tensor:
    """Eight booleans to a byte, the first class in the lowest bit."""
    padded = torch.nn.functional.pad(mask.to(torch.uint8), (0, -mask.shape[1] % 8))
    weight = 1 << torch.arange(8, dtype=torch.uint8, device=mask.device)
    return (padded.unflatten(1, (-1, 8)) * weight).sum(-1, dtype=torch.uint8)


def _pack_lists(
    labels: Sequence[Sequence[int]] | Tensor, n_classes: int, argument: str, *, excluded: bool
) -> Tensor:
    """Pack lists of labels, expanding only a slab of the mask at a time."""
    if isinstance(labels, Tensor):
        labels = _check_tensor(labels, argument)
    step = max(1, _MASK_BYTES // max(n_classes, 1))
    slabs = []
    for start in range(0, len(labels), step):
        row, label = _entries(labels[start : start + step], start, argument)
        _check_labels(row + start, label, n_classes, argument)
        n = min(step, len(labels) - start)
        mask = torch.full((n, n_classes), excluded, device=label.device)
        mask[row, label] = not excluded
        slabs.append(_pack(mask))
    if not slabs:
        return torch.zeros(0, -(-n_classes // 8), dtype=torch.uint8)
    return torch.cat(slabs)


def _entries(labels: Sequence[Sequence[int]] | Tensor, start: int, argument: str) -> tuple[Tensor, Tensor]:
    """Row number and label of every entry."""
    if isinstance(labels, Tensor):
        rows = torch.arange(len(labels), device=labels.device)
        return rows.repeat_interleave(labels.shape[1]), labels.reshape(-1).long()
    lengths = torch.tensor([len(entry) for entry in labels])
    flat = torch.tensor([label for entry in labels for label in entry])
    if flat.numel() and (flat.is_floating_point() or flat.dtype == torch.bool):
        row = next(i for i, entry in enumerate(labels) if any(not _whole(label) for label in entry))
        raise refuse(
            argument,
            "be lists of whole numbers",
            f"row {start + row} holds {labels[row]!r}",
            "pass label numbers; for a matrix of booleans use Candidates.from_mask",
        )
    return torch.arange(len(labels)).repeat_interleave(lengths), flat.long()


def _whole(label: object) -> bool:
    return not isinstance(label, bool | float)


def _check_tensor(labels: Tensor, argument: str) -> Tensor:
    if labels.is_floating_point() or labels.dtype == torch.bool or labels.ndim not in (1, 2):
        raise refuse(
            argument,
            "be lists of labels or an integer tensor (instances, labels)",
            f"it is {labels.dtype} with shape {tuple(labels.shape)}",
            "for a matrix of booleans use Candidates.from_mask",
        )
    return labels.reshape(len(labels), -1)


def _check_labels(row: Tensor, label: Tensor, n_classes: int, argument: str) -> None:
    wrong = (label < 0) | (label >= n_classes)
    if bool(wrong.any()):
        first = int(wrong.nonzero()[0])
        raise refuse(
            argument,
            f"lie between 0 and {n_classes - 1}",
            f"row {int(row[first])} holds {int(label[first])}",
            "number the classes from 0, or raise n_classes",
        )
