"""Features are the same in any container, and names and shapes are remembered."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from tacit.errors import InvalidInputError
from tests.estimator.cases import N_FEATURES, clouds, quick, same

X, TRUTH, BELIEF = clouds()
X = X.astype(np.float32).astype(np.float64)  # the same numbers in both precisions
COLUMNS = ["north", "east", "up", "noise"]


def frame(values, kind):
    """A data frame with a column for each feature."""
    columns = {name: values[:, place] for place, name in enumerate(COLUMNS)}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](columns)


DOUBLE = {
    "Fortran order": np.asfortranarray(X),
    "view": np.repeat(X, 2, axis=0)[::2],
    "lists": X.tolist(),
    "tensor": torch.from_numpy(X),
    "pandas": frame(X, "pandas"),
    "polars": frame(X, "polars"),
    "pyarrow": frame(X, "pyarrow"),
    "pandas Float64": frame(X, "pandas").astype("Float64"),
}
SINGLE = {
    "tensor": torch.from_numpy(X).float(),
    "tensor with gradient": torch.from_numpy(X).float().requires_grad_(),
    "pandas": frame(X, "pandas").astype(np.float32),
    "polars": frame(X.astype(np.float32), "polars"),
    "read-only": np.frombuffer(X.astype(np.float32).tobytes(), np.float32).reshape(X.shape),
}
SPARSE = {
    kind: getattr(sparse, kind)(np.where(np.abs(X) > 1, X, 0).astype(np.float32))
    for kind in ("csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array", "coo_array")
}


@pytest.fixture(scope="module")
def double():
    return quick().fit(X, BELIEF)


@pytest.fixture(scope="module")
def single():
    return quick().fit(X.astype(np.float32), BELIEF)


@pytest.mark.parametrize("container", DOUBLE.values(), ids=DOUBLE)
def test_double_precision_is_the_same_to_the_bit_in_any_container(double, container):
    model = quick().fit(container, BELIEF)
    assert model.dtype_ == np.float64
    assert same(model, double)
    np.testing.assert_array_equal(model.posterior(container, BELIEF), double.posterior_)


@pytest.mark.parametrize("container", SINGLE.values(), ids=SINGLE)
def test_single_precision_is_the_same_to_the_bit_in_any_container(single, container):
    model = quick().fit(container, BELIEF)
    assert model.dtype_ == np.float32
    assert same(model, single)
    np.testing.assert_array_equal(model.posterior(container, BELIEF), single.posterior_)


def test_precisions_agree(double, single):
    np.testing.assert_allclose(single.prediction_, double.prediction_, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool, np.float16])
def test_numbers_of_other_types_become_single_precision(dtype):
    numbers = X.clip(0, 6).round().astype(dtype)
    model = quick().fit(numbers, BELIEF)
    assert model.dtype_ == np.float32
    assert same(model, quick().fit(numbers.astype(np.float32), BELIEF))


@pytest.mark.parametrize("dtype", [torch.int16, torch.uint8, torch.bfloat16, torch.bool])
def test_tensors_of_other_types_become_single_precision(dtype):
    numbers = torch.from_numpy(X).clamp(0, 6).round().to(dtype)
    assert same(quick().fit(numbers, BELIEF), quick().fit(numbers.float(), BELIEF))


@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_features_are_the_same_in_any_layout(kind):
    first = quick(predictor="linear").fit(SPARSE["csr_matrix"], BELIEF)
    model = quick(predictor="linear").fit(SPARSE[kind], BELIEF)
    assert same(model, first)
    np.testing.assert_array_equal(model.predict_proba(SPARSE[kind]), first.prediction_)


@pytest.mark.parametrize("predictor", ["linear", "perceptron"])
def test_sparse_features_learn_what_dense_ones_do(predictor):
    table = SPARSE["csr_matrix"]
    model = quick(predictor=predictor).fit(table, BELIEF)
    # Sums over a row are taken in another order.
    dense = quick(predictor=predictor, scale=False).fit(table.toarray(), BELIEF)
    np.testing.assert_allclose(model.prediction_, dense.prediction_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(table.toarray()), model.prediction_, atol=1e-6)


def test_sparse_features_are_predicted_from_by_a_linear_map():
    model = quick().fit(SPARSE["csr_matrix"], BELIEF)
    assert type(model.networks_[0]).__name__ == "Linear"


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_names_of_features_are_kept(kind):
    model = quick().fit(frame(X, kind), BELIEF)
    assert model.feature_names_in_.tolist() == COLUMNS


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_in_another_order_are_refused(kind):
    model = quick().fit(frame(X, "pandas"), BELIEF)
    table = frame(X, kind)
    other = table.select(COLUMNS[::-1]) if kind != "pandas" else table[COLUMNS[::-1]]
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(other)


def test_columns_of_other_names_are_refused():
    model = quick().fit(frame(X, "pandas"), BELIEF)
    with pytest.raises(ValueError, match="unseen at fit time:\n- down"):
        model.predict(frame(X, "pandas").rename(columns={"up": "down"}))


def test_fit_on_a_tensor_forgets_the_names():
    model = quick().fit(frame(X, "pandas"), BELIEF)
    assert not hasattr(model.fit(torch.from_numpy(X), BELIEF), "feature_names_in_")


@pytest.mark.parametrize("as_", [np.asarray, torch.as_tensor], ids=["array", "tensor"])
def test_features_of_another_number_are_refused(double, as_):
    with pytest.raises(ValueError, match=r"3 features, but .* 4 features|shape \(4,\)"):
        double.predict(as_(X[:, :3]))


def test_images_of_another_size_are_refused():
    model = quick(epochs=1).fit(np.random.default_rng(0).random((90, 2, 6, 5)), BELIEF)
    with pytest.raises(InvalidInputError, match=r"shape \(2, 6, 5\), but theirs is \(2, 5, 6\)"):
        model.predict(np.zeros((3, 2, 5, 6)))


BAD = {"NaN": np.nan, "infinity": np.inf, "minus infinity": -np.inf}


@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
@pytest.mark.parametrize(
    "as_",
    [np.asarray, torch.as_tensor, sparse.csr_matrix, sparse.csc_array, pd.DataFrame, pl.DataFrame],
    ids=["array", "tensor", "csr", "csc", "pandas", "polars"],
)
def test_row_that_is_not_finite_is_named(as_, value):
    spoilt = X.copy()
    spoilt[[37, 50], [2, 0]] = value
    for method in ("fit", "partial_fit"):
        with pytest.raises(InvalidInputError, match=r"`X` must be finite, but row 37 holds NaN"):
            getattr(quick(), method)(as_(spoilt), BELIEF)


def test_row_of_an_image_that_is_not_finite_is_named():
    images = np.zeros((90, 1, 6, 5), np.float32)
    images[61, 0, 3, 3] = np.nan
    with pytest.raises(InvalidInputError, match="row 61"):
        quick().fit(images, BELIEF)


def test_large_numbers_whose_sum_is_infinite_are_fine():
    huge = np.full((90, 2), 1e38, np.float32)
    huge[TRUTH == 0] = -1e38
    assert np.isfinite(quick().fit(huge, TRUTH == 0).prediction_).all()


def test_new_data_that_are_not_finite_are_refused(double):
    with pytest.raises(InvalidInputError, match="row 0"):
        double.predict([[np.nan] * N_FEATURES])


def test_number_beyond_the_precision_in_use_is_refused(single):
    with pytest.raises(InvalidInputError, match=r"row 2 .* more than its precision"):
        single.predict([[1.0] * 4, [2.0] * 4, [1e200] * 4])


def test_number_whose_square_is_infinite_is_refused():
    with pytest.raises(InvalidInputError, match=r"squares are finite, but the largest is .*e\+200"):
        quick().fit(X * 1e200, BELIEF)


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (torch.zeros(90), r"its shape is \(90,\)"),
        (torch.zeros(0, 4), r"its shape is \(0, 4\)"),
        (torch.zeros(90, 0), r"its shape is \(90, 0\)"),
        (torch.eye(90).to_sparse(), "torch.sparse_coo"),
        (torch.zeros(90, 3, dtype=torch.complex64), "complex64"),
        (X + 1j, "Complex data not supported"),
        (X.astype(str), "`X` must be numbers"),
        (frame(np.array([list("abcd")] * 90), "pandas"), "`X` must be numbers.*OneHotEncoder"),
        (np.zeros((90, 4, 3)), "vector"),
        (np.zeros((90, 1, 200, 200)), "at most 96 x 96"),
        ([[1.0], [1.0, 2.0]] * 45, "inhomogeneous"),
        (None, "Expected 2D array|NoneType"),
        ("table.csv", "Expected 2D array|must be numbers"),
    ],
)
def test_features_that_are_none_are_refused(features, sentence):
    with pytest.raises(ValueError, match=sentence):
        quick().fit(features, BELIEF)


def test_features_are_not_written_to():
    before = X.copy()
    quick().fit(X, BELIEF).predict(X)
    np.testing.assert_array_equal(X, before)
