"""Class mass and evidence against slow loops, and the states of the masses."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.errors import InvalidInputError
from tacit.evidence import (
    BatchMass,
    ClassMass,
    CollectionMass,
    FixedMass,
    MassSum,
    TrackedMass,
    class_mass,
    evidence,
    sum_by_class,
)
from tests.objectives import referee
from tests.objectives.cases import SHAPES, draw, pixels

shapes = st.sampled_from(SHAPES)
seeds = st.integers(0, 2**32)
few = settings(max_examples=10)


def log_predictions(shape, seed):
    batch = draw(shape, seed)
    return batch.logits.log_softmax(1), batch.weight, batch.strata


def rows(n, n_classes, seed):
    return draw((n, n_classes), seed).logits.log_softmax(1)


@few
@given(shape=shapes, seed=seeds)
def test_class_mass_equals_the_loop(shape, seed):
    log_q, weight, _ = log_predictions(shape, seed)
    expected = referee.class_mass(pixels(log_q).exp().numpy(), weight.flatten().numpy())
    mass = class_mass(log_q, weight=weight)
    assert_close(mass, torch.from_numpy(expected[0]))
    assert_close(mass.sum(), torch.ones_like(mass.sum()))


@few
@given(shape=shapes, seed=seeds)
def test_sums_by_stratum_equal_the_loop(shape, seed):
    log_q, weight, strata = log_predictions(shape, seed)
    sums = sum_by_class(log_q, weight=weight, strata=strata, n_strata=3)
    w, s = weight.flatten(), strata.flatten()
    expected = referee.class_mass(pixels(log_q).exp().numpy(), w.numpy(), s.numpy(), 3)
    assert_close(sums.log_mass.exp(), torch.from_numpy(expected))
    weights = torch.stack([w[s == stratum].sum() for stratum in range(3)])
    assert_close(sums.log_weight.exp(), weights)
    assert_close(sums.log_sum.exp(), torch.from_numpy(expected) * weights[:, None])


@few
@given(shape=shapes, seed=seeds)
def test_one_stratum_equals_none(shape, seed):
    log_q, weight, strata = log_predictions(shape, seed)
    one = sum_by_class(log_q, weight=weight, strata=torch.zeros_like(strata))
    assert_close(one, sum_by_class(log_q, weight=weight))


@few
@given(seed=seeds)
def test_the_gradient_of_sums_by_stratum_passes_gradcheck(seed):
    log_q, weight, strata = log_predictions((6, 4), seed)
    log_q.requires_grad_()

    def sums(log_q):
        return sum_by_class(log_q, weight=weight + 1, strata=strata, n_strata=3).log_mass

    assert torch.autograd.gradcheck(sums, (log_q,))


def test_a_vanished_class_keeps_a_finite_log():
    log_q = torch.tensor([[0.0, -5000.0], [0.0, -5001.0]])
    log_mass = sum_by_class(log_q).log_mass
    expected = -5000 + math.log((1 + math.exp(-1)) / 2)
    assert_close(log_mass, torch.tensor([[0.0, expected]]))
    assert torch.equal(sum_by_class(log_q, strata=torch.zeros(2)).log_mass, log_mass)


@few
@given(shape=shapes, seed=seeds)
def test_evidence_is_the_prediction_over_the_mass(shape, seed):
    log_q, weight, strata = log_predictions(shape, seed)
    sums = sum_by_class(log_q, weight=weight, strata=strata, n_strata=2)
    tables = evidence(log_q, log_mass=sums.log_mass, strata=strata), log_q
    a, q = (pixels(table).exp() for table in tables)
    for i, stratum in enumerate(strata.flatten().tolist()):
        assert_close(a[i], q[i] / sums.log_mass[stratum].exp())
    single = evidence(log_q, log_mass=class_mass(log_q).log())
    assert_close(pixels(single).exp(), q / q.mean(0))


@few
@given(shape=shapes, seed=seeds)
def test_the_mean_likelihood_ratio_of_a_class_is_one(shape, seed):
    log_q, weight, _ = log_predictions(shape, seed)
    log_mass = class_mass(log_q, weight=weight).log()
    ratio = pixels(evidence(log_q, log_mass=log_mass)).exp()
    mean = (ratio * weight.reshape(-1, 1)).sum(0) / weight.sum()
    assert_close(mean, torch.ones_like(mean))


# TrackedMass


def slow_track(batches, window, n_classes):
    """S and the number seen, by the formula of the running mean, with plain numbers."""
    S, seen = [0.0] * n_classes, 0.0
    for batch in batches:
        n = len(batch)
        limit = n + 5 * n_classes if window is None else window
        seen = min(seen + n, limit)
        rho = min(n / seen, 1.0)
        own = [sum(row[k] for row in batch) / n for k in range(n_classes)]
        S = [s + rho * (o - s) for s, o in zip(S, own, strict=True)]
    return S


@few
@given(seed=seeds, window=st.sampled_from([None, 1, 7, 12, 1000]))
def test_a_tracked_mass_is_a_running_mean(seed, window):
    batches = [rows(n, 4, seed + n) for n in (3, 5, 1, 9, 2, 8)]
    mass = TrackedMass(window)
    for count in range(1, len(batches) + 1):
        log_mass = mass(sum_by_class(batches[count - 1]))
        probabilities = [batch.exp().tolist() for batch in batches[:count]]
        expected = slow_track(probabilities, window, 4)
        assert_close(log_mass.exp(), torch.tensor([expected], dtype=torch.float64))


@pytest.mark.parametrize(
    ("n", "n_classes", "window"), [(90, 3, 105), (30, 3, 45), (400, 12, 460), (2, 5, 27)]
)
def test_the_default_window_is_the_batch_and_five_instances_of_each_class(
    n, n_classes, window, seed
):
    batches = [rows(n, n_classes, seed + step) for step in range(30)]
    by_default, stated = TrackedMass(), TrackedMass(window)
    for batch in batches:
        sums = sum_by_class(batch)
        assert_close(by_default(sums), stated(sums))
    assert_close(by_default.seen, torch.tensor([float(window)], dtype=torch.float64))


def test_until_the_window_is_full_a_tracked_mass_is_the_plain_mean(seed):
    batches, mass = [rows(n, 4, seed + n) for n in (3, 5, 1)], TrackedMass()
    for batch in batches:
        mass(sum_by_class(batch))
    assert_close(mass.log_mass, sum_by_class(torch.cat(batches)).log_mass)
    assert_close(mass.seen, torch.tensor([9.0], dtype=torch.float64))


def test_a_tracked_mass_counts_weights(seed):
    log_q, weight, _ = log_predictions((6, 4), seed)
    copies = log_q.repeat_interleave(weight.long(), 0)
    weighted, repeated = TrackedMass(10), TrackedMass(10)
    for _ in range(3):
        assert_close(weighted(sum_by_class(log_q, weight=weight)), repeated(sum_by_class(copies)))
    assert_close(weighted.seen, repeated.seen)


def test_a_batch_in_which_nothing_counts_leaves_a_tracked_mass_alone(seed):
    mass, log_q = TrackedMass(), rows(6, 4, seed)
    mass(sum_by_class(log_q))
    before = mass.log_mass.clone()
    nothing = sum_by_class(rows(5, 4, seed + 1), weight=torch.zeros(5))
    assert torch.equal(mass(nothing), before)
    assert_close(mass.seen, torch.tensor([6.0], dtype=torch.float64))


def test_strata_that_saw_nothing_stay_uniform(seed):
    mass, log_q = TrackedMass(n_strata=3), rows(6, 4, seed)
    both = torch.tensor([0, 1] * 3)
    first = mass(sum_by_class(log_q, strata=both, n_strata=3))
    assert_close(first[2].exp(), torch.full((4,), 0.25, dtype=torch.float64))
    later = mass(sum_by_class(log_q, strata=torch.full((6,), 2), n_strata=3))
    assert_close(later, torch.cat([first[:2], sum_by_class(log_q).log_mass]))


def test_strata_are_tracked_each_on_its_own(seed):
    together, apart = TrackedMass(5, n_strata=2), [TrackedMass(5), TrackedMass(5)]
    for step in range(4):
        log_q, weight, strata = log_predictions((6, 4), seed + step)
        log_mass = together(sum_by_class(log_q, weight=weight, strata=strata, n_strata=2))
        for stratum, alone in enumerate(apart):
            own = sum_by_class(log_q, weight=weight * (strata == stratum))
            assert_close(log_mass[stratum : stratum + 1], alone(own))


def test_a_tracked_mass_stands_still_in_evaluation(seed):
    mass = TrackedMass()
    expected = mass(sum_by_class(rows(6, 4, seed))).clone()
    mass.eval()
    assert torch.equal(mass(sum_by_class(rows(5, 4, seed + 1))), expected)
    assert_close(mass.seen, torch.tensor([6.0], dtype=torch.float64))
    assert not torch.equal(mass.train()(sum_by_class(rows(5, 4, seed + 1))), expected)


def test_what_a_tracked_mass_returns_is_not_moved_by_the_next_batch(seed):
    mass = TrackedMass()
    first = mass(sum_by_class(rows(6, 4, seed)))
    kept = first.clone()
    mass(sum_by_class(rows(5, 4, seed + 1)))
    assert torch.equal(first, kept)


def test_a_tracked_mass_moves_where_it_lies(seed: int):
    mass = TrackedMass()
    mass(sum_by_class(rows(6, 4, seed)))
    before, places = mass.log_mass.clone(), (mass.log_mass.data_ptr(), mass.seen.data_ptr())
    used = mass(sum_by_class(rows(6, 4, seed + 1)))
    assert (mass.log_mass.data_ptr(), mass.seen.data_ptr()) == places
    assert not torch.equal(mass.log_mass, before)
    assert used.data_ptr() != places[0], "what a batch used must not move with the next"


@pytest.mark.parametrize("kind", [TrackedMass, CollectionMass])
@pytest.mark.parametrize("n_strata", [1, 2])
def test_a_state_goes_into_a_fresh_mass(kind, n_strata, seed):
    log_q, _, strata = log_predictions((6, 4), seed)
    sums = sum_by_class(log_q, strata=strata * (n_strata - 1), n_strata=n_strata)
    mass, fresh = kind(n_strata=n_strata), kind(n_strata=n_strata)
    mass(sums) if kind is TrackedMass else mass.refresh([sums])
    network, copy = (torch.nn.ModuleDict({"mass": module}) for module in (mass, fresh))
    copy.load_state_dict(network.state_dict())
    other = sum_by_class(rows(3, 4, seed + 1), strata=torch.zeros(3), n_strata=n_strata)
    for _ in range(2):
        assert_close(fresh(other), mass(other), rtol=0, atol=0)


def test_a_state_of_nothing_seen_leaves_nothing_seen(seed):
    fresh = TrackedMass()
    fresh.load_state_dict(TrackedMass().state_dict())
    assert_close(fresh(sum_by_class(rows(6, 4, seed))), sum_by_class(rows(6, 4, seed)).log_mass)


# The other masses


def test_a_batch_mass_is_the_mass_of_the_batch(seed):
    sums = sum_by_class(rows(6, 4, seed))
    assert torch.equal(BatchMass()(sums), sums.log_mass)


@few
@given(shape=shapes, seed=seeds)
def test_a_collection_in_parts_equals_the_collection_at_once(shape, seed):
    log_q, weight, strata = log_predictions(shape, seed)
    at_once, in_parts = CollectionMass().refresh(log_q), CollectionMass()
    assert_close(in_parts.refresh(log_q.split(1)).log_mass, at_once.log_mass)
    whole = sum_by_class(log_q, weight=weight, strata=strata, n_strata=2, group=None)
    parts = (
        sum_by_class(*part[:1], weight=part[1], strata=part[2], n_strata=2, group=None)
        for part in zip(log_q.split(1), weight.split(1), strata.split(1), strict=True)
    )
    stratified = CollectionMass(n_strata=2).refresh(parts)
    assert_close(stratified.log_mass, whole.log_mass)


def test_a_collection_mass_stands_still_between_refreshes(seed):
    mass = CollectionMass().refresh(rows(6, 4, seed))
    before = mass(sum_by_class(rows(3, 4, seed + 1))).clone()
    assert torch.equal(mass(sum_by_class(rows(9, 4, seed + 2))), before)
    assert_close(before, sum_by_class(rows(6, 4, seed)).log_mass)
    mass.refresh(rows(6, 4, seed + 1))
    assert_close(mass.log_mass, sum_by_class(rows(6, 4, seed + 1)).log_mass)


def test_a_refresh_keeps_no_graph(seed):
    logits = draw((6, 4), seed).logits.requires_grad_()
    assert not CollectionMass().refresh(logits.log_softmax(1)).log_mass.requires_grad


def test_a_fixed_mass_is_scaled_to_one(seed):
    sums = sum_by_class(rows(6, 4, seed))
    log_mass = FixedMass(torch.tensor([1.0, 2.0, 3.0, 4.0]))(sums)
    assert_close(log_mass.exp().float(), torch.tensor([[0.1, 0.2, 0.3, 0.4]]))
    assert log_mass.dtype == torch.float64
    assert_close(FixedMass.uniform(4)(sums).exp().float(), torch.full((1, 4), 0.25))


def test_a_fixed_mass_may_have_strata():
    mass = FixedMass(torch.tensor([[1.0, 3.0], [1.0, 1.0]]))
    assert mass.n_strata == 2
    assert_close(mass.log_mass.exp(), torch.tensor([[0.25, 0.75], [0.5, 0.5]]))


def test_a_mass_shows_its_settings():
    assert repr(TrackedMass(50, n_strata=2)) == "TrackedMass(n_strata=2, window=50)"
    assert repr(BatchMass()) == "BatchMass()"


# What is refused


@pytest.mark.parametrize("kind", [BatchMass, TrackedMass, CollectionMass])
def test_no_strata_at_all_are_refused(kind):
    with pytest.raises(InvalidInputError, match="`n_strata` must be at least 1, but it is 0"):
        kind(n_strata=0)


def test_an_empty_window_is_refused():
    with pytest.raises(InvalidInputError, match="`window` must be at least 1, but it is 0"):
        TrackedMass(0)


def test_a_tracked_mass_that_saw_nothing_is_refused_in_evaluation(seed):
    with pytest.raises(InvalidInputError, match="`mass` must have seen a batch"):
        TrackedMass().eval()(sum_by_class(rows(6, 4, seed)))


def test_a_collection_mass_without_refresh_is_refused(seed):
    with pytest.raises(InvalidInputError, match="`mass` must be refreshed"):
        CollectionMass()(sum_by_class(rows(6, 4, seed)))


def test_an_empty_collection_is_refused():
    with pytest.raises(InvalidInputError, match="`log_predictions` must hold at least one part"):
        CollectionMass().refresh([])


@pytest.mark.parametrize("parts", [[(6, 4), (6, 3)], [(6, 4), (6, 1)]])
def test_a_collection_of_unequal_classes_is_refused(parts):
    predictions = [torch.zeros(shape).log_softmax(1) for shape in parts]
    with pytest.raises(InvalidInputError, match="must speak of 4 classes and 1 strata"):
        CollectionMass().refresh(predictions)


def test_a_collection_without_the_strata_of_its_mass_is_refused(seed):
    with pytest.raises(InvalidInputError, match="must speak of 4 classes and 2 strata"):
        CollectionMass(n_strata=2).refresh(rows(6, 4, seed))


def test_a_collection_with_nan_is_refused(seed):
    with pytest.raises(InvalidInputError, match="must be log-probabilities, but a part holds NaN"):
        CollectionMass().refresh(rows(6, 4, seed) * math.nan)


@pytest.mark.parametrize("shape", [(1,), (6, 1), (4,)])
@pytest.mark.parametrize("argument", ["weight", "strata"])
def test_what_would_be_broadcast_is_refused(argument, shape, seed):
    with pytest.raises(InvalidInputError, match=rf"`{argument}` must have one entry per instance"):
        sum_by_class(rows(6, 4, seed), **{argument: torch.zeros(shape)})


def test_strata_are_asked_for_where_there_are_several(seed):
    with pytest.raises(InvalidInputError, match="`strata` must be given, for 2 strata"):
        sum_by_class(rows(6, 4, seed), n_strata=2)


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.inf, math.nan])
def test_a_fixed_mass_that_is_none_is_refused(wrong):
    with pytest.raises(InvalidInputError, match=rf"`mass` must .* class 1 has {wrong}"):
        FixedMass(torch.tensor([1.0, wrong, 2.0]))


def test_a_fixed_mass_of_too_many_axes_is_refused():
    with pytest.raises(InvalidInputError, match=r"`mass` must .* its shape is \(1, 2, 3\)"):
        FixedMass(torch.ones(1, 2, 3))


def test_the_base_of_the_masses_has_no_mass(seed):
    sums = MassSum.of(*sum_by_class(rows(6, 4, seed))[:2])
    with pytest.raises(NotImplementedError):
        ClassMass()(sums)
