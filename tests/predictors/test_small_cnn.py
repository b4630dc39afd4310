from __future__ import annotations

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.predictors import SmallCNN
from tests.predictors.cases import n_weights
from tests.predictors.fields import reached


@pytest.mark.parametrize(
    ("n_channels", "size", "expected"), [(1, (28, 28), 33_194), (3, (32, 32), 33_770)]
)
def test_it_has_as_many_weights_as_the_paper_counts(n_channels, size, expected):
    # The paper: about 33 thousand for MNIST and 34 thousand for CIFAR-10. By hand, with 32 maps:
    # c * 32 * 9 + 32, three times 32 * 32 * 9 + 32, and (32 * 4 * 4) * 10 + 10.
    by_hand = (n_channels * 288 + 32) + 3 * 9_248 + 5_130
    assert n_weights(SmallCNN(n_channels, size, 10)) == by_hand == expected


def test_stride_two_throughout_would_have_fewer_weights_than_the_paper_counts():
    # 28 -> 14 -> 7 -> 4 -> 2: the linear map would see 32 * 2 * 2 values.
    assert round((288 + 32 + 3 * 9_248 + 32 * 2 * 2 * 10 + 10) / 1000) == 29


@pytest.mark.parametrize("size", [(28, 28), (1, 1), (9, 2), (17, 31), (8, 8), (7, 33)])
def test_any_size_does(size):
    assert SmallCNN(2, size, 3, width=4)(torch.zeros(5, 2, *size)).shape == (5, 3)


def test_its_first_convolution_keeps_the_size_and_the_others_halve_it():
    shapes = []
    predictor = SmallCNN(1, (28, 30), 10, width=4)
    for layer in predictor.convolutions:
        layer.register_forward_hook(lambda _, __, made: shapes.append(tuple(made.shape[2:])))
    predictor(torch.zeros(1, 1, 28, 30))
    assert shapes == [(28, 30), (14, 15), (7, 8), (4, 4)]


def test_every_pixel_reaches_the_logits(generator):
    features = torch.rand(1, 2, 19, 23, generator=generator)
    assert reached(SmallCNN(2, (19, 23), 3, width=4), features).all()


def test_its_convolutions_see_17_pixels(generator):
    predictor = SmallCNN(1, (64, 64), 2, width=4).double()
    features = torch.rand(1, 1, 64, 64, generator=generator).double().requires_grad_()
    h = features
    for layer in predictor.convolutions:
        torch.nn.init.constant_(layer.weight, 0.1)
        h = layer(h)
    h[0, :, 4, 4].sum().backward()
    assert features.grad[0, 0].any(0).sum() == features.grad[0, 0].any(1).sum() == 17


def test_another_size_is_refused():
    with pytest.raises(InvalidInputError, match=r"must be shaped \(N, 1, 8, 7\), .*\(5, 1, 7, 8\)"):
        SmallCNN(1, (8, 7), 3)(torch.zeros(5, 1, 7, 8))


@pytest.mark.parametrize("size", [28, (28,), (1, 28, 28), None, "ab"])
def test_a_size_that_is_not_two_numbers_is_refused(size):
    with pytest.raises(InvalidInputError, match=r"`size` must be the height and the width"):
        SmallCNN(1, size, 10)


def test_an_empty_side_is_refused_by_its_place():
    with pytest.raises(InvalidInputError, match=r"`size\[1\]` must .* but it is 0"):
        SmallCNN(1, (28, 0), 10)
