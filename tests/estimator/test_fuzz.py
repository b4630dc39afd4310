"""Whatever comes, a fit ends with probabilities or is refused with a sentence."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from tacit import BeliefClassifier
from tacit.beliefs import Candidates, Categorical, Pairs
from tacit.errors import TacitError

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacit.errors.CollapseWarning",  # of most of these nothing can be learned
    "ignore:A column-vector y was passed",  # as by scikit-learn's own classifiers
)

NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 1e-30, 1e6, -1e20])
ODD = st.sampled_from([np.nan, np.inf, -np.inf, 1e38, 1e300])


def tables(rows):
    """Features of so many rows, a few of them odd, in several containers."""
    value = st.integers(0, 60).flatmap(lambda die: ODD if die == 0 else NUMBERS)
    table = st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(value, min_size=n, max_size=n), min_size=rows, max_size=rows)
    )
    kinds = [
        np.array,
        lambda x: np.array(x).clip(-1e38, 1e38).astype(np.float32),
        torch.tensor,
        sparse.csr_matrix,
        list,
        lambda x: np.array(x)[:, None, :, None],
    ]
    return st.builds(lambda as_, x: as_(x), st.sampled_from(kinds), table)


def labels(rows):
    value = st.sampled_from([0, 1, 2, -1, None, np.nan, "a", "b", True, 0.5, 1.0])
    alike = st.sampled_from([[0, 1], [0, 1, None], ["a", "b", None], [1.0, 2.0, np.nan]]).flatmap(
        lambda some: st.lists(st.sampled_from(some), min_size=rows, max_size=rows)
    )
    return alike | st.lists(value, min_size=rows, max_size=rows)


@st.composite
def beliefs(draw, rows):
    kind = draw(st.sampled_from(["candidates", "probabilities", "pairs"]))
    some = st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)
    if kind == "candidates":
        return Candidates(draw(st.lists(some, min_size=rows, max_size=rows)), n_classes=3)
    if kind == "pairs" and rows > 1:
        return Pairs.different([[0, rows - 1]], n_classes=3, n_instances=rows)
    entry = st.sampled_from([0.0, 1.0, 1e-20, 0.3])
    row = st.lists(entry, min_size=3, max_size=3).filter(any)
    return Categorical(torch.tensor(draw(st.lists(row, min_size=rows, max_size=rows))))


SETTINGS = st.fixed_dictionaries(
    {"epochs": st.integers(1, 2), "n_members": st.integers(1, 2)},
    optional={
        "predictor": st.sampled_from(["auto", "linear", "perceptron"]),
        "objective": st.sampled_from(["rq", "em", "qr", "free_energy", "union_nll"]),
        "mass": st.sampled_from(["auto", "batch", "tracked", "collection"]),
        "batch_size": st.sampled_from([1, 2, 5, "auto"]),
        "learning_rate": st.sampled_from([1e-3, 1.0, 1e30]),
        "tempering": st.sampled_from([0, 0.5, 100.0]),
        "scale": st.booleans(),
        "held_out": st.sampled_from([0, 0.3, "auto"]),
        "on_collapse": st.sampled_from(["warn", "stop", "restart"]),
        "optimizer": st.sampled_from(["adam", "adamw", "sgd"]),
    },
)
ODD_SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "predictor": st.sampled_from(["small_cnn", "pooled_cnn", "liner", 3]),
        "objective": st.sampled_from(["rp", None]),
        "classes": st.sampled_from([[0, 1], ["a", "b", "c"], [2, 1, 0], "abc", [1, 1, 2], []]),
        "held_out": st.sampled_from([0.01, 0.5, 1.0]),
        "warm_up": st.integers(0, 2),
        "update_every": st.integers(-1, 2),
        "schedule": st.sampled_from(["plateau", "constant"]),
        "on_collapse": st.just("restore"),
        "augment": st.just("shift"),
        "tempering": st.sampled_from([-1, "auto"]),
    },
)


@st.composite
def asked(draw):
    rows = draw(st.integers(1, 12))
    others = draw(st.integers(0, 20)) and rows  # now and then another number
    odd = draw(ODD_SETTINGS) if draw(st.integers(0, 3)) == 0 else {}
    weight = st.none() | st.lists(st.sampled_from([0, 1, 2.5, 1e-3]), min_size=rows, max_size=rows)
    return (
        draw(tables(rows)),
        draw(labels(others) | beliefs(max(others, 1))),
        draw(weight),
        draw(SETTINGS) | odd,
    )


def answers(method, X, y, weight, chosen):
    """The probabilities that a model gives, or the sentence by which it is refused."""
    model = BeliefClassifier(**chosen, random_state=0)
    try:
        getattr(model, method)(X, y, sample_weight=weight)
        return [model.predict_proba(X), model.posterior(X, y)]
    except (TacitError, ValueError) as refusal:
        return str(refusal)


@given(asked(), st.sampled_from(["fit", "fit", "fit", "partial_fit"]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_fit_ends_with_probabilities_or_is_refused(given_, method):
    found = answers(method, *given_)
    if isinstance(found, str):
        assert len(found) > 20
        assert found[0].isupper() or found[0] == "`"
        return
    q, r = found
    assert q.shape == r.shape
    np.testing.assert_allclose(q.sum(1), 1, rtol=1e-4)
    np.testing.assert_allclose(r.sum(1), 1, rtol=1e-4)
