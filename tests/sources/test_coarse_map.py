"""The belief of a coarse map, against a slow loop and by its laws."""

import math

import pytest
import torch
from torch.testing import assert_close

from tacit.errors import InvalidInputError
from tacit.sources import Layer, coarse_map, cooccurrence

N_COARSE, N_CLASSES = 4, 3


def drawn(generator, height=13, width=17):
    """Codes with gaps, and a table of counts in which one class was never seen."""
    codes = torch.randint(-1, N_COARSE, (height, width), generator=generator)
    table = torch.rand(N_COARSE, N_CLASSES, generator=generator).double()
    table[2] = 0
    return codes, table


def weight_of(di, dj, sigma, reach):
    near = max(abs(di), abs(dj)) <= reach
    return math.exp(-(di * di + dj * dj) / (2 * sigma * sigma)) if near else 0.0


def nearby(shape, at, sigma, reach):
    """All pixels in reach of one, each with its weight."""
    for i in range(shape[0]):
        for j in range(shape[1]):
            weight = weight_of(i - at[0], j - at[1], sigma, reach)
            if weight:
                yield (i, j), weight


def slow(codes, table, sigma, reach, smoothing=0.0, layers=()):
    """The formula pixel by pixel, in float64."""
    height, width = codes.shape
    n_classes = len(table[0])
    result = torch.zeros(n_classes, height, width, dtype=torch.float64)
    for at in ((i, j) for i in range(height) for j in range(width)):
        p = [0.0] * n_classes
        for place, weight in nearby(codes.shape, at, sigma, reach):
            if codes[place] >= 0:
                row = table[int(codes[place])].tolist()
                total = sum(row)
                share = [x / total if total else 1 / n_classes for x in row]
                p = [x + weight * s for x, s in zip(p, share, strict=True)]
        p = [x / sum(p) if sum(p) else 1 / n_classes for x in p]
        p = [(x + smoothing) / (1 + n_classes * smoothing) for x in p]
        p = with_layers(p, layers, at)
        result[(slice(None), *at)] = torch.tensor(p, dtype=torch.float64)
    return result


def with_layers(p, layers, at):
    told = [told_at(layer, at) for layer in layers]
    p = list(p)
    for layer, m in zip(layers, told, strict=True):
        p[layer.supports] += layer.weight * m if layer.how == "sum" else 0
    for layer, m in zip(layers, told, strict=True):
        p[layer.supports] *= 1 + (layer.weight - 1) * m if layer.how == "product" else 1
    return [x / sum(p) for x in p]


def told_at(layer, at):
    if not layer.sigma:
        value = float(layer.mask[at])
        return 0.0 if math.isnan(value) else value
    above = below = 0.0
    for place, weight in nearby(layer.mask.shape, at, layer.sigma, math.ceil(4 * layer.sigma)):
        value = float(layer.mask[place])
        if not math.isnan(value):
            above, below = above + weight * value, below + weight
    return above / below if below else 0.0


def drawn_layers(generator, shape):
    roads = (torch.rand(shape, generator=generator) > 0.7).double()
    roads[:4, :5] = math.nan
    water = torch.rand(shape, generator=generator).double()
    return [
        Layer(roads, 1, 12.0, 0.8),
        Layer(water, 0, 0.5, 0.0, "sum"),
        Layer(water, 2, 0.25, 1.1, "product"),
    ]


@pytest.mark.parametrize(("sigma", "reach"), [(2.0, 3), (31.0, 5), (0.7, 8), (3.0, 20)])
def test_belief_equals_a_slow_loop(generator, sigma, reach):
    codes, table = drawn(generator)
    found = coarse_map(codes, table, sigma=sigma, reach=reach, smoothing=1e-3)
    expected = slow(codes, table, sigma, reach, 1e-3)
    assert_close(found, expected, rtol=0, atol=1e-13)


