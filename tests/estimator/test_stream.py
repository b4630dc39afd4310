"""Learning from parts as they come in."""

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

from tacit import BatchMass
from tacit.beliefs import Candidates
from tacit.errors import InvalidInputError
from tests.estimator.cases import N_CLASSES, N_FEATURES, clouds, pairs_of, quick, same

X, TRUTH, BELIEF = clouds(300)


def streamed(model, y=BELIEF, size=30, passes=1, **options):
    for _ in range(passes):
        for start in range(0, len(X), size):
            part = slice(start, start + size)
            model.partial_fit(X[part], y[part], **options)
    return model


@pytest.mark.parametrize(("size", "passes"), [(1, 1), (7, 2), (150, 20)])
def test_stream_of_parts_of_any_size_resolves_labels(size, passes):
    model = streamed(quick(predictor="linear"), size=size, passes=passes)
    assert (model.predict(X) == TRUTH).mean() > 0.9
    assert (model.posterior(X, BELIEF).argmax(1) == TRUTH).mean() > 0.95


def test_labels_may_be_streamed():
    names = np.array(["ant", "bee", "cat"])[TRUTH]
    model = streamed(quick(), names, classes=["ant", "bee", "cat"], passes=3)
    assert model.score(X, names) > 0.9
    assert model.classes_.tolist() == ["ant", "bee", "cat"]


def test_parts_need_not_hold_every_class():
    order = np.argsort(TRUTH, kind="stable")
    model = quick().partial_fit(X[order[:50]], TRUTH[order[:50]], classes=[0, 1, 2])
    model.partial_fit(X[order[50:60]], [None] * 10)
    assert model.predict_proba(X).shape == (300, N_CLASSES)


def test_pairs_may_be_streamed():
    pairs = [pairs_of(TRUTH[start : start + 30]) for start in range(0, 300, 30)]
    model = quick()
    for number, part in enumerate(pairs):
        model.partial_fit(X[30 * number :][:30], part)
    np.testing.assert_allclose(model.posterior(X[:30], pairs[0]).sum(1), 1, rtol=1e-6)


def test_same_stream_gives_the_same_model():
    first = streamed(quick(n_members=2))
    assert same(first, streamed(quick(n_members=2)))
    assert not same(first, streamed(quick(n_members=2, random_state=1)))


def test_class_mass_is_a_running_mean():
    model = streamed(quick())
    assert model.class_mass_.sum() == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(model.class_mass_, 1 / 3, atol=0.1)


def test_posterior_of_a_row_does_not_depend_on_the_part():
    model = streamed(quick())
    whole = model.posterior(X, BELIEF)
    np.testing.assert_array_equal(model.posterior(X[40:45], BELIEF[40:45]), whole[40:45])


@pytest.mark.parametrize("name", ["belief_", "posterior_", "history_", "held_out_evidence_"])
def test_what_is_of_a_collection_says_why_it_is_not_there(name):
    model = quick().fit(X, BELIEF).partial_fit(X[:30], BELIEF[:30])
    assert not hasattr(model, name)
    with pytest.raises(NotFittedError, match=f"`{name}` is of a whole collection"):
        getattr(model, name)


def test_unknown_attributes_are_unknown():
    with pytest.raises(AttributeError, match="has no attribute 'posteriors_'"):
        _ = quick().fit(X, BELIEF).posteriors_
    with pytest.raises(AttributeError, match="has no attribute 'posterior_'"):
        _ = quick().posterior_


def test_stream_goes_on_from_a_fit():
    model = quick().fit(X, BELIEF)
    before = model.predict_proba(X)
    after = model.partial_fit(X[:30], BELIEF[:30]).predict_proba(X)
    assert 0 < np.abs(after - before).mean() < 0.02


def test_fit_starts_anew():
    model = quick().partial_fit(X[:30], BELIEF[:30])
    assert same(model.fit(X, BELIEF), quick().fit(X, BELIEF))


def test_stream_after_a_fit_is_a_new_one():
    model = streamed(quick()).fit(X, BELIEF).partial_fit(X[:30], BELIEF[:30])
    fresh = quick().fit(X, BELIEF).partial_fit(X[:30], BELIEF[:30])
    assert same(model, fresh)


def test_first_part_that_is_refused_leaves_nothing():
    model = quick(batch_size=10)
    bags = pairs_of(TRUTH[:30])
    with pytest.raises(InvalidInputError, match="`y` must speak"):
        model.partial_fit(X[:31], bags)
    other = np.hstack([X, X])
    assert same(model.partial_fit(other, BELIEF), quick(batch_size=10).partial_fit(other, BELIEF))


def test_first_part_without_classes_is_refused():
    with pytest.raises(InvalidInputError, match="`classes` must be passed on the first call"):
        quick().partial_fit(X, TRUTH)


def test_classes_of_the_settings_do():
    model = quick(classes=[2, 1, 0]).partial_fit(X, TRUTH)
    assert model.classes_.tolist() == [2, 1, 0]


def test_later_part_may_name_the_same_classes_again_but_no_others():
    model = quick().partial_fit(X, TRUTH, classes=[0, 1, 2])
    model.partial_fit(X, TRUTH, classes=(0, 1, 2))
    with pytest.raises(InvalidInputError, match=r"those of the first call, but it is \[0, 1\]"):
        model.partial_fit(X, TRUTH, classes=[0, 1])


@pytest.mark.parametrize(
    ("features", "y", "sentence"),
    [
        (X[:, :3], BELIEF, "3 features"),
        (X, TRUTH + 1, "row 2 holds 3"),
        (X, Candidates([[0]] * 300, n_classes=2), "3 classes that the model knows"),
        (X[:9], BELIEF, "each of the 9 instances of X"),
    ],
)
def test_later_part_of_another_kind_is_refused(features, y, sentence):
    model = quick().partial_fit(X, BELIEF)
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(features, y)


def test_stream_with_strata_is_refused():
    with pytest.raises(InvalidInputError, match="`strata` must be given"):
        quick(mass=BatchMass(n_strata=2)).partial_fit(X, BELIEF)


@pytest.mark.parametrize("held_out", ["auto", 0.001, 0.5])
def test_nothing_is_held_out_of_a_stream(held_out):
    model = quick(held_out=held_out).partial_fit(X[:30], BELIEF[:30])
    assert same(model, quick(held_out=0).partial_fit(X[:30], BELIEF[:30]))


def test_own_network_may_learn_from_a_stream(seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = nn.Linear(N_FEATURES, N_CLASSES)
    before = network.weight.clone()
    model = streamed(quick(predictor=network), passes=3)
    assert (model.predict(X) == TRUTH).mean() > 0.9
    assert torch.equal(network.weight, before)
