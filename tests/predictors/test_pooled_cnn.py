from __future__ import annotations

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.predictors import PooledCNN
from tests.predictors.cases import n_weights
from tests.predictors.fields import reached


def test_it_has_the_weights_of_its_stages():
    # 8 -> 4 -> 2: 9 + 1 per map, two of normalisation; then 32 maps give 64; then 64 * 2 * 2 * 10.
    by_hand = 32 * (9 + 1 + 2) + 64 * (32 * 9 + 1 + 2) + (64 * 2 * 2 + 1) * 10
    assert n_weights(PooledCNN(1, (8, 8), 10)) == by_hand


@pytest.mark.parametrize("size", [(28, 28), (1, 1), (9, 2), (17, 31), (96, 96), (96, 1)])
def test_any_size_does(size):
    assert PooledCNN(2, size, 3, width=4)(torch.zeros(5, 2, *size)).shape == (5, 3)


@pytest.mark.parametrize(
    ("side", "channels"), [(3, [4]), (6, [4]), (8, [4, 8]), (28, [4, 8, 16, 16])]
)
def test_images_are_halved_until_three_pixels_are_left(side, channels):
    predictor = PooledCNN(1, (side, 2), 3, width=4)
    assert [layer.out_channels for layer in predictor.convolutions] == channels


def test_every_pixel_reaches_the_logits(generator):
    features = torch.rand(1, 2, 19, 23, generator=generator)
    assert reached(PooledCNN(2, (19, 23), 3, width=4), features).all()


def test_no_instance_depends_on_another_in_training(generator):
    predictor = PooledCNN(1, (8, 8), 3, width=4).train()
    features = torch.rand(5, 1, 8, 8, generator=generator)
    torch.testing.assert_close(predictor(features)[2:3], predictor(features[2:3]))


def test_another_size_is_refused():
    with pytest.raises(InvalidInputError, match=r"must be shaped \(N, 1, 8, 7\), .*\(5, 1, 7, 8\)"):
        PooledCNN(1, (8, 7), 3)(torch.zeros(5, 1, 7, 8))
