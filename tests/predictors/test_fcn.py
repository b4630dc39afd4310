from __future__ import annotations

import math

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.predictors import FCN
from tests.predictors.cases import n_weights
from tests.predictors.fields import extent, reached, shift_agrees


@pytest.mark.parametrize("n_layers", [1, 2, 5])
def test_its_receptive_field_is_the_one_that_gradients_find(n_layers, generator):
    predictor = FCN(2, 3, width=4, n_layers=n_layers)
    features = torch.rand(1, 2, 23, 25, generator=generator)
    radius = predictor.receptive_field // 2
    rows, columns = extent(reached(predictor, features, 11, 12))
    assert rows == (11 - radius, 11 + radius)
    assert columns == (12 - radius, 12 + radius)


def test_its_receptive_field_is_that_of_the_paper():
    assert FCN(4, 5).receptive_field == 11


def test_it_has_the_layers_of_the_paper():
    # Five convolutions of 3 x 3 with 128 filters, and a map to five classes, by hand:
    by_hand = (4 * 128 * 9 + 128) + 4 * (128 * 128 * 9 + 128) + (128 * 5 + 5)
    assert n_weights(FCN(4, 5)) == by_hand == 595_717


def test_away_from_the_border_a_shifted_raster_gives_shifted_logits(generator):
    features = torch.randn(2, 2, 24, 21, generator=generator)
    assert shift_agrees(FCN(2, 3, width=4), features, margin=5)


def test_at_the_border_it_does_not(generator):
    # What lies outside counts as zeros; this is what the margin of five pixels is for.
    features = torch.randn(2, 2, 24, 21, generator=generator)
    assert not shift_agrees(FCN(2, 3, width=4), features, margin=1)


def test_a_raster_of_any_size_does():
    assert FCN(2, 3, width=4)(torch.zeros(1, 2, 1, 30)).shape == (1, 3, 1, 30)


@pytest.mark.parametrize("slope", [0.0, 0.01, 0.3])
def test_below_zero_values_are_scaled_by_the_slope(slope):
    predictor = FCN(1, 1, width=1, n_layers=1, negative_slope=slope)
    for weights in predictor.parameters():
        torch.nn.init.zeros_(weights)
    predictor.convolutions[0].weight.data[0, 0, 1, 1] = 1.0
    predictor.readout.weight.data.fill_(1.0)
    logits = predictor(torch.tensor([-2.0, 3.0]).view(1, 1, 1, 2)).flatten()
    torch.testing.assert_close(logits, torch.tensor([-2.0 * slope, 3.0]))


@pytest.mark.parametrize("slope", [-0.1, 1.0, math.nan, math.inf])
def test_a_slope_out_of_range_is_refused(slope):
    with pytest.raises(InvalidInputError, match=r"`negative_slope` must be at least 0 and below 1"):
        FCN(2, 3, negative_slope=slope)


def test_an_empty_raster_is_refused():
    with pytest.raises(InvalidInputError, match=r"must be shaped \(N, 2, H, W\), .*\(1, 2, 0, 4\)"):
        FCN(2, 3)(torch.zeros(1, 2, 0, 4))
