"""Noisy labels: what was written down, and how it comes from what is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tacit.errors import refuse
from tacit.sources._numbers import check_range, real_numbers, whole_numbers
from tacit.sources._voted import Voted, confusions
from tacit.sources._votes import Votes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

__all__ = ["check_transition", "noisy_labels", "transition_from_anchors", "transition_from_trusted"]


def noisy_labels(
    labels: Tensor | NDArray[Any] | Sequence[int],
    transition: Tensor | NDArray[Any] | Sequence[Sequence[float]],
    *,
    balance: Tensor | NDArray[Any] | Sequence[float] | None = None,
    abstains: int = -1,
    learns: bool = False,
) -> Voted:
    """The belief about labels that were written down with errors.

        p_i(l) ∝ π_l T[l, a_i]

    where T[l, a] is the probability that a is written where l is true: the votes of a single
    source, with T for its reliability. Where rows of T are equal, what is written tells nothing of
    these classes, and they stay as likely as π has them: `tacit.diagnostics.indistinct` names them.

    Args:
        labels: a, what was written down, `(instances,)`.
        transition: T, `(class, written)`; rows sum to one.
        balance: π, the share of each class; equal by default.
        abstains: The number that stands for a label that is missing.
        learns: Whether the transition is estimated anew as a predictor learns.

    Example:
        >>> belief = noisy_labels([0, 1, -1], [[0.9, 0.1], [0.2, 0.8]])
        >>> belief.marginals()
        tensor([[0.8182, 0.1818],
                [0.1111, 0.8889],
                [0.5000, 0.5000]])
    """
    table = check_transition(transition)
    written = whole_numbers(labels, "labels", "instance")
    n_classes = len(table)
    fix = f"number the classes from 0, and what is missing {abstains}"
    check_range(
        written.masked_fill(written == abstains, 0), "labels", "instance", 0, n_classes, fix
    )
    votes = Votes.from_matrix(
        written.unsqueeze(1), n_classes=n_classes, abstains=abstains, all_asked=False
    )
    shares = torch.ones(n_classes) if balance is None else torch.as_tensor(balance)
    return Voted(votes, table.unsqueeze(0), shares, learns=learns)


def check_transition(transition: Tensor | NDArray[Any] | Sequence[Sequence[float]]) -> Tensor:
    """Refuse what is no transition, T of `noisy_labels`.

    Args:
        transition: T, `(class, written)`.

    Returns:
        The same in float64.
    """
    table = real_numbers(transition, "transition", "(class, written)")
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise refuse(
            "transition",
            "be a square table (class, written)",
            f"its shape is {tuple(table.shape)}",
            "for other observations than the classes themselves use cooccurrence",
        )
    wrong = ~((table >= 0).all(1) & ((table.sum(1) - 1).abs() <= _ROUNDING))
    if bool(wrong.any()):
        row = int(wrong.nonzero()[0])
        raise refuse(
            "transition",
            "hold rows of shares, which sum to 1",
            f"row {row} is {table[row].tolist()[:8]}",
            "divide each row by its sum, and turn the table if columns are of what is true",
        )
    return table


_ROUNDING = 1e-3
"""How far from 1 shares may sum to."""


def transition_from_trusted(
    written: Tensor | NDArray[Any] | Sequence[int],
    true: Tensor | NDArray[Any] | Sequence[int],
    *,
    n_classes: int,
    strength: float = 1.0,
) -> Tensor:
    """The transition of noisy labels, counted where the truth is known.

    Args:
        written: What was written down, for the trusted few.
        true: What is true of them.
        n_classes: Number of classes.
        strength: Labels that the prior is worth: that people mean to be right.

    Returns:
        T, `(class, written)`, in float64.

    Example:
        >>> transition_from_trusted([0, 0, 1, 1], [0, 0, 0, 1], n_classes=2)
        tensor([[0.6750, 0.3250],
                [0.0833, 0.9167]], dtype=torch.float64)
    """
    said = whole_numbers(written, "written", "instance")
    truth = whole_numbers(true, "true", "instance")
    check_range(said, "written", "instance", 0, n_classes, "number the classes from 0")
    votes = Votes.from_lists(
        torch.arange(len(said)), torch.zeros_like(said), said, n_sources=1, n_classes=n_classes
    )
    if truth.shape != said.shape or bool(((truth < 0) | (truth >= n_classes)).any()):
        raise refuse(
            "true",
            f"be {len(said)} labels from 0 to {n_classes - 1}, like `written`",
            f"its shape is {tuple(truth.shape)}, its entries {truth.unique().tolist()[:6]}",
            "pass the true label of each",
        )
    certain = torch.nn.functional.one_hot(truth, n_classes).double()
    return confusions(votes, certain, strength)[0][0]


def transition_from_anchors(
    prediction_of_written: Tensor | NDArray[Any], *, quantile: float = 0.97
) -> Tensor:
    """The transition of noisy labels, read off at the instances that are surest of each class.

    Where a predictor of what is *written* is all but sure of a class, the class is true, and what
    else it gives weight to are the errors: T[l, :] is its prediction there. This supposes that each
    class has such anchors.

    Args:
        prediction_of_written: A classifier's prediction of the noisy label, `(instances, class)`.
        quantile: Which instance is the anchor of a class: 1 is the surest, less is more robust.

    Returns:
        T, `(class, written)`, in float64.

    Example:
        >>> transition_from_anchors(torch.tensor([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), quantile=1)
        tensor([[0.9000, 0.1000],
                [0.2000, 0.8000]], dtype=torch.float64)
    """
    q = real_numbers(prediction_of_written, "prediction_of_written", "(instances, class)")
    is_table = q.ndim == 2 and len(q) > 0
    sound = (q >= 0).all(-1) & ((q.sum(-1) - 1).abs() <= _ROUNDING)
    if not is_table or not bool(sound.all()):
        got = f"its shape is {tuple(q.shape)}"
        if is_table:
            row = int((~sound).nonzero()[0])
            got = f"row {row} is {q[row].tolist()[:8]}"
        raise refuse(
            "prediction_of_written",
            "be probabilities (instances, class)",
            got,
            "pass predict_proba of a classifier that was fitted to the noisy labels",
        )
    if not 0 < quantile <= 1:
        raise refuse("quantile", "be above 0 and at most 1", f"it is {quantile}", "try 0.97")
    place = round(quantile * (len(q) - 1))
    anchors = q.argsort(dim=0)[place]
    table = q[anchors]
    return table / table.sum(1, keepdim=True)
