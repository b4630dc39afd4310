"""What an objective is made of: its value, and its gradient in closed form.

Inside the objectives tensors keep the layout of torch's losses, `(N, class)` or `(N, class, M)`:
moving the class axis would copy them, or slow every reduction over classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tacit.objectives._softmax import CLASS, log_softmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

__all__ = ["CLASS", "Formula", "Gradient", "Terms", "quiet", "quiet_"]


class Terms:
    """The distributions that a formula compares, each computed when first asked for.

    Args:
        log_prediction: Log of q.
        log_belief: Log of p, normalised where a formula's value needs it.
        log_mass: Log of S, broadcastable.
        log_posterior: Log of r where it is known; by default r ∝ p q / S (`eq:true_post`).
    """

    def __init__(
        self,
        log_prediction: Tensor,
        *,
        log_belief: Tensor | None,
        log_mass: Tensor,
        log_posterior: Tensor | None = None,
    ) -> None:
        self.log_q, self._log_p, self.log_S = log_prediction, log_belief, log_mass
        self._log_r = log_posterior
        self._q: Tensor | None = None
        self._r: Tensor | None = None

    @property
    def log_p(self) -> Tensor:
        """Log of the belief."""
        if self._log_p is None:
            raise RuntimeError("a formula that uses a belief was called without one")
        return self._log_p

    # Kept by hand: the lock in functools.cached_property stops torch.compile.

    @property
    def q(self) -> Tensor:
        """The prediction."""
        if self._q is None:
            self._q = self.log_q.exp()
        return self._q

    @property
    def log_r(self) -> Tensor:
        """Log of the posterior."""
        if self._log_r is None:
            self._log_r = log_softmax(self.log_q + (self.log_p - self.log_S))
        return self._log_r

    @property
    def r(self) -> Tensor:
        """The posterior."""
        if self._r is None:
            self._r = self.log_r.exp()
        return self._r


class Gradient(NamedTuple):
    """A formula's value and derivatives, instance by instance.

    Attributes:
        value: L_i, without the class axis.
        direct: dL_i / dlog q_ik with the class mass held still.
        through_mass: dL_i / dlog S_k; `None` where the mass is held still by definition.
    """

    value: Tensor
    direct: Tensor
    through_mass: Tensor | None


class Formula(NamedTuple):
    """One objective.

    Attributes:
        name: Its name in messages.
        value: L_i, differentiable by autograd through q, r and S.
        gradient: The same with its derivatives, for independent beliefs; outside of autograd, so
            that it may work in place on what it has made.
        uses_belief: Whether it looks at the belief.
        uses_posterior: Whether it looks at the posterior; if not, p itself must be normalised.
        uses_mass: Whether the class mass couples the instances.
        collapses: Whether it degenerates when no gradient flows through the class mass.
        overlooks: Whether a wrong number in its arguments can leave its value finite.
        smoothing: What is added to q and p by default.
    """

    name: str
    value: Callable[[Terms], Tensor]
    gradient: Callable[[Terms], Gradient]
    uses_belief: bool = True
    uses_posterior: bool = True
    uses_mass: bool = True
    collapses: bool = True
    overlooks: bool = False
    smoothing: float = 0.0


def quiet(values: Tensor, weight: Tensor) -> Tensor:
    """Values with those of weight zero set to zero, so that 0 log 0 is 0."""
    return values.masked_fill(weight == 0, 0.0)


def quiet_(values: Tensor, weight: Tensor) -> Tensor:
    """The same in place, for values that nobody else holds."""
    return values.masked_fill_(weight == 0, 0.0)
