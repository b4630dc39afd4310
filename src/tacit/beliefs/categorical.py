"""One distribution over the classes for each instance, stored densely."""

from __future__ import annotations

import copy
from typing import Self

import torch
from torch import Tensor

from tacit.beliefs._base import Independent, Rows, taken
from tacit.beliefs._lists import from_array
from tacit.errors import refuse

__all__ = ["Categorical"]


class Categorical(Independent):
    """A dense matrix of probabilities, one row per instance.

    Rows need not sum to one: a row is known up to a factor, and scaling it changes nothing. The
    tensor is kept as it came; nothing is copied. A numpy array does as well, and shares its memory.

    Args:
        probabilities: Belief in each class, `(instances, class)`; finite, at least 0, and above 0
            somewhere in each row.
        validate: Whether to look at the values, one pass over the data.

    Example:
        >>> import torch
        >>> belief = Categorical(torch.tensor([[1.0, 1.0, 2.0], [0.0, 3.0, 1.0]]))
        >>> belief.marginals()
        tensor([[0.2500, 0.2500, 0.5000],
                [0.0000, 0.7500, 0.2500]])
    """

    def __init__(self, probabilities: Tensor, *, validate: bool = True) -> None:
        self._set(probabilities, "probabilities", in_logs=False, validate=validate)

    @classmethod
    def from_log(cls, log_probabilities: Tensor, *, validate: bool = True) -> Self:
        """The same from log-probabilities, which keep beliefs apart that are tiny as numbers.

        Args:
            log_probabilities: Log of the belief, `(instances, class)`, up to a constant per row;
                minus infinity is "never".
            validate: Whether to look at the values, one pass over the data.

        Example:
            >>> import torch
            >>> Categorical.from_log(torch.tensor([[0.0, -1000.0, -1001.0]])).log_probabilities()
            tensor([[    0., -1000., -1001.]])
        """
        belief = cls.__new__(cls)
        belief._set(log_probabilities, "log_probabilities", in_logs=True, validate=validate)
        return belief

    def __len__(self) -> int:
        return self._table.shape[0]

    @property
    def device(self) -> torch.device:
        return self._table.device

    @property
    def dtype(self) -> torch.dtype:
        return torch.promote_types(self._table.dtype, torch.float32)

    def dense(self) -> tuple[Tensor, bool]:
        return self._table, self._in_logs

    def log_probabilities(self, dtype: torch.dtype = torch.float32) -> Tensor:
        # In the better of the two precisions, so that what is tiny in the table does not vanish.
        table = self._table.to(torch.promote_types(self.dtype, dtype))
        if self._in_logs:
            return table.log_softmax(-1).to(dtype)
        # By their maximum first, as the sum of large numbers may be infinite.
        table = table / table.amax(-1, keepdim=True)
        return (table / table.sum(-1, keepdim=True)).log().to(dtype)

    def __getitem__(self, rows: Rows) -> Self:
        return self._with_table(taken(self._table, rows))

    def rows_at(self, index: Tensor) -> Self:
        return self._with_table(self._table.index_select(0, index))

    def _with_table(self, table: Tensor) -> Self:
        belief = copy.copy(self)
        belief._table = table
        return belief

    def _set(self, values: Tensor, argument: str, *, in_logs: bool, validate: bool) -> None:
        table = from_array(values, argument)
        if not isinstance(table, Tensor) or table.ndim != 2 or not table.is_floating_point():
            got = (
                f"it is {table.dtype} with shape {tuple(table.shape)}"
                if isinstance(table, Tensor)
                else f"it is a {type(table).__name__}"
            )
            raise refuse(
                argument,
                "be a floating-point tensor (instances, class)",
                got,
                "convert it with torch.as_tensor(..., dtype=torch.float32)",
            )
        if table.shape[1] < 2:
            raise refuse(
                argument,
                "have at least 2 classes",
                f"it has {table.shape[1]}",
                "with one class there is nothing to resolve",
            )
        if validate:
            check_rows(table, argument, in_logs=in_logs)
        self._table, self._in_logs = table, in_logs
        self.n_classes = table.shape[1]


def check_rows(table: Tensor, argument: str, *, in_logs: bool) -> None:
    """Refuse a matrix of beliefs with a row that is not a belief, naming the first one."""
    floor = -torch.inf if in_logs else 0.0
    wrong = ~((table >= floor) & (table < torch.inf))
    if bool(wrong.any()):
        row, label = (int(i) for i in wrong.nonzero()[0])
        raise refuse(
            argument,
            "be below infinity and not NaN" if in_logs else "be finite and at least 0",
            f"row {row}, class {label} holds {table[row, label].item()}",
            "mend the row, or drop it; for a row of which nothing is known pass equal numbers",
        )
    hopeless = (table <= floor).all(-1)
    if bool(hopeless.any()):
        nothing = "all minus infinity" if in_logs else "all zero"
        raise refuse(
            argument,
            "allow at least one class in each row",
            f"row {int(hopeless.nonzero()[0])} is {nothing}",
            "for a row of which nothing is known pass equal numbers",
        )
