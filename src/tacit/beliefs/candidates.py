"""Sets of labels that each instance may have, one bit per instance and class."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Final, Self, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import pad

from tacit.beliefs._base import Independent, Rows, taken
from tacit.beliefs._lists import flattened, from_array
from tacit.beliefs._product import check_same_collection, nothing_left
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tacit.beliefs._base import Belief

__all__ = ["Candidates"]

_LabelList: TypeAlias = "Sequence[Sequence[int]] | Sequence[Tensor] | Tensor"

_ROWS: Final = 1 << 14
"""Lists that are looked at at a time."""

_SLAB: Final = 1 << 20
"""Entries of a mask, or labels of a table, that are looked at at a time: they fit into a cache."""


class Candidates(Independent):
    """Sets of allowed labels: uniform over the set, impossible outside it.

    Kept as bits: 10 million instances with 1,000 classes take 1.25 GB. The product of two is their
    intersection.

    Args:
        labels: For each instance the list of labels it may have; lists may differ in length. An
            integer tensor or numpy array `(instances, candidates)` does as well, or
            `(instances,)` where each label is known.
        n_classes: Number of classes; labels run from 0 to `n_classes - 1`.

    Example:
        >>> Candidates([[0, 2], [1]], n_classes=3).marginals()
        tensor([[0.5000, 0.0000, 0.5000],
                [0.0000, 1.0000, 0.0000]])
    """

    def __init__(self, labels: _LabelList, *, n_classes: int) -> None:
        _check_classes(n_classes, "n_classes")
        self._set(_pack_labels(labels, n_classes), n_classes, "labels")

    @classmethod
    def excluding(cls, labels: _LabelList, *, n_classes: int) -> Self:
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
        _check_classes(n_classes, "n_classes")
        bits = _pack_labels(labels, n_classes).bitwise_not_()
        bits[:, -1] &= (1 << ((n_classes - 1) % 8 + 1)) - 1  # bits beyond the last class stay 0
        belief = cls.__new__(cls)
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
        table = from_array(mask, "mask")
        if not isinstance(table, Tensor) or table.dtype != torch.bool or table.ndim != 2:
            got = (
                f"{table.dtype} with shape {tuple(table.shape)}"
                if isinstance(table, Tensor)
                else f"a {type(table).__name__}"
            )
            raise refuse(
                "mask",
                "be a boolean tensor (instances, class)",
                f"it is {got}",
                "compare the numbers with a threshold first, as in probabilities > 0",
            )
        _check_classes(table.shape[1], "mask")
        belief = cls.__new__(cls)
        belief._set(_pack_mask(table), table.shape[1], "mask")
        return belief

    @classmethod
    def joined(cls, parts: Iterable[Candidates]) -> Self:
        """The sets of several collections, one after the other.

        What is too large as lists or as a mask can so be stated part by part.

        Args:
            parts: Beliefs about the same classes, on one device.

        Example:
            >>> first = Candidates([[0, 2], [1]], n_classes=3)
            >>> Candidates.joined([first, first[:1]]).labels()
            [[0, 2], [1], [0, 2]]
        """
        bits, n_classes, stop = None, 0, 0
        for part in parts:
            start, stop = stop, stop + len(part)
            n_classes = n_classes or part.n_classes
            _check_same_classes(n_classes, part.n_classes)
            bits = _with_room(bits, stop, part._bits)
            bits[start:stop] = part._bits
        if bits is None:
            raise refuse("parts", "hold at least one belief", "it is empty", "pass some")
        belief = cls.__new__(cls)
        belief._bits, belief.n_classes = bits[:stop].clone(), n_classes
        return belief

    def __len__(self) -> int:
        return self._bits.shape[0]

    @property
    def device(self) -> torch.device:
        return self._bits.device

    def mask(self) -> Tensor:
        """Which labels each instance may have, `(instances, class)`."""
        spread = _spread(self.device).index_select(0, self._bits.flatten().int())
        mask = spread.view(torch.bool).view(len(self), 8 * self._bits.shape[1])
        return mask[:, : self.n_classes].contiguous()

    def dense(self) -> tuple[Tensor, bool]:
        return self.mask(), False

    def labels(self) -> list[list[int]]:
        """The allowed labels of each instance as lists."""
        labels: list[list[int]] = []
        step = max(1, _SLAB // self.n_classes)
        for start in range(0, len(self), step):
            part = self[start : start + step]
            _, label = part.mask().nonzero().unbind(1)
            labels.extend(each.tolist() for each in label.split(part.sizes().tolist()))
        return labels

    def sizes(self) -> Tensor:
        """Number of allowed labels of each instance, `(instances,)`."""
        count = torch.tensor([byte.bit_count() for byte in range(256)], device=self.device)
        sizes = count.new_empty(len(self))
        step = max(1, _SLAB // self.n_classes)
        for part, size in zip(self._bits.split(step), sizes.split(step), strict=True):
            size.copy_(count[part.int()].sum(-1))
        return sizes

    def log_probabilities(self, dtype: torch.dtype = torch.float32) -> Tensor:
        mask = self.mask()
        log_size = mask.sum(-1, keepdim=True).to(dtype).log()
        return (-log_size).expand(mask.shape).masked_fill(~mask, -torch.inf)

    def __getitem__(self, rows: Rows) -> Self:
        return self._with_bits(taken(self._bits, rows))

    def rows_at(self, index: Tensor) -> Self:
        return self._with_bits(self._bits.index_select(0, index))

    def __mul__(self, other: Independent) -> Belief:
        return self._shared(other) if isinstance(other, Candidates) else super().__mul__(other)

    def _shared(self, other: Candidates) -> Self:
        check_same_collection(self, other)
        bits = self._bits & other._bits
        if (row := _first_empty(bits)) is not None:
            raise nothing_left(row)
        return self._with_bits(bits)

    def _with_bits(self, bits: Tensor) -> Self:
        belief = copy.copy(self)
        belief._bits = bits
        return belief

    def _set(self, bits: Tensor, n_classes: int, argument: str) -> None:
        if (row := _first_empty(bits)) is not None:
            raise refuse(
                argument,
                "leave each instance at least one label",
                f"row {row} leaves none",
                "allow every label where nothing is known",
            )
        self._bits, self.n_classes = bits, n_classes


def _spread(device: torch.device) -> Tensor:
    """For each byte its eight bits as eight bytes, which are read as one number, `(byte,)`."""
    byte, place = torch.arange(256, device=device), torch.arange(8, device=device)
    return (byte.unsqueeze(-1) >> place & 1).to(torch.uint8).view(torch.int64).squeeze(-1)


def _first_empty(bits: Tensor) -> int | None:
    """The first row without a label."""
    empty = bits.any(-1) == 0
    return int(empty.nonzero()[0]) if bool(empty.any()) else None


def _with_room(bits: Tensor | None, n_rows: int, like: Tensor) -> Tensor:
    """A table with room for so many rows: the same one, or one of twice the size.

    Parts are not kept until the last has come: between other tables that come and go, each would
    leave a hole in the memory several times its size.
    """
    if bits is None:
        return like.new_empty(n_rows, like.shape[1])
    if n_rows <= len(bits):
        return bits
    wider = bits.new_empty(max(n_rows, 2 * len(bits)), bits.shape[1])
    wider[: len(bits)] = bits
    return wider


def _n_bytes(n_classes: int) -> int:
    return -(-n_classes // 8)


def _pack_mask(mask: Tensor) -> Tensor:
    """Eight booleans to a byte, the first class in the lowest bit, a slab at a time."""
    bits = mask.new_empty(len(mask), _n_bytes(mask.shape[1]), dtype=torch.uint8)
    step = max(1, _SLAB // mask.shape[1])
    for part, packed in zip(mask.split(step), bits.split(step), strict=True):
        eights = pad(part, (0, -mask.shape[1] % 8)).contiguous().view(torch.int64)
        # Byte i of each eight moves to bit 56 + i, and no two terms of the product meet.
        packed.copy_(eights * 0x0102040810204080 >> 56)
    return bits


def _pack_labels(labels: _LabelList, n_classes: int) -> Tensor:
    """Set the bits of the labels, those of a slab of rows at a time."""
    table = from_array(labels, "labels")
    if isinstance(table, Tensor):
        table = _check_table(table)
    device = table.device if isinstance(table, Tensor) else None
    bits = torch.zeros(len(labels), _n_bytes(n_classes), dtype=torch.uint8, device=device)
    for row, label in _entries(table if isinstance(table, Tensor) else labels):
        _check_labels(row, label, n_classes)
        _set_bits(bits, row, label)
    return bits


def _entries(labels: _LabelList) -> Iterator[tuple[Tensor, Tensor]]:
    """Row number and label of all entries, slab by slab."""
    if isinstance(labels, Tensor):
        step = max(1, _SLAB // max(labels.shape[1], 1))
        for start in range(0, len(labels), step):
            part = labels[start : start + step].long()
            row = torch.arange(start, start + len(part), device=part.device)
            yield row.repeat_interleave(part.shape[1]), part.flatten()
        return
    for start in range(0, len(labels), _ROWS):
        label, lengths = flattened(labels[start : start + _ROWS], "labels", row="row", first=start)
        row = torch.arange(start, start + len(lengths), device=label.device)
        yield row.repeat_interleave(lengths), label


def _set_bits(bits: Tensor, row: Tensor, label: Tensor) -> None:
    """Set one bit for each entry; an entry may come twice.

    One place of the byte at a time: entries that meet in a byte then have the same bit, so that it
    does not matter which of them is written last.
    """
    byte, place = row * bits.shape[1] + (label >> 3), (label & 7).byte()
    flat = bits.view(-1)
    for bit in range(8):
        at = byte.masked_select(place == bit)
        flat.index_copy_(0, at, flat.index_select(0, at) | 1 << bit)


def _check_table(labels: Tensor) -> Tensor:
    if labels.is_floating_point() or labels.dtype == torch.bool or labels.ndim not in (1, 2):
        raise refuse(
            "labels",
            "be lists of labels or an integer tensor (instances, labels)",
            f"it is {labels.dtype} with shape {tuple(labels.shape)}",
            "for a matrix of booleans use Candidates.from_mask",
        )
    return labels.unsqueeze(1) if labels.ndim == 1 else labels


def _check_labels(row: Tensor, label: Tensor, n_classes: int) -> None:
    wrong = (label < 0) | (label >= n_classes)
    if bool(wrong.any()):
        first = int(wrong.nonzero()[0])
        raise refuse(
            "labels",
            f"lie between 0 and {n_classes - 1}",
            f"row {int(row[first])} holds {int(label[first])}",
            "number the classes from 0, or raise n_classes",
        )


def _check_classes(n_classes: int, argument: str) -> None:
    if n_classes < 2:
        raise refuse(
            argument,
            "speak of at least 2 classes",
            f"it speaks of {n_classes}",
            "with one class there is nothing to resolve",
        )


def _check_same_classes(n_classes: int, others: int) -> None:
    if n_classes != others:
        raise refuse(
            "parts",
            "be about the same number of classes",
            f"they have {n_classes} and {others}",
            "state each part with the same n_classes",
        )
