"""The two answers, prediction and posterior, and how they are judged."""

import itertools

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score

from tacit import BatchMass
from tacit.beliefs import Candidates, Categorical
from tacit.diagnostics import held_out_evidence
from tacit.errors import CollapseWarning, InvalidInputError
from tests.estimator.cases import N_CLASSES, clouds, pairs_of, quick

X, TRUTH, BELIEF = clouds()
X_NEW, TRUTH_NEW, BELIEF_NEW = clouds(40, seed=1)
PAIRS = pairs_of(TRUTH)
SOFT = Categorical(torch.rand(90, N_CLASSES, generator=torch.Generator().manual_seed(0)))
BELIEFS = {"candidates": BELIEF, "probabilities": SOFT, "pairs": PAIRS, "product": PAIRS * BELIEF}
every_belief = pytest.mark.parametrize("belief", BELIEFS.values(), ids=BELIEFS)


@pytest.fixture(scope="module")
def model():
    return quick(epochs=15, n_members=2).fit(X, BELIEF)


def test_labels_are_resolved(model):
    assert (model.posterior_.argmax(1) == TRUTH).mean() > 0.95
    assert (model.predict(X_NEW) == TRUTH_NEW).mean() > 0.9


@every_belief
def test_posterior_of_the_collection_is_that_of_the_fit(belief):
    model = quick().fit(X, belief)
    np.testing.assert_array_equal(model.posterior(X, belief), model.posterior_)
    np.testing.assert_array_equal(model.predict_proba(X), model.prediction_)


@every_belief
def test_posterior_is_the_belief_updated_by_the_evidence(belief):
    model = quick().fit(X, belief)
    q = torch.from_numpy(model.prediction_)
    r = belief.posterior((q / q.mean(0)).log()).log_marginals.exp()
    np.testing.assert_allclose(model.posterior_, r, atol=1e-6)
    np.testing.assert_allclose(model.class_mass_, q.mean(0), rtol=1e-6)


@every_belief
def test_rows_sum_to_one(belief):
    model = quick(n_members=2).fit(X, belief)
    for rows in (model.posterior_, model.prediction_, model.predict_proba(X_NEW)):
        np.testing.assert_allclose(rows.sum(1), 1, rtol=1e-5)
        assert (rows >= 0).all()


def test_belief_without_a_class_gives_a_posterior_without_it(model):
    assert (model.posterior_[~BELIEF.mask().numpy()] == 0).all()


def test_prediction_is_the_mean_over_members(model):
    alone = [
        network(torch.from_numpy(X)).softmax(1).detach().numpy() for network in model.networks_
    ]
    np.testing.assert_allclose(model.prediction_, np.mean(alone, 0), rtol=1e-6)


def test_logs_of_the_prediction_are_its_logs(model):
    log_q = model.predict_log_proba(X_NEW)
    np.testing.assert_allclose(np.exp(log_q), model.predict_proba(X_NEW), rtol=1e-12)


@pytest.mark.parametrize("rows", [slice(3, 4), slice(0, 7), [21, 5, 38]])
def test_no_row_depends_on_the_others_of_the_call(model, rows):
    q, r = model.predict_proba(X_NEW), model.posterior(X_NEW, BELIEF_NEW)
    np.testing.assert_array_equal(model.predict_proba(X_NEW[rows]), q[rows])
    np.testing.assert_array_equal(model.posterior(X_NEW[rows], BELIEF_NEW[rows]), r[rows])


@every_belief
def test_posterior_tempered_to_nothing_is_the_belief(belief):
    model = quick(tempering=0).fit(X, belief)
    np.testing.assert_allclose(model.posterior_, belief.marginals(), atol=1e-6)


def test_tempering_of_the_call_replaces_that_of_the_settings(model):
    half = quick(epochs=15, n_members=2, tempering=0.5).fit(X, BELIEF)
    np.testing.assert_array_equal(model.posterior(X, BELIEF, tempering=0.5), half.posterior_)
    np.testing.assert_array_equal(half.posterior(X, BELIEF, tempering=1), model.posterior_)
    np.testing.assert_array_equal(half.prediction_, model.prediction_)


def test_tempered_posterior_is_less_sure(model):
    sure = [model.posterior(X, BELIEF, tempering=beta).max(1) for beta in (0, 0.5, 1, 2)]
    for less, more in itertools.pairwise(sure):
        assert (less <= more + 1e-9).all()


@pytest.mark.parametrize("tempering", [-0.1, np.nan, np.inf, "1", True])
def test_tempering_that_is_none_is_refused(model, tempering):
    with pytest.raises(InvalidInputError, match="`tempering` must be"):
        model.posterior(X, BELIEF, tempering=tempering)


