from __future__ import annotations

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.predictors import FCN, Linear, Perceptron, PooledCNN, predictor_for


@pytest.mark.parametrize(
    ("shape", "settings", "kind"),
    [
        ((64,), {}, Perceptron),
        ((10_000,), {}, Perceptron),
        ((10_001,), {}, Linear),
        ((64,), {"sparse": True}, Linear),
        ((1, 28, 28), {}, PooledCNN),
        ((3, 96, 5), {}, PooledCNN),
        ((4, 20, 300), {"per_pixel": True}, FCN),
    ],
)
def test_the_shape_chooses_the_predictor(shape, settings, kind):
    predictor = predictor_for(shape, 3, **settings)
    assert type(predictor) is kind
    logits = predictor(torch.zeros(2, *shape))
    assert logits.shape == ((2, 3, *shape[1:]) if kind is FCN else (2, 3))


def test_the_shape_may_be_that_of_a_tensor():
    assert type(predictor_for(torch.zeros(5, 1, 8, 8).shape[1:], 3)) is PooledCNN


def test_first_weights_come_from_the_generator(seed):
    first, second = (
        predictor_for((6,), 3, generator=torch.Generator().manual_seed(seed)) for _ in range(2)
    )
    torch.testing.assert_close(first.state_dict(), second.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("shape", "settings", "advice"),
    [
        ((), {}, "flatten the features"),
        ((2, 3, 4, 5), {}, "flatten the features"),
        ((28, 29), {}, r"make it \(1, 28, 29\)"),
        ((64,), {"per_pixel": True}, "per_pixel=False"),
        ((3, 8, 8), {"sparse": True}, "flatten the features"),
        ((28, 28, 3), {}, "put that axis first"),
        ((200, 300, 4), {"per_pixel": True}, "put that axis first"),
        ((3, 97, 20), {}, "shrink the images to at most 96 x 96"),
    ],
)
def test_a_shape_that_suits_none_is_refused_with_advice(shape, settings, advice):
    with pytest.raises(InvalidInputError, match=rf"^`shape` must be that of .*; .*{advice}.*\.$"):
        predictor_for(shape, 3, **settings)


@pytest.mark.parametrize("shape", [64, None, "64"])
def test_a_shape_that_is_none_is_refused(shape):
    with pytest.raises(InvalidInputError, match=r"`shape` must be the lengths of an instance's"):
        predictor_for(shape, 3)


def test_an_axis_without_length_is_refused_by_its_place():
    with pytest.raises(InvalidInputError, match=r"`shape\[1\]` must .* but it is 0"):
        predictor_for((1, 0, 8), 3)


def test_no_classes_are_refused():
    with pytest.raises(InvalidInputError, match=r"`n_classes` must"):
        predictor_for((6,), 0)
