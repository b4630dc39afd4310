from __future__ import annotations

import torch

from tacit.predictors import Perceptron, PooledCNN, Standardised


def test_units_of_features_do_not_matter(generator):
    x = torch.randn(50, 4, generator=generator)
    scale, shift = torch.tensor([1e-3, 1.0, 20.0, 1e4]), torch.tensor([5.0, -3.0, 0.0, 1e3])
    inner = Perceptron(4, 3)
    one = Standardised(inner, x.mean(0), x.std(0))
    y = x * scale + shift
    other = Standardised(inner, y.mean(0), y.std(0))
    torch.testing.assert_close(one(x), other(y), rtol=1e-3, atol=1e-3)


def test_a_constant_feature_is_taken_for_one_of_deviation_one():
    predictor = Standardised(torch.nn.Identity(), torch.tensor([2.0]), torch.tensor([0.0]))
    assert predictor(torch.tensor([[2.0], [5.0]])).tolist() == [[0.0], [3.0]]


def test_images_are_standardised_channel_by_channel(generator):
    x = torch.rand(6, 2, 8, 8, generator=generator)
    mean, deviation = (
        torch.tensor([0.5, 0.1])[:, None, None],
        torch.tensor([2.0, 4.0])[:, None, None],
    )
    inner = PooledCNN(2, (8, 8), 3, width=4)
    expected = inner(torch.stack([(x[:, 0] - 0.5) / 2, (x[:, 1] - 0.1) / 4], 1))
    torch.testing.assert_close(Standardised(inner, mean, deviation)(x), expected)


def test_mean_and_deviation_are_stored_with_the_weights():
    predictor = Standardised(Perceptron(2, 3), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    other = Standardised(Perceptron(2, 3), torch.zeros(2), torch.ones(2))
    other.load_state_dict(predictor.state_dict())
    assert torch.equal(other.mean, predictor.mean)
    assert torch.equal(other.deviation, predictor.deviation)