def test_posterior_where_labels_are_known_is_the_label(model):
    labels = [1, None, 0, 2]
    r = model.posterior(X_NEW[:4], labels)
    np.testing.assert_array_equal(r[[0, 2, 3]], np.eye(3)[[1, 0, 2]])
    open_row = model.predict_proba(X_NEW[1:2]) / model.class_mass_
    np.testing.assert_allclose(r[1:2], open_row / open_row.sum(), rtol=1e-6)


def test_score_of_labels_is_the_accuracy(model):
    weight = np.arange(40.0)
    predicted = model.predict(X_NEW)
    assert model.score(X_NEW, TRUTH_NEW) == accuracy_score(TRUTH_NEW, predicted)
    expected = accuracy_score(TRUTH_NEW, predicted, sample_weight=weight)
    assert model.score(X_NEW, TRUTH_NEW, weight) == pytest.approx(expected, rel=1e-6)


def test_missing_labels_do_not_count(model):
    labels = np.where(np.arange(40) < 9, TRUTH_NEW, np.nan)
    labels[0] = (labels[0] + 1) % 3
    predicted = model.predict(X_NEW[:9])
    assert model.score(X_NEW, labels) == accuracy_score(labels[:9].astype(int), predicted)
    assert model.score(X_NEW, labels, np.ones(40)) == pytest.approx(model.score(X_NEW, labels))


@pytest.mark.parametrize("weight", [None, np.arange(90.0)])
@every_belief
def test_score_of_beliefs_is_their_held_out_evidence(model, belief, weight):
    log_q = torch.from_numpy(model.predict_log_proba(X))
    w = None if weight is None else torch.from_numpy(weight).float()
    assert model.score(X, belief, weight) == held_out_evidence(log_q, belief, weight=w)


