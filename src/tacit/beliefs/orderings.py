"""Lists of instances whose labels are known to be in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import pad

from tacit.beliefs._groups import Bucket, Grouped, flat_members
from tacit.beliefs._logspace import normalised, rescaled
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["Orderings", "count_orderings"]


class Orderings(Grouped):
    r"""Lists whose labels ascend: uniform over all labelings that are in order.

    .. math:: p(l_1, \dots, l_k) \propto 1[l_1 < \dots < l_k] \quad\text{or}\quad
        1[l_1 \le \dots \le l_k]

    Classes are ranks here: class 0 is the lowest. Inference is exact, by messages that run along
    each list and back, in time and memory proportional to the list's length k times the number of
    classes L. An ordering of two instances is a pair (`Pairs.greater`, `Pairs.greater_equal`).

    Args:
        lists: Instance numbers in their order, one list per ordering; lists may differ in length.
            An integer tensor `(lists, position)` does as well.
        n_classes: Number of classes L.
        n_instances: Number of instances that the belief covers; of those in no list nothing is
            known.
        strict: Whether each label is above the one before it (True), or level with it or above
            (False).
        descending: Whether lists run from the highest label to the lowest.

    Raises:
        InvalidInputError: If a strict list has more members than there are classes, if an
            instance comes twice or does not exist, or if there is no list.

    Example:
        >>> belief = Orderings([[0, 2]], n_classes=3, n_instances=3, strict=True)
        >>> belief.marginals()
        tensor([[0.6667, 0.3333, 0.0000],
                [0.3333, 0.3333, 0.3333],
                [0.0000, 0.3333, 0.6667]])
    """

    def __init__(
        self,
        lists: Sequence[Sequence[int]] | Sequence[Tensor] | Tensor,
        *,
        n_classes: int,
        n_instances: int,
        strict: bool,
        descending: bool = False,
    ) -> None:
        members, lengths = flat_members(lists, "lists")
        _check_lists(lengths, n_classes, strict=strict)
        if descending:
            members = _backwards(members, lengths)
        super().__init__(
            members, lengths, n_instances=n_instances, n_classes=n_classes, argument="lists"
        )
        self.strict = strict

    def _infer(self, log_evidence: Tensor, bucket: Bucket) -> tuple[Tensor, Tensor]:
        evidence, log_scale = rescaled(log_evidence)
        present = bucket.present
        before, _ = _messages(evidence, present, strict=self.strict)
        # Seen from its end, with the classes turned round, an ascending list ascends.
        after, log_after = _messages(evidence.flip(1, 2), present.flip(1), strict=self.strict)
        log_marginals, log_total = normalised(evidence + before + after.flip(1, 2))
        log_normaliser = log_total[:, 0] + log_after[:, -1] + log_scale.sum(1)
        count = count_orderings(present.sum(1), self.n_classes, strict=self.strict)
        return log_marginals, log_normaliser - count.to(log_normaliser.dtype)


def count_orderings(lengths: Tensor, n_classes: int, *, strict: bool) -> Tensor:
    r"""Log of the number of ways to label lists in order.

    .. math:: \binom{L}{k}\text{ strict}, \qquad \binom{L+k-1}{k}\text{ weak}

    Args:
        lengths: Lengths k of the lists; any shape.
        n_classes: Number of classes L; at least k where strict.
        strict: Whether equal labels are out of order.

    Returns:
        Log counts in float64, in the shape of `lengths`.

    Example:
        >>> import torch
        >>> count_orderings(torch.tensor([2]), 10, strict=True).exp()
        tensor([45.0000], dtype=torch.float64)
        >>> count_orderings(torch.tensor([2]), 10, strict=False).exp()
        tensor([55.0000], dtype=torch.float64)
    """
    # In float64, because the difference of large lgammas is far smaller than each of them.
    chosen = lengths.double()
    choices = torch.full_like(chosen, n_classes) if strict else chosen + (n_classes - 1)
    return (choices + 1).lgamma() - (chosen + 1).lgamma() - (choices - chosen + 1).lgamma()


def _messages(evidence: Tensor, present: Tensor, *, strict: bool) -> tuple[Tensor, Tensor]:
    """What the earlier members of each list say about the label of each position.

    The message to a position is the log-weight of all labelings in order of the members before
    it, for each label that the next member may have. Absent positions, which may lead or trail,
    pass it on.

    Args:
        evidence: Rescaled evidence, `(lists, position, class)`.
        present: Which positions hold a member, `(lists, position)`.
        strict: Whether equal labels are out of order.

    Returns:
        Rescaled messages `(lists, position, class)`, and the log of their scale,
        `(lists, position)`.
    """
    message, log_scale = torch.zeros_like(evidence[:, 0]), torch.zeros_like(evidence[:, 0, 0])
    messages, log_scales = [message], [log_scale]
    for position in range(evidence.shape[1] - 1):
        ending_below = (message + evidence[:, position]).logcumsumexp(-1)
        if strict:
            ending_below = pad(ending_below[:, :-1], (1, 0), value=-torch.inf)
        heard, log_gain = rescaled(ending_below)
        message = heard.where(present[:, position, None], message)
        log_scale = log_scale + log_gain.where(present[:, position], 0.0)
        messages.append(message)
        log_scales.append(log_scale)
    return torch.stack(messages, 1), torch.stack(log_scales, 1)


def _backwards(members: Tensor, lengths: Tensor) -> Tensor:
    """The same lists, one after the other, each read from its end."""
    ends = lengths.cumsum(0)
    first_plus_last = torch.repeat_interleave(2 * ends - lengths - 1, lengths)
    return members[first_plus_last - torch.arange(len(members), device=members.device)]


def _check_lists(lengths: Tensor, n_classes: int, *, strict: bool) -> None:
    if len(lengths) == 0:
        raise refuse(
            "lists",
            "hold at least one list",
            "it is empty",
            "where nothing is known of any instance pass a Categorical of equal numbers",
        )
    too_long = lengths > n_classes
    if strict and bool(too_long.any()):
        row = int(too_long.nonzero()[0])
        raise refuse(
            "lists",
            f"have at most n_classes = {n_classes} members each to be in strict order",
            f"list {row} has {int(lengths[row])}",
            "pass strict=False if labels may be equal, shorten the list or raise n_classes",
        )
