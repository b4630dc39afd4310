"""What scikit-learn expects of a classifier, and what its tools do with one."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from tacit import EM, BeliefClassifier, BeliefKFold, TrackedMass
from tacit.errors import InvalidInputError
from tests.estimator.cases import N_CLASSES, N_FEATURES, clouds, pairs_of, quick, same

X, TRUTH, BELIEF = clouds()
PAIRS = pairs_of(TRUTH)
learns_nothing = pytest.mark.filterwarnings("ignore::tacit.errors.CollapseWarning")
"""Some of the fits learn nothing on purpose, and say so."""

CONSTRUCTED = [
    BeliefClassifier("perceptron", n_members=1, epochs=25, random_state=0),
    BeliefClassifier("linear", n_members=1, epochs=25, learning_rate=0.05, random_state=0),
]


@learns_nothing  # where the labels of a check have nothing to do with its features
@parametrize_with_checks(CONSTRUCTED)
def test_classifier_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@learns_nothing
@parametrize_with_checks([BeliefClassifier(), BeliefClassifier("linear", "em", mass="tracked")])
def test_classifier_passes_the_checks_as_it_comes(estimator, check):
    check(estimator)


def test_parameters_are_those_of_the_constructor():
    model = BeliefClassifier(n_members=5, objective="em")
    parameters = model.get_params()
    assert parameters["n_members"] == 5
    assert BeliefClassifier(**parameters).get_params() == parameters
    assert model.set_params(n_members=2).n_members == 2


def test_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'n_member'"):
        quick().set_params(n_member=3)


def test_fit_leaves_the_parameters_as_they_are():
    network, objective = nn.Linear(N_FEATURES, N_CLASSES), EM(TrackedMass())
    model = quick(predictor=network, objective=objective)
    before, weight = model.get_params(), network.weight.clone()
    model.fit(X, BELIEF)
    assert all(model.get_params()[name] is value for name, value in before.items())
    assert bool((network.weight == weight).all())
    assert objective.mass.log_mass.numel() == 0


def test_clone_learns_the_same():
    model = quick(objective=EM(TrackedMass())).fit(X, BELIEF)
    twin = clone(model)
    assert not hasattr(twin, "networks_")
    assert same(twin.fit(X, BELIEF), model)


def through_joblib(model, folder):
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


@pytest.mark.parametrize(
    "copied",
    [lambda model, _: pickle.loads(pickle.dumps(model)), through_joblib],
    ids=["pickle", "joblib"],
)
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_pickled_model_is_the_same(copied, learn, tmp_path):
    model = getattr(quick(), learn)(X, BELIEF)
    twin = copied(model, tmp_path)
    assert same(twin, model)
    np.testing.assert_array_equal(twin.posterior(X, BELIEF), model.posterior(X, BELIEF))


def test_pickled_stream_goes_on_as_if_it_had_not_been():
    model = quick().partial_fit(X[:40], BELIEF[:40])
    twin = pickle.loads(pickle.dumps(model))
    assert same(twin.partial_fit(X[40:], BELIEF[40:]), model.partial_fit(X[40:], BELIEF[40:]))


@pytest.mark.parametrize("y", [TRUTH, BELIEF], ids=["labels", "belief"])
def test_pipeline_is_its_steps(y):
    pipeline = make_pipeline(StandardScaler(), quick()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = quick().fit(scaled, y)
    np.testing.assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(scaled))
    assert pipeline.score(X, y) == alone.score(scaled, y)


@learns_nothing
@pytest.mark.parametrize("y", [BELIEF, PAIRS], ids=["candidates", "pairs"])
def test_grid_search_without_labels_finds_what_learns(y):
    search = GridSearchCV(
        quick(), {"learning_rate": [1e-6, 0.03]}, cv=BeliefKFold(3, random_state=0)
    )
    search.fit(X, y)
    assert search.best_params_ == {"learning_rate": 0.03}
    assert search.best_score_ == pytest.approx(max(search.cv_results_["mean_test_score"]))


@learns_nothing
def test_grid_search_with_labels_finds_what_learns():
    search = GridSearchCV(quick(), {"learning_rate": [1e-6, 0.03]}, cv=3).fit(X, TRUTH)
    assert search.best_params_ == {"learning_rate": 0.03}
    assert search.best_score_ > 0.9


def test_grid_search_sets_numbers_of_numpy():
    grid = {"n_members": np.arange(1, 3), "tempering": np.float32([0.5])}
    search = GridSearchCV(quick(epochs=2), grid, cv=2).fit(X, TRUTH)
    assert len(search.best_estimator_.networks_) == search.best_params_["n_members"]


def test_cross_validation_scores_are_those_of_its_folds():
    folds = BeliefKFold(3, random_state=1)
    scores = cross_val_score(quick(), X, PAIRS, cv=folds)
    expected = [
        quick().fit(X[train], PAIRS[train]).score(X[test], PAIRS[test])
        for train, test in folds.split(X, PAIRS)
    ]
    assert scores.tolist() == expected


def test_folds_that_tear_groups_apart_are_refused():
    with pytest.raises(InvalidInputError, match="whole groups"):
        cross_val_score(quick(), X, PAIRS, cv=4, error_score="raise")


def test_split_into_train_and_test_keeps_rows_together():
    X_train, X_test, b_train, b_test, _, rows = train_test_split(
        X, BELIEF, np.arange(90), test_size=20, random_state=0
    )
    assert len(X_train) == len(b_train) == 70
    assert len(X_test) == len(b_test) == 20
    assert bool((b_test.mask() == BELIEF[rows].mask()).all())


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.predict(X),
        lambda model: model.predict_proba(X),
        lambda model: model.predict_log_proba(X),
        lambda model: model.posterior(X, BELIEF),
        lambda model: model.score(X, BELIEF),
        lambda model: model.save("nowhere"),
    ],
)
def test_unfitted_model_says_so(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask(quick())


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(BeliefClassifier("linear", epochs=3)) == (
        "BeliefClassifier(epochs=3, predictor='linear')"
    )


def test_repr_stays_short():
    network = nn.Sequential(*[nn.Linear(4, 4) for _ in range(200)])
    model = BeliefClassifier(network, classes=[f"class {i}" for i in range(1000)])
    assert len(repr(model)) < 2000


@pytest.mark.parametrize("fitted", [False, True])
def test_notebook_shows_the_settings(fitted):
    model = quick(objective="free_energy")
    if fitted:
        model.fit(X, BELIEF)
    page = model._repr_html_()
    assert "BeliefClassifier" in page
    assert "free_energy" in page


def test_numbers_of_features_are_kept():
    model = quick().fit(X, TRUTH)
    assert model.n_features_in_ == N_FEATURES
    assert not hasattr(model, "feature_names_in_")