def test_weight_zero_is_not_scored(model):
    weight = (np.arange(90) < 30) * 1.0
    for y, part in ((TRUTH, TRUTH[:30]), (BELIEF, BELIEF[:30])):
        assert model.score(X, y, weight) == pytest.approx(model.score(X[:30], part), rel=1e-5)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda m: m.score(X, TRUTH[:7]), "`y` must speak of each of the 90 .* it speaks of 7"),
        (lambda m: m.score(X, BELIEF[:7]), "`y` must speak of each of the 90 .* it speaks of 7"),
        (lambda m: m.posterior(X, BELIEF[:7]), "`y` must speak of each of the 90 .* of 7"),
        (lambda m: m.fit(X, BELIEF[:7]), "`y` must speak of each of the 90 .* of 7"),
        (lambda m: m.fit(X, TRUTH[:7]), "`y` must speak of each of the 90 .* of 7"),
        (lambda m: m.score(X, [None] * 90), "hold a label, but all are missing"),
        (lambda m: m.score(X, np.eye(90)), "one label per instance"),
        (lambda m: m.posterior(X, ["a"] * 90), "row 0 holds 'a'"),
        (lambda m: m.posterior(X, Candidates([[0]] * 90, n_classes=5)), "3 classes that the model"),
        (lambda m: m.score(X, Candidates([[0]] * 90, n_classes=5)), "3 classes that the model"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(model, ask, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        ask(quick().set_params(**model.get_params()) if "fit" in ask.__code__.co_names else model)


def test_history_tells_of_each_epoch():
    model = quick(epochs=5, n_members=2, held_out=0.2).fit(X, BELIEF)
    assert [len(history) for history in model.history_] == [5, 5]
    assert model.ended_ == ("all epochs", "all epochs")
    best = [max(record.held_out_evidence for record in history) for history in model.history_]
    assert model.held_out_evidence_ == pytest.approx(np.mean(best))
    assert model.alarms_ == ()


def test_degenerate_fit_warns_and_says_why():
    # Nothing is learned at such a rate.
    with pytest.warns(CollapseWarning, match="The fit degenerated: the prediction hardly"):
        model = quick(epochs=10, learning_rate=1e-9).fit(X, BELIEF)
    assert any("hardly depends on the features" in alarm for alarm in model.alarms_)


STRATA = np.arange(90) % 2


@pytest.mark.parametrize("mass", ["auto", "batch", "tracked", "collection", BatchMass(n_strata=2)])
def test_each_stratum_has_a_class_mass(mass):
    model = quick(mass=mass).fit(X, BELIEF, strata=STRATA)
    expected = [model.prediction_[stratum == STRATA].mean(0) for stratum in (0, 1)]
    np.testing.assert_allclose(model.class_mass_, expected, rtol=1e-6)
    r = model.posterior(X, BELIEF, strata=STRATA)
    np.testing.assert_array_equal(r, model.posterior_)


def test_strata_decide_what_is_learned():
    one, two = quick().fit(X, BELIEF), quick().fit(X, BELIEF, strata=STRATA)
    assert not np.array_equal(one.prediction_, two.prediction_)
    alike = quick().fit(X, BELIEF, strata=np.zeros(90, int))
    np.testing.assert_array_equal(one.posterior_, alike.posterior_)


@pytest.mark.parametrize("as_", [list, torch.as_tensor, np.int8])
def test_strata_may_be_in_any_container(as_):
    model = quick().fit(X, BELIEF, strata=as_(STRATA))
    np.testing.assert_array_equal(
        model.posterior_, quick().fit(X, BELIEF, strata=STRATA).posterior_
    )


@pytest.mark.parametrize(
    ("strata", "sentence"),
    [
        (STRATA - 1, "be numbered from 0, but row 0 holds -1"),
        (STRATA * 0.5, "whole numbers, one for each instance, but it is float64"),
        (STRATA.astype(str), "whole numbers"),
        (np.stack([STRATA, STRATA]), r"shape \(2, 90\)"),
        (STRATA[:7], "each of the 90 instances of X, but it speaks of 7"),
    ],
)
def test_strata_that_are_none_are_refused(strata, sentence):
    with pytest.raises(InvalidInputError, match=f"`strata` must .*{sentence}"):
        quick().fit(X, BELIEF, strata=strata)


def test_strata_that_do_not_fit_the_mass_are_refused():
    with pytest.raises(InvalidInputError, match=r"below 2, .* of the class mass, but .* is 2"):
        quick(mass=BatchMass(n_strata=2)).fit(X, BELIEF, strata=TRUTH)
    with pytest.raises(InvalidInputError, match=r"below 1, .* of the class mass"):
        quick(mass=BatchMass()).fit(X, BELIEF, strata=STRATA)
    with pytest.raises(InvalidInputError, match="`strata` must be given"):
        quick(mass=BatchMass(n_strata=2)).fit(X, BELIEF)


def test_strata_that_were_not_fitted_are_refused(model):
    with pytest.raises(InvalidInputError, match=r"below 1, the number of strata that were fitted"):
        model.posterior(X, BELIEF, strata=STRATA)
    stratified = quick().fit(X, BELIEF, strata=STRATA)
    with pytest.raises(InvalidInputError, match="be given where each stratum has a class mass"):
        stratified.posterior(X, BELIEF)


WEIGHT = (np.arange(90) % 4 > 0) * 1.0


@every_belief
def test_weight_zero_is_as_if_deleted_from_the_mass(belief):
    model = quick().fit(X, belief, WEIGHT)
    kept = model.prediction_[WEIGHT > 0].mean(0)
    np.testing.assert_allclose(model.class_mass_, kept, rtol=1e-6)
    assert len(model.posterior_) == 90


def test_weight_zero_is_as_if_deleted():
    rows = np.flatnonzero(WEIGHT)
    model = quick().fit(X, BELIEF, WEIGHT)
    deleted = quick().fit(X[rows], BELIEF[rows])
    np.testing.assert_allclose(model.posterior_[rows], deleted.posterior_, atol=1e-6)


@pytest.mark.parametrize("weight", [np.ones(90), np.full(90, 8.0), 3.0, torch.ones(90)])
def test_equal_weights_change_nothing(weight):
    model = quick().fit(X, BELIEF, weight)
    np.testing.assert_allclose(model.posterior_, quick().fit(X, BELIEF).posterior_, atol=1e-6)


def test_a_single_weight_is_enough():
    weight = np.eye(90)[3]
    with pytest.warns(CollapseWarning):  # of one instance nothing can be learned
        model = quick(batch_size=10).fit(X, BELIEF, weight)
    assert np.isfinite(model.posterior_).all()


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (-WEIGHT, "Negative values in data passed to `sample_weight`"),
        (np.where(WEIGHT > 0, 1, np.nan), "sample_weight contains NaN"),
        (np.where(WEIGHT > 0, 1, np.inf), "sample_weight contains infinity"),
        (WEIGHT * 0, "Sample weights must contain at least one non-zero|above 0"),
        (WEIGHT * 1e-60, "at least one non-zero number|above 0 that single precision can hold"),
        (WEIGHT * 3e38, "single precision can hold, but the sum is inf"),
        (WEIGHT[:7], r"sample_weight.shape == \(7,\), expected \(90,\)"),
        (np.ones((90, 2)), "1D array or scalar"),
        (["a"] * 90, "could not convert string to float"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "score"])
def test_weights_that_are_none_are_refused(model, method, weight, sentence):
    asked = model if method == "score" else quick()
    with pytest.raises(ValueError, match=sentence):
        getattr(asked, method)(X, BELIEF, sample_weight=weight)


def test_class_that_has_vanished_can_be_believed_in():
    """Where q of a class is below what its precision holds, the evidence is still a number."""
    network = torch.nn.Linear(4, N_CLASSES)
    with torch.no_grad():
        network.bias.copy_(torch.tensor([0.0, 0.0, -300.0]))
    with pytest.warns(CollapseWarning):
        model = quick(predictor=network, learning_rate=1e-9).fit(X, BELIEF)
    assert model.class_mass_[2] == 0
    r = model.posterior(X, TRUTH)
    np.testing.assert_array_equal(r, np.eye(3)[TRUTH])
