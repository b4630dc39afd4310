"""Mean and deviation of features, and that their units do not matter."""

import numpy as np
import pytest
import torch
from scipy import sparse

from tacit.estimator import _scaling
from tacit.estimator._scaling import scale_of
from tests.estimator.cases import clouds, quick

X, TRUTH, BELIEF = clouds()


@pytest.mark.parametrize("shape", [(70, 4), (70, 2, 3, 5)])
@pytest.mark.parametrize("as_", [np.asarray, torch.as_tensor])
def test_scale_is_mean_and_deviation_over_all_but_the_channel(shape, as_, monkeypatch):
    monkeypatch.setattr(_scaling, "_NUMBERS", 100)  # in several parts
    values = np.random.default_rng(0).normal(3.0, 2.0, shape)
    mean, deviation = scale_of(as_(values))
    axes = (0, *range(2, len(shape)))
    np.testing.assert_allclose(mean, values.mean(axes, keepdims=True)[0], rtol=1e-12)
    np.testing.assert_allclose(deviation, values.std(axes, keepdims=True)[0], rtol=1e-12)


def test_weight_of_two_is_a_row_that_comes_twice():
    weight = torch.arange(90) % 3.0
    rows = np.repeat(np.arange(90), weight.int())
    for one, other in zip(scale_of(X, weight), scale_of(X[rows]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_large_mean_costs_no_digits_of_the_deviation():
    values = (X[:, :1] + 1e8).astype(np.float64)
    np.testing.assert_allclose(scale_of(values).deviation, X[:, :1].std(0), rtol=1e-6)


def test_constant_features_have_no_deviation():
    constant = np.full((50, 2), [0.1, 1e9], np.float32)
    assert scale_of(constant).deviation.tolist() == [0.0, 0.0]


def test_constant_features_change_nothing():
    constant = np.full((90, 1), 7.0)
    model = quick(predictor="linear", epochs=30).fit(np.hstack([X, constant]), BELIEF)
    assert np.isfinite(model.posterior_).all()
    assert (model.posterior_.argmax(1) == TRUTH).mean() > 0.9


@pytest.mark.filterwarnings("ignore::tacit.errors.CollapseWarning")  # there is nothing to learn
def test_features_that_are_all_constant_predict_alike():
    q = quick().fit(np.ones((90, 2)), BELIEF).prediction_
    np.testing.assert_allclose(q, np.broadcast_to(q[0], q.shape))
    np.testing.assert_allclose(q.sum(1), 1, rtol=1e-6)


@pytest.mark.parametrize("predictor", ["linear", "perceptron"])
def test_units_of_features_do_not_matter(predictor):
    units, offset = np.array([1e-3, 1.0, 512.0, 1e6]), np.array([0.0, -3.0, 8.0, 1e5])
    first = quick(predictor=predictor).fit(X, BELIEF)
    other = quick(predictor=predictor).fit(X * units + offset, BELIEF)
    np.testing.assert_allclose(other.prediction_, first.prediction_, atol=1e-6)


def test_features_stay_as_they_are_where_asked():
    network = quick(scale=False).fit(X, BELIEF).networks_[0]
    assert type(network).__name__ == "Perceptron"


def test_sparse_features_stay_as_they_are():
    network = quick().fit(sparse.csr_matrix(X), BELIEF).networks_[0]
    assert type(network).__name__ == "Linear"
