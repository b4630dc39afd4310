from __future__ import annotations

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.predictors import Perceptron
from tests.predictors.cases import n_weights


def test_logits_equal_the_formula(generator):
    predictor = Perceptron(6, 3, widths=(5, 4), generator=generator)
    features = torch.randn(7, 6, generator=generator)
    h = features
    for layer in predictor.maps[:-1]:
        h = (h @ layer.weight.T + layer.bias).clamp(min=0)
    expected = h @ predictor.maps[-1].weight.T + predictor.maps[-1].bias
    torch.testing.assert_close(predictor(features), expected)


def test_widths_count_the_hidden_units():
    # 6 * 5 + 5, 5 * 4 + 4, 4 * 3 + 3
    assert n_weights(Perceptron(6, 3, widths=(5, 4))) == 35 + 24 + 15
    assert Perceptron(6, 3, widths=[5, 4]).widths == (5, 4)


@pytest.mark.parametrize("widths", [(), 128, None, "64"])
def test_widths_without_a_layer_are_refused(widths):
    with pytest.raises(InvalidInputError, match=r"`widths` must name the width of at least one"):
        Perceptron(6, 3, widths=widths)


def test_a_hidden_layer_without_units_is_refused_by_its_place():
    with pytest.raises(InvalidInputError, match=r"`widths\[1\]` must .* but it is 0"):
        Perceptron(6, 3, widths=(4, 0))