def test_layers_equal_a_slow_loop(generator):
    codes, table = drawn(generator)
    layers = drawn_layers(generator, codes.shape)
    found = coarse_map(codes, table, sigma=2.0, reach=4, smoothing=1e-3, layers=layers)
    assert_close(found, slow(codes, table, 2.0, 4, 1e-3, layers), rtol=0, atol=1e-13)


def test_order_of_layers_does_not_matter(generator):
    codes, table = drawn(generator)
    layers = drawn_layers(generator, codes.shape)
    once, other = (coarse_map(codes, table, layers=each) for each in (layers, layers[::-1]))
    assert_close(once, other, rtol=0, atol=1e-14)


def test_blur_wider_than_a_block_is_no_special_case(generator):
    codes = torch.randint(-1, 3, (2, 300), generator=generator)
    table = torch.rand(3, 2, generator=generator).double()
    found = coarse_map(codes, table, sigma=31.0, reach=50, smoothing=0)
    assert_close(found, slow(codes, table, 31.0, 50), rtol=0, atol=1e-13)


def test_belief_sums_to_one_and_keeps_every_class(generator):
    codes, table = drawn(generator)
    p = coarse_map(codes, table.float())
    assert p.dtype == torch.float32
    assert_close(p.sum(0), torch.ones(codes.shape), rtol=0, atol=1e-6)
    assert float(p.min()) >= 1e-4 / (1 + N_CLASSES * 1e-4) * (1 - 1e-6)


@pytest.mark.parametrize("border", [0, 3, 7, 11])
def test_windows_join_without_a_trace(generator, border):
    codes, table = drawn(generator, 40, 50)
    layers = drawn_layers(generator, codes.shape)
    settings = {"sigma": 5.0, "reach": 7}
    whole = coarse_map(codes, table.float(), layers=layers, **settings)
    rows, columns = slice(12, 21), slice(15, 33)
    wide = (slice(12 - border, 21 + border), slice(15 - border, 33 + border))
    cut = [layer._replace(mask=layer.mask[wide]) for layer in layers]
    part = coarse_map(codes[wide], table.float(), layers=cut, border=border, **settings)
    error = float((part - whole[:, rows, columns]).abs().max())
    assert (error < 1e-6) == (border >= 7)


def test_beyond_the_edge_is_as_unknown(generator):
    codes, table = drawn(generator)
    framed = torch.full((codes.shape[0] + 12, codes.shape[1] + 12), -1)
    framed[6:-6, 6:-6] = codes
    inside = coarse_map(framed, table, border=6)
    assert_close(inside, coarse_map(codes, table), rtol=0, atol=1e-14)


def test_map_of_which_nothing_is_known_says_nothing():
    p = coarse_map(torch.full((5, 6), -1), torch.rand(4, 3).double())
    assert_close(p, torch.full((3, 5, 6), 1 / 3, dtype=torch.float64), rtol=0, atol=1e-15)


def test_unknown_pixels_believe_what_is_known_near_them():
    codes = torch.full((1, 9), -1)
    codes[0, 0] = 0
    p = coarse_map(codes, [[0.9, 0.1]], sigma=2.0, reach=4, smoothing=0)
    assert_close(p[0, 0], torch.tensor([0.9] * 5 + [0.5] * 4))


def test_class_never_seen_spreads_its_share(generator):
    codes, table = drawn(generator)
    told = table.clone()
    told[2] = 1.0
    assert torch.equal(coarse_map(codes, table), coarse_map(codes, told))


def test_scaling_rows_changes_nothing(generator):
    codes, table = drawn(generator)
    factors = torch.tensor([[0.1], [7.0], [3.0], [1e6]])
    scaled = coarse_map(codes, table * factors)
    assert_close(scaled, coarse_map(codes, table), rtol=0, atol=1e-14)


def test_permuting_classes_permutes_the_belief(generator):
    codes, table = drawn(generator)
    order = torch.tensor([2, 0, 1])
    permuted = coarse_map(codes, table[:, order])
    assert_close(permuted, coarse_map(codes, table)[order], rtol=0, atol=1e-14)


