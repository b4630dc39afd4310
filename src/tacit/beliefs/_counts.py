"""Exact inference in bags: labelings summed up by how many labels of each class they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.nn.functional import pad

from tacit.beliefs._correlation import log_convolve, log_correlate
from tacit.beliefs._logspace import LOG_ZERO
from tacit.beliefs._tally import Tallied

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs._tally import Tally

__all__ = ["infer_two_classes", "infer_vectors", "number_of_vectors"]


def infer_two_classes(log_weights: Tensor, present: Tensor, tally: Tally) -> Tallied:
    """Exact posterior of bags in which at most two classes occur, of any size.

    The count of the rarer class in a set of instances is the sum of the counts in its halves, so
    its distribution is the convolution of theirs; what the rest of the bag says of a half's count
    is a correlation. A tree of halves takes O(k n) operations in O(log k) steps, where n is the
    largest count that the rarer class can have.

    Args:
        log_weights: Log shares plus evidence, `(bags, position, class)`, finite.
        present: Which positions hold an instance, `(bags, position)`.
        tally: What is known of the counts.
    """
    classes = tally.counts.argsort(-1, descending=True)[:, :2]
    columns = classes.unsqueeze(1).expand(-1, log_weights.shape[1], -1)
    tally = tally.of_classes(classes)
    rarer = torch.arange(max(int(tally.most[:, 1].max()), 1) + 1, device=classes.device).double()
    vectors = torch.stack([tally.sizes.unsqueeze(-1) - rarer, rarer.expand(len(classes), -1)], -1)
    log_fit, log_expected = tally.log_fit(vectors)

    absent = log_weights.new_tensor([0.0, LOG_ZERO])
    leaves = log_weights.gather(-1, columns).where(present.unsqueeze(-1), absent)
    outside = log_fit.to(log_weights).unsqueeze(1)
    for level in reversed(_halves(leaves, len(rarer))):
        outside = _outside(level, outside)
    log_pair = leaves + outside[:, : leaves.shape[1]]
    log_marginals = torch.full_like(log_weights, LOG_ZERO).scatter(-1, columns, log_pair)
    return Tallied(log_marginals, log_pair[:, 0].logsumexp(-1) - log_expected.to(log_pair))


def number_of_vectors(tally: Tally) -> Tensor:
    """How many count vectors `infer_vectors` looks at in each bag, `(bags,)`, in float64."""
    by_count = tally.of_classes(tally.counts.argsort(-1, descending=True))
    return (by_count.most[:, 1:].double() + 1).prod(-1)


def infer_vectors(log_weights: Tensor, present: Tensor, tally: Tally) -> Tallied:
    """Exact posterior of bags with few count vectors.

    A dynamic programme over the counts of all classes but the most frequent one, whose count is
    the rest, runs along the bag and back: O(k V c) operations for V vectors and c classes that
    occur.

    Args:
        log_weights: Log shares plus evidence, `(bags, position, class)`, finite.
        present: Which positions hold an instance, `(bags, position)`.
        tally: What is known of the counts.
    """
    occurring = int((tally.counts > 0).sum(-1).max())
    classes = tally.counts.argsort(-1, descending=True)[:, :occurring]
    columns = classes.unsqueeze(1).expand(-1, log_weights.shape[1], -1)
    tally = tally.of_classes(classes)
    vectors = _vectors(tally)
    log_fit, log_expected = tally.log_fit(vectors.counts)
    log_occurring, log_total = _there_and_back(
        log_weights.gather(-1, columns), present, vectors, log_fit.to(log_weights)
    )
    log_marginals = torch.full_like(log_weights, LOG_ZERO).scatter(-1, columns, log_occurring)
    return Tallied(log_marginals, log_total - log_expected.to(log_total))


def _halves(leaves: Tensor, length: int) -> list[Tensor]:
    """Log-weight of each count in sets of one instance, of two, of four and so on to half the bag.

    Args:
        leaves: Log-weights of counts 0 and 1 at each position, `(bags, position, 2)`.
        length: Counts from this one on, at least 2, are of no interest.

    Returns:
        Log-weights for each level of the tree, `(bags, set, count)`.
    """
    bags, positions, _ = leaves.shape
    spare = (1 << (positions - 1).bit_length()) - positions
    absent = leaves.new_tensor([0.0, LOG_ZERO]).expand(bags, spare, 2)
    levels = [torch.cat([leaves, absent], 1)]
    while levels[-1].shape[1] > 2:
        left, right = levels[-1].unflatten(1, (-1, 2)).unbind(2)
        levels.append(log_convolve(left, right, min(2 * left.shape[-1] - 1, length)))
    return levels if positions > 1 else []


def _outside(level: Tensor, outside: Tensor) -> Tensor:
    """What the rest of the bag says of the count in each set, from what it says of pairs of sets.

    Args:
        level: Log-weight of each count in the sets, `(bags, set, count)`.
        outside: Log-weight of each count in a pair, given the rest, `(bags, set / 2, count)`.

    Returns:
        Log-weights `(bags, set, count)`.
    """
    missing = 2 * level.shape[-1] - 1 - outside.shape[-1]
    outside = pad(outside, (0, max(missing, 0)), value=LOG_ZERO)[..., : 2 * level.shape[-1] - 1]
    left, right = level.unflatten(1, (-1, 2)).unbind(2)
    of_left, of_right = log_correlate(outside, right), log_correlate(outside, left)
    return torch.stack([of_left, of_right], 2).flatten(1, 2)


class _Vectors(NamedTuple):
    """The count vectors that the first instances of some bags can have, padded to the most.

    Attributes:
        counts: The vectors of a whole bag, `(bags, vector, class)`.
        before: The number of the vector with one label less of a class, and the number of vectors
            where there is none, `(bags, class, vector)`.
        after: The same with one label more.
    """

    counts: Tensor
    before: Tensor
    after: Tensor


def _vectors(tally: Tally) -> _Vectors:
    """Number the count vectors in mixed radix, the first class left out as the rest."""
    base = tally.most[:, 1:] + 1
    stride = base.cumprod(-1) // base
    number = base.prod(-1, keepdim=True)
    limit = int(number.max())
    vector = torch.arange(limit, device=base.device).expand(len(base), 1, -1)
    base, stride = base.unsqueeze(-1), stride.unsqueeze(-1)
    counts = vector // stride % base
    first = tally.sizes.long().view(-1, 1, 1) - counts.sum(1, keepdim=True)
    real = vector < number.unsqueeze(-1)
    down = (vector - stride).where(counts > 0, limit)
    # Of what pads the shorter lists nothing may lead beyond the longest.
    up = (vector + stride).where((counts < base - 1) & real, limit)
    return _Vectors(
        torch.cat([first, counts], 1).where(real, -1).mT.double(),
        torch.cat([vector, down], 1),
        torch.cat([vector, up], 1),
    )


def _there_and_back(
    log_weights: Tensor, present: Tensor, vectors: _Vectors, log_fit: Tensor
) -> tuple[Tensor, Tensor]:
    """Run the dynamic programme along the bags and back.

    Returns:
        Log-weight of each label, `(bags, position, class)`, and of all labelings, `(bags,)`.
    """
    forward = torch.full_like(log_fit, LOG_ZERO)
    forward[:, 0] = 0.0
    forwards = []
    for position in range(log_weights.shape[1]):
        forwards.append(forward)
        arriving = _look_up(forward, vectors.before) + log_weights[:, position].unsqueeze(-1)
        forward = arriving.logsumexp(1).where(present[:, position, None], forward)
    backward, log_marginals = log_fit, []
    for position in reversed(range(log_weights.shape[1])):
        leaving = _look_up(backward, vectors.after) + log_weights[:, position].unsqueeze(-1)
        log_marginals.append((forwards[position].unsqueeze(1) + leaving).logsumexp(-1))
        backward = leaving.logsumexp(1).where(present[:, position, None], backward)
    return torch.stack(log_marginals[::-1], 1), (forward + log_fit).logsumexp(-1)


def _look_up(log_weights: Tensor, vectors: Tensor) -> Tensor:
    """Log-weights `(bags, vector)` at the numbers `(bags, class, vector)`."""
    extended = pad(log_weights, (0, 1), value=LOG_ZERO)
    return extended.gather(-1, vectors.flatten(1)).view(vectors.shape)
