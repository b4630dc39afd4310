"""A coarse map, which says of blocks of pixels what tells of each pixel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from tacit.errors import refuse
from tacit.objectives._slabs import smoothed
from tacit.sources._blur import blurred, with_context
from tacit.sources._cooccurrence import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Layer", "coarse_map"]


class Layer(NamedTuple):
    """Where a map of one thing (roads, buildings, water) shows it, and what that tells.

    Attributes:
        mask: m, 1 where it is, 0 where it is not, NaN where that is not known,
            `(..., height, width)`; values between are shares.
        supports: The number of the class that it speaks for.
        weight: w, above 0. Of a product, how many times as likely the class is where the layer is,
            compared with all others; of a sum, the belief that is added.
        sigma: Standard deviation of its blur in pixels, for places that are only nearly right; 0
            for none.
        how: "product", which takes the layer for independent of the coarse map, or "sum", as in the
            paper's hand-coded prior.
    """

    mask: Tensor | NDArray[Any]
    supports: int
    weight: float
    sigma: float = 0.0
    how: Literal["product", "sum"] = "product"

    @property
    def reach(self) -> int:
        """Pixels on each side that its blur looks at."""
        return math.ceil(4 * self.sigma)


def coarse_map(
    codes: Tensor | NDArray[Any],
    table: Tensor | NDArray[Any] | Sequence[Sequence[float]],
    *,
    sigma: float = 31.0,
    reach: int = 50,
    smoothing: float = 1e-4,
    layers: Sequence[Layer] = (),
    border: int = 0,
) -> Tensor:
    """The belief about the class of each pixel that a map of coarser classes gives.

        p_i(l) ∝ Σ_j g(i - j) p(l | c_j),   then   (p + ε) / (1 + C ε)

    A pixel believes what the coarse classes around it tell, the nearer the more: blocks have no
    edges in the world. What is not known counts as if it were not there: the sum goes over known
    pixels, as beyond the edges of the map, and where none is in reach all classes are as likely.
    Layers come last,

        p(l) ∝ [p(l) + Σ w m [l = k]] Π (1 + (w - 1) m [l = k])

    with the sum over layers that are added and the product over the others, whatever their order. A
    layer says nothing where it is not known. ε comes before them, so that a layer can speak for a
    class that the coarse map does not expect.

    Args:
        codes: c, rows of the table, `(..., height, width)`; -1 where nothing is known.
        table: p(class | coarse class), `(coarse class, class)`, up to a factor for each row. A row
            of zeros, of what was never seen, says nothing.
        sigma: Standard deviation of the Gaussian g, in pixels; 0 for no blur.
        reach: Pixels on each side after which g is cut off.
        smoothing: ε, which keeps every class possible.
        layers: Maps of single things, of the height and width of `codes`.
        border: Pixels on each side that are context alone and left out of what is returned. Windows
            that overlap by the larger of all reaches join without a trace.

    Returns:
        p, `(..., class, height - 2 border, width - 2 border)`, in the precision of the table, and
        at least float32; `border` wider than needed changes nothing.

    Example:
        >>> codes = torch.tensor([[0, 0, 0, 1, 1, -1]])
        >>> belief = coarse_map(codes, [[0.9, 0.1], [0.2, 0.8]], sigma=1, reach=2, smoothing=0)
        >>> belief[0]
        tensor([[0.9000, 0.8597, 0.6909, 0.4211, 0.2544, 0.2000]])
    """
    _check_settings(sigma, reach, smoothing, border)
    given = torch.as_tensor(table).dtype
    rows = rows_of(table).to(torch.promote_types(given, torch.float32))
    seen = _checked(codes, len(rows), border)
    rows = (rows / rows.sum(1, keepdim=True)).to(seen.device)
    # -1 takes the last row, whose zeros leave a pixel out of the sums.
    shares = torch.cat([rows, rows.new_zeros(1, rows.shape[1])]).t()[:, seen].movedim(0, -3)
    cut = reach if sigma else 0
    near = blurred(with_context(shares, has=border, needs=cut), sigma, cut)
    # Dividing by the sum over classes divides by the known share of the Gaussian as well.
    belief = _normalised(near)
    batch = belief.reshape(-1, *belief.shape[-3:])
    belief = smoothed(batch, smoothing).view(belief.shape)
    return _with_layers(belief, layers, seen.shape, border) if layers else belief


def _normalised(values: Tensor) -> Tensor:
    """Divided by their sum over the classes; equal where all are 0."""
    total = values.sum(-3, keepdim=True)
    return torch.where(total > 0, values / total, 1 / values.shape[-3])


def _with_layers(
    belief: Tensor, layers: Sequence[Layer], shape: tuple[int, ...], border: int
) -> Tensor:
    """What layers add to a belief, and what they multiply it by."""
    added, factors = torch.zeros_like(belief), torch.ones_like(belief)
    for number, layer in enumerate(layers):
        _check_layer(layer, number, shape, belief.shape[-3])
        told = _told(layer, belief, border)
        if layer.how == "sum":
            added.select(-3, layer.supports).add_(told, alpha=layer.weight)
        else:
            factors.select(-3, layer.supports).mul_(1 + (layer.weight - 1) * told)
    return _normalised((belief + added) * factors)


def _told(layer: Layer, like: Tensor, border: int) -> Tensor:
    """The mask of a layer, blurred over the pixels where it is known; 0 where none is in reach."""
    mask = torch.as_tensor(layer.mask).to(like)
    known = ~mask.isnan()
    both = torch.stack([mask.nan_to_num(0.0), known.to(like)])
    near = blurred(with_context(both, has=border, needs=layer.reach), layer.sigma, layer.reach)
    # Division may exceed 1 by what rounding leaves.
    return torch.where(near[1] > 0, near[0] / near[1], 0.0).clamp(0, 1)


def _checked(codes: Tensor | NDArray[Any], n: int, border: int) -> Tensor:
    """The codes as indices; refuses what is no map of rows of the table."""
    seen = torch.as_tensor(codes)
    if seen.ndim < 2 or seen.is_floating_point() or seen.dtype == torch.bool:
        raise refuse(
            "codes",
            "be whole numbers, (..., height, width)",
            f"it is {seen.dtype} with shape {tuple(seen.shape)}",
            "number the rows of the table from 0, and what is not known -1",
        )
    if min(seen.shape[-2:]) <= 2 * border:
        raise refuse(
            "border",
            "leave a pixel of the map",
            f"it is {border}, of a map of {seen.shape[-2]} x {seen.shape[-1]}",
            "pass the map with its context",
        )
    seen = seen.long()
    wrong = (seen < -1) | (seen >= n)
    if bool(wrong.any()):
        raise refuse(
            "codes",
            f"lie between -1 and {n - 1}, the last row of the table",
            f"one is {int(seen[wrong][0])}",
            "number the rows of the table from 0, and what is not known -1",
        )
    return seen


def _check_settings(sigma: float, reach: int, smoothing: float, border: int) -> None:
    for name, value in {
        "sigma": sigma,
        "reach": reach,
        "smoothing": smoothing,
        "border": border,
    }.items():
        if not 0 <= value < math.inf:
            raise refuse(name, "be at least 0 and finite", f"it is {value}", "leave it out")


def _check_layer(layer: Layer, number: int, shape: tuple[int, ...], n_classes: int) -> None:
    """Refuse a layer that is no layer of this map."""
    argument = f"layers[{number}]"
    mask = torch.as_tensor(layer.mask)
    if tuple(mask.shape) != tuple(shape):
        got = f"its shape is {tuple(mask.shape)}"
        raise refuse(argument, f"have the shape of `codes`, {tuple(shape)}", got, "cut both alike")
    if bool(((mask < 0) | (mask > 1)).any()):
        raise refuse(argument, "hold shares from 0 to 1", "it does not", "write 1 where it is")
    if not 0 <= layer.supports < n_classes:
        raise refuse(
            argument,
            f"support a class from 0 to {n_classes - 1}",
            f"it is {layer.supports}",
            "number the classes from 0",
        )
    if not (0 < layer.weight < math.inf and 0 <= layer.sigma < math.inf):
        got = f"they are {layer.weight} and {layer.sigma}"
        raise refuse(argument, "have a weight above 0 and a blur of at least 0", got, "mend it")
    if layer.how not in ("product", "sum"):
        raise refuse(argument, "be a product or a sum", f"it is {layer.how!r}", "pick one")