def test_permuting_coarse_classes_changes_nothing(generator):
    codes, table = drawn(generator)
    order = torch.tensor([3, 1, 0, 2])
    renamed = torch.cat([order.argsort(), torch.tensor([-1])])[codes]
    assert_close(coarse_map(renamed, table[order]), coarse_map(codes, table))


def test_turning_the_map_turns_the_belief(generator):
    codes, table = drawn(generator)
    p = coarse_map(codes, table, sigma=3.0, reach=5)
    turned = coarse_map(codes.t(), table, sigma=3.0, reach=5)
    assert_close(turned, p.transpose(1, 2), rtol=0, atol=1e-14)


def test_batches_of_maps_are_maps_one_by_one(generator):
    codes = torch.randint(-1, N_COARSE, (2, 3, 9, 8), generator=generator)
    table = torch.rand(N_COARSE, N_CLASSES, generator=generator).double()
    together = coarse_map(codes, table)
    assert together.shape == (2, 3, N_CLASSES, 9, 8)
    assert_close(together[1, 2], coarse_map(codes[1, 2], table), rtol=0, atol=1e-14)


def test_without_blur_each_pixel_believes_the_table(generator):
    codes, table = drawn(generator)
    p = coarse_map(codes, table, sigma=0, smoothing=0).flatten(1).t()
    expected = cooccurrence(codes.flatten(), table).marginals(torch.float64)
    assert_close(p, expected, rtol=0, atol=1e-7)


def test_layer_that_is_nowhere_or_unknown_says_nothing(generator):
    codes, table = drawn(generator)
    for mask in (torch.zeros(codes.shape), torch.full(codes.shape, math.nan)):
        for how in ("product", "sum"):
            p = coarse_map(codes, table, layers=[Layer(mask, 1, 9.0, 2.0, how)])
            assert_close(p, coarse_map(codes, table), rtol=0, atol=1e-14)


def test_weight_of_a_product_multiplies_the_odds():
    layer = Layer(torch.ones(1, 1), 1, 6.0)
    p = coarse_map(torch.zeros(1, 1).long(), [[0.6, 0.4]], smoothing=0, layers=[layer])
    assert float(p[1] / p[0]) == pytest.approx(6 * 0.4 / 0.6)


@pytest.mark.gpu
def test_belief_on_a_gpu_equals_that_on_the_processor(generator):
    codes, table = drawn(generator, 90, 70)
    assert_close(coarse_map(codes.cuda(), table).cpu(), coarse_map(codes, table))


ZEROS = torch.zeros(4, 5).long()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"codes": torch.zeros(4, 5)}, "`codes` must be whole numbers"),
        ({"codes": torch.zeros(4).long()}, r"\(\.\.\., height, width\)"),
        ({"codes": ZEROS + 2}, "`codes` must lie between -1 and 1, the last row.* one is 2"),
        ({"table": [[-1.0, 2.0]]}, "`table` must hold finite"),
        ({"sigma": -1.0}, "`sigma` must be at least 0"),
        ({"smoothing": math.inf}, "`smoothing` must be at least 0 and finite"),
        ({"border": 2}, "`border` must leave a pixel"),
        ({"layers": [Layer(torch.ones(5, 4), 0, 1.0)]}, r"`layers\[0\]` must have the shape"),
        ({"layers": [Layer(ZEROS, 2, 1.0)]}, "must support a class from 0 to 1, but it is 2"),
        ({"layers": [Layer(ZEROS + 2, 0, 1.0)]}, "must hold shares from 0 to 1"),
        ({"layers": [Layer(ZEROS, 0, 0.0)]}, "must have a weight above 0"),
        ({"layers": [Layer(ZEROS, 0, 1.0, 0.0, "max")]}, "must be a product or a sum"),
    ],
)
def test_impossible_maps_are_refused(arguments, sentence):
    given = {"codes": ZEROS, "table": [[0.5, 0.5], [0.1, 0.9]], **arguments}
    with pytest.raises(InvalidInputError, match=sentence):
        coarse_map(**given)
