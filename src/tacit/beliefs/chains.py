"""Sequences of instances in which each label depends on the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor

from tacit.beliefs._groups import Bucket, Grouped, flat_members
from tacit.beliefs._logspace import LOG_ZERO, normalised, rescaled
from tacit.beliefs.categorical import check_rows
from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["Chains"]

_CELLS: Final = 1 << 22
"""Pairs of labels that are looked at at a time: large enough to keep a processor busy."""


class Chains(Grouped):
    """Sequences whose labels follow a Markov chain.

        p(l_1, ..., l_k) = π(l_1) T(l_1, l_2) T(l_2, l_3) ... T(l_{k-1}, l_k)

    where T is `transition` and π is `initial`, both scaled to add up to one. Inference is exact, by
    messages that run along each sequence and back (the forward-backward algorithm), sequences of
    similar length at once, in time proportional to the length times the square of the number of
    classes.

    Args:
        sequences: Instance numbers in their order, one list per sequence; sequences may differ in
            length. An integer tensor `(sequences, position)` does as well.
        transition: Weight of each label given the one before it, `(label before, label)`; a row is
            known up to a factor, so that counts will do, and 0 is "never".
        initial: Weight of each label at the start of a sequence, `(class,)`, up to a factor. By
            default all labels are equally likely there.
        n_instances: Number of instances that the belief covers; of those in no sequence nothing is
            known.

    Raises:
        InvalidInputError: If the transition is not a square table, or if it or the initial weights
            hold NaN, a negative or an infinite number, or a row of nothing but zeros; if an
            instance comes twice or does not exist, or if there is no sequence.

    Example:
        >>> belief = Chains([[0, 2, 1]], [[9, 1], [0, 1]], initial=[1, 0], n_instances=3)
        >>> belief.marginals()
        tensor([[1.0000, 0.0000],
                [0.8100, 0.1900],
                [0.9000, 0.1000]])
    """

    def __init__(
        self,
        sequences: Sequence[Sequence[int]] | Sequence[Tensor] | Tensor,
        transition: Tensor | Sequence[Sequence[float]],
        *,
        initial: Tensor | Sequence[float] | None = None,
        n_instances: int,
    ) -> None:
        members, lengths = flat_members(sequences, "sequences")
        _check_sequences(lengths)
        table = torch.as_tensor(transition, dtype=torch.float64, device=members.device)
        _check_transition(table)
        start = torch.ones_like(table[0])
        if initial is not None:
            start = torch.as_tensor(initial, dtype=torch.float64, device=members.device)
            _check_initial(start, len(table))
        super().__init__(
            members, lengths, n_instances=n_instances, n_classes=len(table), argument="sequences"
        )
        self._log_transition = (table / table.sum(-1, keepdim=True)).log().clamp(min=LOG_ZERO)
        self._log_initial = (start / start.sum()).log().clamp(min=LOG_ZERO)

    def _infer(self, log_evidence: Tensor, bucket: Bucket) -> tuple[Tensor, Tensor]:
        evidence, log_scale = rescaled(log_evidence)
        log_transition = self._log_transition.to(evidence)
        log_initial = self._log_initial.to(evidence)
        upto, log_total = _forward(evidence, bucket.present, log_transition, log_initial)
        after = _backward(evidence, bucket.present, log_transition)
        log_marginals, _ = normalised(upto + after)
        return log_marginals, log_total + log_scale.sum(1)


def _forward(
    evidence: Tensor, present: Tensor, log_transition: Tensor, log_initial: Tensor
) -> tuple[Tensor, Tensor]:
    """Sum over the labels before each position.

    Args:
        evidence: Rescaled evidence, `(sequences, position, class)`.
        present: Which positions hold an instance, `(sequences, position)`; absent ones trail.
        log_transition: Log-probability of each label given the last, `(label before, label)`.
        log_initial: Log-probability of each label at the start, `(class,)`.

    Returns:
        Log-weight of each label given its own evidence and all before it, up to a constant per
        position, `(sequences, position, class)`, and the log-normaliser, `(sequences,)`.
    """
    message, log_scale = rescaled(log_initial + evidence[:, 0])
    messages = [message]
    for position in range(1, evidence.shape[1]):
        arriving = _log_step(message, log_transition) + evidence[:, position]
        heard, log_gain = rescaled(arriving)
        message = heard.where(present[:, position, None], message)
        log_scale = log_scale + log_gain.where(present[:, position], 0.0)
        messages.append(message)
    _, log_total = normalised(message)
    return torch.stack(messages, 1), log_total + log_scale


def _backward(evidence: Tensor, present: Tensor, log_transition: Tensor) -> Tensor:
    """Sum over the labels after each position.

    Returns:
        Log-weight of all evidence that follows, given the label, up to a constant per position,
        `(sequences, position, class)`.
    """
    message = torch.zeros_like(evidence[:, 0])
    messages = [message]
    for position in reversed(range(1, evidence.shape[1])):
        arriving = _log_step(message + evidence[:, position], log_transition.mT)
        message = rescaled(arriving).log_weights.where(present[:, position, None], message)
        messages.append(message)
    return torch.stack(messages[::-1], 1)


def _log_step(log_weights: Tensor, log_matrix: Tensor) -> Tensor:
    """Multiply by a matrix in log space.

        y_m = log Σ_l exp(x_l + M_{lm})

    Args:
        log_weights: The vectors x, `(sequences, l)`, finite.
        log_matrix: The matrix M, `(l, m)`, finite and constant to autograd.

    Returns:
        The vectors y, `(sequences, m)`.
    """
    step = max(1, _CELLS // log_matrix.numel())
    parts = [_LogStep.apply(part, log_matrix) for part in log_weights.split(step)]  # type: ignore[no-untyped-call]
    return torch.cat(parts) if len(parts) > 1 else parts[0]


class _LogStep(torch.autograd.Function):
    """Keeps the vectors alone: a table for each position of long sequences would not fit."""

    @staticmethod
    def forward(ctx: Any, log_weights: Tensor, log_matrix: Tensor) -> Tensor:
        log_sums = (log_weights.unsqueeze(-1) + log_matrix).logsumexp(-2)
        ctx.save_for_backward(log_weights, log_matrix, log_sums)
        return log_sums

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        log_weights, log_matrix, log_sums = ctx.saved_tensors
        log_shares = log_weights.unsqueeze(-1) + log_matrix - log_sums.unsqueeze(-2)
        return (log_shares.exp() @ gradient.unsqueeze(-1)).squeeze(-1), None


def _check_sequences(lengths: Tensor) -> None:
    if len(lengths) == 0:
        raise refuse(
            "sequences",
            "hold at least one sequence",
            "it is empty",
            "where nothing is known of any instance pass a Categorical of equal numbers",
        )


def _check_transition(transition: Tensor) -> None:
    if transition.ndim != 2 or transition.shape[0] != transition.shape[1] or not len(transition):
        raise refuse(
            "transition",
            "be a square table (label before, label)",
            f"its shape is {tuple(transition.shape)}",
            "pass one row and one column per class",
        )
    check_rows(transition, "transition", in_logs=False)


def _check_initial(initial: Tensor, n_classes: int) -> None:
    if tuple(initial.shape) != (n_classes,):
        raise refuse(
            "initial",
            f"have one weight for each of the {n_classes} classes of the transition",
            f"its shape is {tuple(initial.shape)}",
            "leave it out if all labels are equally likely at the start",
        )
    check_rows(initial.unsqueeze(0), "initial", in_logs=False)
