"""Predictors: by name, a network of the user's own, or a function that builds one."""

import numpy as np
import pytest
import torch
from torch import nn

from tacit.errors import InvalidInputError
from tests.estimator.cases import N_CLASSES, N_FEATURES, clouds, quick, same

X, TRUTH, BELIEF = clouds()
IMAGES = np.random.default_rng(0).random((90, 2, 10, 12)).astype(np.float32)
IMAGES[np.arange(90), 0, 2 * TRUTH + 1] += 2


def network():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Linear(N_FEATURES, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, N_CLASSES)
        )


def factory(generator):
    built = nn.Linear(N_FEATURES, N_CLASSES)
    with torch.no_grad():
        built.weight.normal_(0, 0.1, generator=generator)
        built.bias.zero_()
    return built


@pytest.mark.parametrize("predictor", [network(), factory, lambda _: network()])
def test_own_network_learns(predictor):
    model = quick(predictor=predictor, epochs=25).fit(X, BELIEF)
    assert (model.predict(X) == TRUTH).mean() > 0.9
    assert model.dtype_ == np.float32
    np.testing.assert_array_equal(model.predict_proba(X), model.prediction_)


def test_own_network_is_left_as_it_was():
    own = network()
    before = {name: value.clone() for name, value in own.state_dict().items()}
    model = quick(predictor=own, n_members=2).fit(X, BELIEF)
    assert all(torch.equal(value, before[name]) for name, value in own.state_dict().items())
    assert all(member is not own for member in model.networks_)


def test_function_is_given_a_source_of_its_own_for_each_member():
    drawn = []

    def build(generator):
        drawn.append(torch.rand((), generator=generator).item())
        return network()

    quick(predictor=build, n_members=3, epochs=1).fit(X, BELIEF)
    assert len(set(drawn)) == len(drawn) == 3


@pytest.mark.parametrize(
    ("name", "kind"),
    [("auto", "PooledCNN"), ("pooled_cnn", "PooledCNN"), ("small_cnn", "SmallCNN")],
)
def test_images_are_seen_by_convolutions(name, kind):
    model = quick(predictor=name, epochs=1).fit(IMAGES, BELIEF)
    assert type(model.networks_[0].predictor).__name__ == kind
    assert model.feature_shape_ == (2, 10, 12)
    assert model.n_features_in_ == 2
    assert model.predict_proba(IMAGES[:5]).shape == (5, N_CLASSES)


@pytest.mark.parametrize("augment", ["none", "shift"])
def test_images_are_learned(augment):
    model = quick(epochs=20, learning_rate=0.01, augment=augment).fit(IMAGES, BELIEF)
    assert (model.posterior_.argmax(1) == TRUTH).mean() > 0.9


def test_images_may_be_a_tensor():
    array = quick(epochs=1).fit(IMAGES, BELIEF)
    assert same(quick(epochs=1).fit(torch.from_numpy(IMAGES), BELIEF), array)


@pytest.mark.parametrize(("n_features", "kind"), [(N_FEATURES, "Perceptron"), (10_001, "Linear")])
def test_predictor_follows_from_the_shape(n_features, kind):
    features = np.zeros((90, n_features), np.float32)
    features[:, :N_FEATURES] = X
    model = quick(epochs=1).fit(features, BELIEF)
    assert type(model.networks_[0].predictor).__name__ == kind


@pytest.mark.parametrize(
    ("name", "features", "sentence"),
    [
        ("linear", IMAGES, r"'linear' takes a vector, \(n_features,\), and an instance has shape"),
        ("perceptron", IMAGES, "'perceptron' takes a vector"),
        ("small_cnn", X, r"'small_cnn' takes an image, \(C, H, W\), and .* \(4,\)"),
        ("pooled_cnn", X, "'pooled_cnn' takes an image"),
    ],
)
def test_predictor_by_name_that_does_not_suit_the_shape_is_refused(name, features, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        quick(predictor=name).fit(features, BELIEF)


class Odd(nn.Module):
    """What gives anything but logits."""

    def __init__(self, gives):
        super().__init__()
        self.weight, self.gives = nn.Parameter(torch.zeros(1)), gives

    def forward(self, x):
        return self.gives(x)


@pytest.mark.parametrize(
    ("predictor", "sentence"),
    [
        (nn.Linear(N_FEATURES, 5), r"logits \(N, 3\).* shape is \(1, 5\); .* 3 outputs"),
        (nn.Linear(7, N_CLASSES), r"take features \(N, 4\), but it says: mat1 and mat2"),
        (nn.Conv2d(4, 3, 1), r"take features \(N, 4\)"),
        (nn.Linear(N_FEATURES, N_CLASSES).requires_grad_(False), "parameters to learn"),
        (lambda _: 3, "build a torch.nn.Module, but it returns a int"),
        (lambda _: None, "build a torch.nn.Module, but it returns a NoneType"),
        (Odd(lambda x: x.sum()), "take features|logits"),
        (Odd(lambda x: (x, x)), "take features"),
        (Odd(lambda x: x[:, 0]), "take features|logits"),
        (Odd(lambda x: x.unsqueeze(2)[:, :3].expand(-1, -1, 2)), r"shape is \(1, 3, 2\)"),
    ],
)
def test_network_that_does_not_suit_is_refused(predictor, sentence):
    with pytest.raises(InvalidInputError, match=f"`predictor` must .*{sentence}"):
        quick(predictor=predictor).fit(X, BELIEF)


def test_what_a_function_raises_is_its_own():
    def build(_):
        raise KeyError("its own")

    with pytest.raises(KeyError, match="its own"):
        quick(predictor=build).fit(X, BELIEF)
