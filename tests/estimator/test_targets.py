"""Labels of any container are beliefs that are certain; missing ones say nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tacit.beliefs import Candidates, Categorical
from tacit.errors import InvalidInputError
from tacit.estimator._targets import belief_about, read_classes, read_labels, read_target
from tests.estimator.cases import N_CLASSES, clouds, quick, same

X, TRUTH, BELIEF = clouds()
NAMES = np.array(["ant", "bee", "cat"])


def test_labels_learn_what_certain_candidates_learn():
    labels = quick().fit(X, TRUTH)
    candidates = quick().fit(X, Candidates(TRUTH, n_classes=N_CLASSES))
    assert same(labels, candidates)
    np.testing.assert_array_equal(labels.posterior_, candidates.posterior_)


def test_labels_learn_what_certain_probabilities_learn():
    labels = quick().fit(X, TRUTH)
    certain = quick().fit(X, Categorical(torch.eye(N_CLASSES)[TRUTH]))
    np.testing.assert_allclose(certain.prediction_, labels.prediction_, atol=1e-6)


def test_missing_labels_learn_what_open_candidates_learn():
    labels = np.where(np.arange(90) % 2, TRUTH, np.nan)
    sets = [[label] if row % 2 else [0, 1, 2] for row, label in enumerate(TRUTH)]
    partly = quick().fit(X, labels)
    assert same(partly, quick().fit(X, Candidates(sets, n_classes=N_CLASSES)))
    np.testing.assert_array_equal(partly.classes_, [0, 1, 2])


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (NAMES[TRUTH], ["ant", "bee", "cat"]),
        (TRUTH - 1, [-1, 0, 1]),
        (TRUTH.astype(np.uint8) * 100, [0, 100, 200]),
        (TRUTH * 2.0, [0.0, 2.0, 4.0]),
    ],
    ids=["texts", "whole numbers", "bytes", "numbers"],
)
def test_names_of_labels_do_not_matter(labels, classes):
    named = quick().fit(X, labels)
    assert same(named, quick().fit(X, TRUTH))
    assert named.classes_.tolist() == classes
    np.testing.assert_array_equal(named.predict(X), np.array(classes)[named.prediction_.argmax(1)])


def test_two_truth_values_are_two_classes():
    model = quick().fit(X, TRUTH > 0)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool


LABELS = [0, None, 2, 1, 2, None, 0, 1]
TEXTS = [None if label is None else str(NAMES[label]) for label in LABELS]
NUMBERS = {
    "list": LABELS,
    "tuple": tuple(LABELS),
    "objects": np.array(LABELS, object),
    "NaN": np.array([np.nan if label is None else label for label in LABELS]),
    "tensor": torch.tensor([torch.nan if label is None else label for label in LABELS]),
    "pandas objects": pd.Series(LABELS, dtype=object),
    "pandas floats": pd.Series(LABELS, dtype=float),
    "pandas Int64": pd.Series(LABELS, dtype="Int64"),
    "pandas Float32": pd.Series(LABELS, dtype="Float32"),
    "pandas pyarrow": pd.Series(LABELS, dtype=pd.ArrowDtype(pa.int8())),
    "pandas array": pd.array(LABELS, dtype="Int64"),
    "pandas index": pd.Index(LABELS, dtype="Int64"),
    "polars": pl.Series(LABELS),
    "pyarrow": pa.array(LABELS),
    "pyarrow chunks": pa.chunked_array([LABELS[:3], LABELS[3:]]),
}
WORDS = {
    "list": TEXTS,
    "list with NaN": [np.nan if text is None else text for text in TEXTS],
    "list with NA": [pd.NA if text is None else text for text in TEXTS],
    "objects": np.array(TEXTS, object),
    "pandas": pd.Series(TEXTS),
    "pandas objects": pd.Series(TEXTS, dtype=object),
    "pandas string": pd.Series(TEXTS, dtype="string"),
    "pandas category": pd.Series(TEXTS, dtype="category"),
    "pandas Categorical": pd.Categorical(TEXTS),
    "polars": pl.Series(TEXTS),
    "polars category": pl.Series(TEXTS, dtype=pl.Categorical),
    "polars enum": pl.Series(TEXTS, dtype=pl.Enum(NAMES.tolist())),
    "pyarrow": pa.array(TEXTS),
    "pyarrow dictionary": pa.array(TEXTS).dictionary_encode(),
}
KNOWN = np.array([label is not None for label in LABELS])
SETS = [[0, 1, 2] if label is None else [label] for label in LABELS]


@pytest.mark.parametrize("labels", NUMBERS.values(), ids=NUMBERS)
def test_missing_numbers_are_open_in_any_container(labels):
    belief, classes = read_target(labels, None)
    assert belief.labels() == SETS
    assert classes.tolist() == [0, 1, 2]


@pytest.mark.parametrize("labels", WORDS.values(), ids=WORDS)
def test_missing_texts_are_open_in_any_container(labels):
    belief, classes = read_target(labels, None)
    assert belief.labels() == SETS
    assert classes.tolist() == ["ant", "bee", "cat"]


FULL = [2, 0, 1, 2]
SEVERAL = {
    "list": FULL,
    "numpy": np.array(FULL),
    "tensor": torch.tensor(FULL),
    "pandas": pd.Series(FULL, index=[7, 3, 9, 1]),
    "pandas Int64": pd.Series(FULL, dtype="Int64"),
    "pandas category": pd.Series(FULL, dtype="category"),
    "polars": pl.Series(FULL),
    "pyarrow": pa.array(FULL),
}


@pytest.mark.parametrize("labels", SEVERAL.values(), ids=SEVERAL)
def test_whole_numbers_stay_whole_in_any_container(labels):
    belief, classes = read_target(labels, None)
    assert belief.labels() == [[2], [0], [1], [2]]
    assert classes.dtype.kind == "i"


@pytest.mark.parametrize("kind", ["Int64", "boolean"])
def test_missing_values_do_not_turn_labels_into_other_numbers(kind):
    _, classes = read_target(pd.Series([True, pd.NA, False], dtype=kind), None)
    assert classes.dtype.kind == {"Int64": "i", "boolean": "b"}[kind]


def test_minus_one_is_a_label_like_others():
    belief, classes = read_target([-1, 0, 0, -1], None)
    assert classes.tolist() == [-1, 0]
    assert belief.labels() == [[0], [1], [1], [0]]


@given(
    st.permutations(["ant", "bee", "cat", "doe"]),
    st.lists(st.sampled_from(["ant", "cat", None]), min_size=1, max_size=9),
)
def test_classes_are_in_the_order_given(names, labels):
    belief, classes = read_target(labels, names)
    assert classes.tolist() == names
    open_set = list(range(4))
    assert belief.labels() == [open_set if n is None else [names.index(n)] for n in labels]


def test_names_of_a_belief_are_those_given():
    belief, classes = read_target(BELIEF, list(NAMES))
    assert belief is BELIEF
    assert classes.tolist() == NAMES.tolist()
    assert read_target(BELIEF, None).classes.tolist() == [0, 1, 2]


def test_many_labels_are_read_part_by_part():
    labels = np.random.default_rng(0).integers(0, 5, 200_000)
    belief, _ = read_target(labels, None)
    assert bool((belief.mask().int().argmax(1).numpy() == labels).all())
    assert bool((belief.sizes() == 1).all())


@pytest.mark.parametrize(
    ("labels", "classes", "sentence"),
    [
        (["cat", "dgo"], ["cat", "dog"], "row 1 holds 'dgo'; perhaps 'dog' is meant"),
        (["cat", "xylophone"], ["cat", "dog"], "row 1 holds 'xylophone'; add it to `classes`"),
        ([0, 1, 7], [0, 1], "row 2 holds 7"),
        (["0", "1"], [0, 1], "row 0 holds '0'; perhaps 0 is meant"),
        ([0, 1], ["0", "1"], "row 0 holds 0; perhaps '0' is meant"),
    ],
)
def test_label_of_no_class_is_refused_with_the_near_one(labels, classes, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        read_target(labels, classes)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([1, 1, 1], "names one class, 1"),
        (["a", None, "a"], "names one class, 'a'"),
        ([None, np.nan, pd.NA], "every label is missing"),
        ([np.nan, np.nan], "every label is missing"),
        ([1, "a", 2], "some are texts and some are not"),
        ([0.0, np.inf, 1.0], "infinity is among them"),
        (np.array([0.0, -np.inf]), "infinity is among them"),
        (np.array([b"a", b"b"]), r"its type is \|S1"),
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), "its type is datetime64"),
        (np.array([1j, 2j]), "its type is complex128"),
        ([[0, 1], [1]], "entries of type list"),
        ([[0, 1], [1, 0]], "entries of type list"),
        ([{"a": 1}, {"b": 2}], "entries of type dict"),
        (np.eye(3), r"shape \(3, 3\); wrap a matrix of probabilities"),
        (torch.eye(3), r"shape \(3, 3\); wrap a matrix of probabilities"),
        (pd.DataFrame(np.eye(3)), r"shape \(3, 3\)"),
        (pl.DataFrame(np.eye(3)), r"shape \(3, 3\)"),
        (pa.table({"a": [0, 1], "b": [1, 0]}), r"shape \(2, 2\)"),
        (sparse.csr_matrix(np.eye(3)), "`y` must be dense"),
        ([object(), object()], "its type is object"),
    ],
)
def test_labels_that_are_none_are_refused(labels, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        read_target(labels, None)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (None, "y to be passed"),
        ([0.5, 1.5], "Unknown label type"),
        ("label", "1d array"),
        (3, "1d array"),
    ],
)
def test_labels_are_refused_in_the_words_of_scikit_learn(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_labels(labels)


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ("abc", "it is 'abc'"),
        (3, "it is 3"),
        ({"a", "b", "c"}, "it is {"),
        (["a", "b", "a"], "'a' comes twice"),
        ([0, 1, 1.0], "1.0 comes twice"),
        (["a", None, "b"], "one is missing"),
        ([0, "b", 2], "all texts or all numbers"),
        ([[0], [1], [2]], "list of different names"),
        (np.eye(3), "list of different names"),
    ],
)
def test_classes_that_name_nothing_are_refused(classes, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        quick(classes=classes).fit(X, BELIEF)


def test_names_for_another_number_of_classes_are_refused():
    with pytest.raises(InvalidInputError, match="3 classes of the belief, but it names 2"):
        read_target(BELIEF, ["a", "b"])


def test_one_class_by_name_is_refused():
    with pytest.raises(InvalidInputError, match="names one class, 'a'"):
        read_target(["a", "a"], ["a"])


def test_belief_about_other_classes_is_refused():
    with pytest.raises(InvalidInputError, match=r"3 classes that the model knows, but .* of 4"):
        belief_about(Candidates([[0]], n_classes=4), np.arange(3))


def test_labels_of_a_fitted_model_may_all_be_missing():
    assert belief_about([None, np.nan], NAMES).labels() == [[0, 1, 2], [0, 1, 2]]


def test_names_are_read_from_any_container():
    for names in (list(NAMES), NAMES, pd.Series(NAMES), pl.Series(NAMES), pa.array(list(NAMES))):
        assert read_classes(names).tolist() == NAMES.tolist()
