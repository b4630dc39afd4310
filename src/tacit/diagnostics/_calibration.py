"""Calibration: whether what is said with 0.8 is right four times in five."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit.diagnostics._checks import check_beside
from tacit.diagnostics._evidence import held_out_evidence
from tacit.errors import refuse

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["Reliability", "reliability", "temperature_by_evidence"]


class Reliability(NamedTuple):
    """A reliability diagram.

    Attributes:
        confidence: Mean confidence in each bin, `(bins,)`; NaN where a bin is empty.
        accuracy: Share that was right in each bin, or that was expected to be, `(bins,)`.
        size: Number of instances in each bin, `(bins,)`.
        error: Expected calibration error: the mean distance of the two, over all instances.
    """

    confidence: Tensor
    accuracy: Tensor
    size: Tensor
    error: float


def reliability(probabilities: Tensor, truth: Tensor | Belief, *, n_bins: int = 10) -> Reliability:
    """Compare how sure a table is of its likeliest classes with how often they are right.

    Args:
        probabilities: q or r, `(instances, class)`.
        truth: True labels, `(instances,)`; or a belief about other instances than those that were
            learned from, by which a class is right with the probability that the belief gives it.
            What a vague belief says of calibration is vague.
        n_bins: Bins of equal width between 0 and 1.

    Example:
        >>> q = torch.tensor([[0.75, 0.25], [0.75, 0.25], [0.75, 0.25], [0.25, 0.75]])
        >>> found = reliability(q, torch.tensor([0, 0, 1, 1]))
        >>> found.size.nonzero().item(), found.error
        (7, 0.0)
    """
    if n_bins < 1:
        raise refuse("n_bins", "be at least 1", f"it is {n_bins}", "try 10")
    sure, label = probabilities.double().max(-1)
    if isinstance(truth, torch.Tensor):
        if truth.shape != label.shape:
            raise refuse(
                "truth",
                f"have one label for each of the {len(label)} instances",
                f"its shape is {tuple(truth.shape)}",
                "pass both for the same instances, in the same order",
            )
        right = (label == truth.to(label.device)).double()
    else:
        check_beside(probabilities, "probabilities", truth)
        marginals = truth.marginals(torch.float64).to(label.device)
        right = marginals.gather(1, label.unsqueeze(1)).squeeze(1)
    place = (sure * n_bins).long().clamp(max=n_bins - 1)
    size = torch.bincount(place, minlength=n_bins)
    confidence = torch.bincount(place, sure, minlength=n_bins) / size
    accuracy = torch.bincount(place, right, minlength=n_bins) / size
    apart = (confidence - accuracy).abs().nan_to_num() * size
    return Reliability(confidence, accuracy, size, float(apart.sum() / max(len(sure), 1)))


def temperature_by_evidence(log_prediction: Tensor, belief: Belief) -> float:
    """The temperature of a prediction under which held-out instances are likeliest.

    q^(1/T), normalised, with the T that maximises `held_out_evidence`: no true label is needed, but
    instances that were not learned from. Above 1 the prediction was too sure of itself. Where
    beliefs are vague a hundred instances hardly tell it, and the mean of several networks is less
    sure than each of them: the estimator sets none by itself (decision 0017).

    Args:
        log_prediction: Log of q on held-out instances, `(instances, class)`.
        belief: About the same instances.

    Returns:
        T, between 1/20 and 20.

    Example:
        >>> from tacit.beliefs import Candidates
        >>> truth = torch.arange(300) % 3
        >>> wrong = torch.arange(300) % 10 == 0
        >>> said = torch.where(wrong, (truth + 1) % 3, truth)
        >>> log_q = (20 * torch.eye(3)[said]).log_softmax(1)
        >>> temperature_by_evidence(log_q, Candidates(truth, n_classes=3)) > 2
        True
    """
    q = log_prediction.detach().double()

    def evidence_at(log_temperature: float) -> float:
        return held_out_evidence((q / math.exp(log_temperature)).log_softmax(-1), belief)

    low, high = -math.log(20), math.log(20)
    for _ in range(4):  # a grid, then ever finer ones: the evidence may have several peaks
        grid = torch.linspace(low, high, 17).tolist()
        best = max(range(len(grid)), key=lambda place: evidence_at(grid[place]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return math.exp((low + high) / 2)
