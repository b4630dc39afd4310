"""Judging a predictor without true labels, beside held-out evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.diagnostics._checks import check_beside

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.beliefs import Belief

__all__ = ["approximated_accuracy", "covering_rate"]


def covering_rate(log_prediction: Tensor, belief: Belief) -> float:
    """Share of instances whose likeliest class by the prediction is one that the belief allows.

    A criterion of the partial-label literature; it says nothing where beliefs exclude nothing.

    Args:
        log_prediction: Log of q on held-out instances, `(instances, class)`.
        belief: About the same instances.

    Example:
        >>> import torch
        >>> from tacit.beliefs import Candidates
        >>> q = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
        >>> covering_rate(q.log(), Candidates([[0, 1], [0, 2]], n_classes=3))
        0.5
    """
    p = _marginals(log_prediction, belief)
    return float((p.gather(1, log_prediction.argmax(-1, keepdim=True)) > 0).double().mean())


def approximated_accuracy(log_prediction: Tensor, belief: Belief) -> float:
    """Share of right predictions, if the prediction itself tells how likely each allowed class is.

    The mean over the instances of p_i(l) q_i(l) / Σ_k p_i(k) q_i(k) at the class l where q_i is
    largest, with p the belief's marginals: a criterion of the partial-label literature.

    Args:
        log_prediction: Log of q on held-out instances, `(instances, class)`.
        belief: About the same instances.

    Example:
        >>> import torch
        >>> from tacit.beliefs import Candidates
        >>> q = torch.tensor([[0.6, 0.2, 0.2], [0.1, 0.8, 0.1]])
        >>> round(approximated_accuracy(q.log(), Candidates([[0, 1], [0, 2]], n_classes=3)), 3)
        0.375
    """
    joint = _marginals(log_prediction, belief).log() + log_prediction
    label = log_prediction.argmax(-1, keepdim=True)
    return float(joint.log_softmax(-1).gather(1, label).exp().nan_to_num().mean())


def _marginals(log_prediction: Tensor, belief: Belief) -> Tensor:
    check_beside(log_prediction, "log_prediction", belief)
    return belief.marginals(log_prediction.dtype).to(log_prediction.device)
