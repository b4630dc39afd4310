"""The laws of the objectives: what holds for every one of them, and what ties them together."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy, mse_loss, one_hot
from torch.testing import assert_close

import tacit.objectives as objectives
from tacit.beliefs import Candidates, Categorical
from tacit.beliefs.pairs import Pairs
from tacit.evidence import BatchMass, FixedMass, class_mass, evidence
from tacit.objectives import (
    EM,
    QR,
    RQ,
    Clustering,
    FreeEnergy,
    HardCrossEntropy,
    SoftCrossEntropy,
    SquaredError,
    UnionNLL,
)
from tests.objectives.cases import (
    AS_THEY_ARE,
    BELIEFS,
    COUPLED,
    INDEPENDENT,
    MASSES,
    N_CLASSES,
    N_INSTANCES,
    OBJECTIVES,
    STRUCTURED,
    WITH_BELIEF,
    batches,
    draw,
    pixels,
    raster,
    upstream,
    values_and_gradient,
)
from tests.objectives.referee import Referee

every_objective = pytest.mark.parametrize("kind", OBJECTIVES)
every_objective_with_belief = pytest.mark.parametrize("kind", WITH_BELIEF)
few = settings(max_examples=3)
seeds = st.integers(0, 2**32)

FUNCTIONS = {
    RQ: objectives.rq,
    QR: objectives.qr,
    FreeEnergy: objectives.free_energy,
    EM: objectives.em,
    Clustering: objectives.clustering,
    SoftCrossEntropy: objectives.soft_cross_entropy,
    HardCrossEntropy: objectives.hard_cross_entropy,
    SquaredError: objectives.squared_error,
    UnionNLL: objectives.union_nll,
}


# Against plain loops


@every_objective
@settings(max_examples=3)
@given(batch=batches, smoothing=st.sampled_from([0.0, 0.01]), weighted=st.booleans())
def test_values_equal_the_loops(kind, batch, smoothing, weighted):
    flat, weight = batch.flat(), batch.weight if weighted else None
    values, gradient = values_and_gradient(kind, batch, smoothing=smoothing, weight=weight)
    referee = Referee(
        kind.__name__,
        None if kind is Clustering else flat.belief.numpy(),
        weight=flat.weight.numpy() if weighted else None,
        smoothing=smoothing,
    )
    logits = flat.logits.numpy()
    assert_close(values.flatten(), torch.from_numpy(referee.loss(logits)))
    slope = referee.gradient(logits, upstream(values).flatten().numpy())
    assert_close(pixels(gradient), torch.from_numpy(slope))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("kind", COUPLED)
@settings(max_examples=3)
@given(seed=seeds, log_prediction=st.booleans())
def test_values_under_strata_equal_the_loops(kind, mass, reduction, seed, log_prediction):
    batch, other = draw((6, 4), seed, log_prediction=log_prediction), draw((8, 4), seed + 1)
    made = MASSES[mass](other.logits.log_softmax(1), 2).eval()
    extra = {"weight": batch.weight, "strata": batch.strata}
    value, gradient = values_and_gradient(
        kind, batch, mass=made, smoothing=0.0, reduction=reduction, **extra
    )
    referee = Referee(
        kind.__name__,
        None if kind is Clustering else batch.belief.numpy(),
        **{name: tensor.numpy() for name, tensor in extra.items()},
        n_strata=2,
        mass=None if mass == "batch" else made.log_mass.exp().numpy(),
        flows=made.flows,
        reduction=reduction,
    )
    logits = batch.logits.numpy()
    assert_close(value, torch.as_tensor(referee.loss(logits)))
    slope = referee.gradient(logits, upstream(value).numpy())
    assert_close(gradient, torch.from_numpy(slope))


@pytest.mark.parametrize("belief", BELIEFS)
@every_objective_with_belief
@settings(max_examples=2)
@given(seed=seeds, weighted=st.booleans())
def test_values_with_any_belief_equal_enumeration(kind, belief, seed, weighted):
    batch = draw((N_INSTANCES, N_CLASSES), seed)
    smoothing = kind.formula.smoothing
    if belief in ("categorical", "logs"):
        # Independent beliefs are smoothed themselves, groups in their marginals.
        smoothing = 0.0
    elif belief in INDEPENDENT and smoothing:
        kind, smoothing = RQ, 0.0
    weight = batch.weight if weighted else None
    own = BELIEFS[belief].build(AS_THEY_ARE)
    values, gradient = values_and_gradient(
        kind, batch, belief=own, weight=weight, smoothing=smoothing
    )
    referee = Referee(
        kind.__name__,
        BELIEFS[belief].prior,
        weight=None if weight is None else weight.numpy(),
        smoothing=smoothing,
    )
    # Beliefs keep their own marginals in single precision.
    close = {"rtol": 1e-6, "atol": 1e-6}
    assert_close(values, torch.from_numpy(referee.loss(batch.logits.numpy())), **close)
    slope = referee.gradient(batch.logits.numpy(), upstream(values).numpy())
    assert_close(gradient, torch.from_numpy(slope), **close)


# Invariances


@every_objective_with_belief
@few
@given(batch=batches, smoothing=st.sampled_from([0.0, 0.01]))
def test_rescaling_a_belief_row_changes_nothing(kind, batch, smoothing):
    factor = 10 ** torch.linspace(-40, 40, batch.weight.numel()).double().view_as(batch.weight)
    expected = values_and_gradient(kind, batch, smoothing=smoothing)
    rescaled = batch._replace(belief=batch.belief * factor.unsqueeze(1))
    assert_close(values_and_gradient(kind, rescaled, smoothing=smoothing), expected)
    in_logs = Categorical.from_log(pixels(rescaled.belief).log() + 500)
    assert_close(values_and_gradient(kind, batch, belief=in_logs, smoothing=smoothing), expected)


@every_objective
@few
@given(batch=batches, seed=seeds)
def test_permuting_classes_permutes_the_gradient_alone(kind, batch, seed):
    order = torch.randperm(batch.logits.shape[1], generator=torch.Generator().manual_seed(seed))
    moved = batch._replace(logits=batch.logits[:, order], belief=batch.belief[:, order])
    values, gradient = values_and_gradient(kind, batch, weight=batch.weight)
    permuted = values_and_gradient(kind, moved, weight=batch.weight)
    assert_close(permuted, (values, gradient[:, order]))


@every_objective
@few
@given(batch=batches, seed=seeds)
def test_permuting_instances_permutes_the_values(kind, batch, seed):
    order = torch.randperm(len(batch.logits), generator=torch.Generator().manual_seed(seed))
    values, _ = values_and_gradient(kind, batch, weight=batch.weight)
    moved = batch.take(order)
    assert_close(values_and_gradient(kind, moved, weight=moved.weight)[0], values[order])
    mean, gradient = values_and_gradient(kind, batch, weight=batch.weight, reduction="mean")
    permuted = values_and_gradient(kind, moved, weight=moved.weight, reduction="mean")
    assert_close(permuted, (mean, gradient[order]))


@pytest.mark.parametrize("belief", BELIEFS)
@every_objective_with_belief
@settings(max_examples=2)
@given(seed=seeds)
def test_permuting_instances_and_their_belief_permutes_the_values(kind, belief, seed):
    batch = draw((N_INSTANCES, N_CLASSES), seed)
    place = torch.randperm(N_INSTANCES, generator=torch.Generator().manual_seed(seed))
    moved = batch.take(place.argsort())
    smoothing = kind.formula.smoothing
    values, _ = values_and_gradient(
        kind, batch, belief=BELIEFS[belief].build(AS_THEY_ARE), smoothing=smoothing
    )
    permuted, _ = values_and_gradient(
        kind, moved, belief=BELIEFS[belief].build(place.tolist()), smoothing=smoothing
    )
    assert_close(permuted[place], values)


def _with_rubbish(batch):
    """The batch with no numbers where it is masked."""
    absent = ~batch.mask.unsqueeze(1)
    hidden = (tensor.masked_fill(absent, torch.nan) for tensor in (batch.logits, batch.belief))
    return batch._replace(logits=next(hidden), belief=next(hidden))


@pytest.mark.parametrize("by_formula", [True, False])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@every_objective
@settings(max_examples=3)
@given(batch=batches, smoothing=st.sampled_from([0.0, 0.01]))
def test_masked_equals_deleted(kind, reduction, by_formula, batch, smoothing):
    how = {"reduction": reduction, "by_formula": by_formula, "smoothing": smoothing}
    batch = batch._replace(log_prediction=False)
    flat = batch.flat()
    loss, gradient = values_and_gradient(kind, _with_rubbish(batch), mask=batch.mask, **how)
    expected, slope = values_and_gradient(kind, flat.take(flat.mask), **how)
    assert_close((loss, pixels(gradient)[flat.mask]), (expected, slope))
    assert not pixels(gradient)[~flat.mask].any()


@every_objective
@few
@given(batch=batches)
def test_masked_values_are_zero_and_the_others_those_of_the_rest(kind, batch):
    flat = batch.flat()
    batch = _with_rubbish(batch._replace(log_prediction=False))
    values, _ = values_and_gradient(kind, batch, mask=batch.mask)
    expected, _ = values_and_gradient(kind, flat.take(flat.mask))
    assert not values[~batch.mask].any()
    assert_close(values[batch.mask], expected)


@every_objective
@few
@given(batch=batches)
def test_masked_log_predictions_may_hold_anything(kind, batch):
    log_q = batch.logits.log_softmax(1)
    rubbish = log_q.masked_fill(~batch.mask.unsqueeze(1), torch.nan).requires_grad_()
    belief = {} if kind is Clustering else {"belief": batch.belief}
    objective = kind(smoothing=0.0)
    loss = objective(log_prediction=rubbish, mask=batch.mask, **belief)
    assert_close(loss, objective(log_prediction=log_q, mask=batch.mask, **belief))
    (gradient,) = torch.autograd.grad(loss, rubbish)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("belief", STRUCTURED)
@every_objective_with_belief
@settings(max_examples=2)
@given(seed=seeds)
def test_a_masked_member_of_a_group_is_unobserved(kind, belief, seed):
    batch = draw((N_INSTANCES, N_CLASSES), seed)
    hidden = batch.logits.masked_fill(~batch.mask.unsqueeze(1), torch.nan)
    referee = Referee(
        kind.__name__,
        BELIEFS[belief].prior,
        weight=batch.mask.double().numpy(),
        smoothing=kind.formula.smoothing,
    )
    values, gradient = values_and_gradient(
        kind,
        batch._replace(logits=hidden),
        belief=BELIEFS[belief].build(AS_THEY_ARE),
        mask=batch.mask,
        smoothing=kind.formula.smoothing,
    )
    close = {"rtol": 1e-6, "atol": 1e-6}
    assert_close(values, torch.from_numpy(referee.loss(batch.logits.numpy())), **close)
    slope = referee.gradient(batch.logits.numpy(), upstream(values).numpy())
    assert_close(gradient, torch.from_numpy(slope), **close)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@every_objective
@few
@given(batch=batches, smoothing=st.sampled_from([0.0, 0.01]))
def test_an_integer_weight_equals_replication(kind, reduction, batch, smoothing):
    flat, how = batch.flat(), {"reduction": reduction, "smoothing": smoothing}
    copies = torch.arange(len(flat.weight)).repeat_interleave(flat.weight.long())
    loss, gradient = values_and_gradient(kind, flat, weight=flat.weight, **how)
    expected, slope = values_and_gradient(kind, flat.take(copies), **how)
    assert_close(
        (loss, gradient), (expected, torch.zeros_like(gradient).index_add(0, copies, slope))
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@every_objective
@few
@given(batch=batches)
def test_a_raster_equals_its_flattened_pixels(kind, reduction, batch):
    flat = batch.flat()
    value, gradient = values_and_gradient(kind, batch, weight=batch.weight, reduction=reduction)
    expected, slope = values_and_gradient(kind, flat, weight=flat.weight, reduction=reduction)
    assert_close((value.reshape(expected.shape), pixels(gradient)), (expected, slope))


@pytest.mark.parametrize("belief", BELIEFS)
@every_objective_with_belief
def test_a_belief_covers_a_raster_pixel_by_pixel(kind, belief, seed):
    batch = draw((N_INSTANCES, N_CLASSES), seed)
    own, how = BELIEFS[belief].build(AS_THEY_ARE), {"smoothing": kind.formula.smoothing}
    expected, slope = values_and_gradient(kind, batch, belief=own, **how)
    for shape in [
        torch.Size([1, N_CLASSES, N_INSTANCES]),
        torch.Size([N_INSTANCES, N_CLASSES, 1, 1]),
    ]:
        image = batch._replace(logits=raster(batch.logits, shape))
        values, gradient = values_and_gradient(kind, image, belief=own, **how)
        assert_close((values.flatten(), pixels(gradient)), (expected, slope))


@every_objective_with_belief
@few
@given(batch=batches, seed=seeds, smoothing=st.sampled_from([0.0, 0.01]))
def test_candidate_sets_equal_their_mask(kind, batch, seed, smoothing):
    mask = torch.rand(batch.logits.shape, generator=torch.Generator().manual_seed(seed)) > 0.5
    mask[:, 1] = True
    smoothing = max(smoothing, kind.formula.smoothing)
    expected = values_and_gradient(kind, batch, belief=mask.double(), smoothing=smoothing)
    for belief in (mask, Candidates.from_mask(pixels(mask))):
        assert_close(values_and_gradient(kind, batch, belief=belief, smoothing=smoothing), expected)


@every_objective_with_belief
@few
@given(seed=seeds)
def test_pairs_from_an_outer_product_equal_two_independent_rows(kind, seed):
    batch = draw((6, 3), seed)
    table = batch.belief[0::2, :, None] * batch.belief[1::2, None, :]
    pairs = Pairs.from_table([[0, 1], [2, 3], [4, 5]], table, n_instances=6)
    # Pairs keep their own marginals in single precision.
    assert_close(
        values_and_gradient(kind, batch, belief=pairs, smoothing=0.0),
        values_and_gradient(kind, batch, smoothing=0.0),
        rtol=1e-6,
        atol=1e-6,
    )


# The class mass


@pytest.mark.parametrize("kind", COUPLED)
@few
@given(batch=batches)
def test_strata_equal_batches_of_their_own(kind, batch):
    flat = batch.flat()
    how = {"weight": flat.weight, "strata": flat.strata, "mass": BatchMass(n_strata=2)}
    values, _ = values_and_gradient(kind, flat, **how)
    for stratum in (0, 1):
        part = flat.take(flat.strata == stratum)
        if part.weight.any():
            expected, _ = values_and_gradient(kind, part, weight=part.weight)
            assert_close(values[flat.strata == stratum], expected)


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("kind", COUPLED)
@few
@given(seed=seeds)
def test_the_order_of_strata_does_not_matter(kind, mass, seed):
    batch, other = draw((6, 4), seed), draw((8, 4), seed + 1).logits.log_softmax(1)
    made = MASSES[mass](other, 2).eval()
    both = values_and_gradient(kind, batch, mass=made, strata=batch.strata)
    if mass != "batch":
        made.log_mass = made.log_mass.flip(0)
    assert_close(values_and_gradient(kind, batch, mass=made, strata=1 - batch.strata), both)


@pytest.mark.parametrize("mass", ["tracked", "collection", "fixed"])
@pytest.mark.parametrize("kind", COUPLED)
@few
@given(seed=seeds)
def test_permuting_classes_permutes_any_mass(kind, mass, seed):
    batch, other = draw((6, 4), seed), draw((8, 4), seed + 1).logits.log_softmax(1)
    order = torch.randperm(4, generator=torch.Generator().manual_seed(seed))
    made = MASSES[mass](other, 1).eval()
    values, gradient = values_and_gradient(kind, batch, mass=made)
    made.log_mass = made.log_mass[:, order]
    moved = batch._replace(logits=batch.logits[:, order], belief=batch.belief[:, order])
    assert_close(values_and_gradient(kind, moved, mass=made), (values, gradient[:, order]))


@pytest.mark.parametrize("kind", COUPLED)
@few
@given(batch=batches, smoothing=st.sampled_from([0.0, 0.01]))
def test_a_given_mass_equals_a_fixed_one(kind, batch, smoothing):
    mass = torch.linspace(1, 2, batch.logits.shape[1], dtype=torch.float64)
    mass = mass / mass.sum()
    belief = () if kind is Clustering else (batch.belief,)
    extra = {"log_mass": mass.log(), "smoothing": smoothing, "weight": batch.weight}
    values = FUNCTIONS[kind](batch.logits, *belief, **extra)
    fixed, how = FixedMass(mass).double(), {"weight": batch.weight, "smoothing": smoothing}
    # The default type is single; a mass fixed in it is that much away.
    expected, _ = values_and_gradient(kind, batch, mass=fixed, **how)
    assert_close(values, expected, rtol=1e-6, atol=1e-6)


@every_objective
@few
@given(batch=batches)
def test_the_function_gives_the_values_of_the_module(kind, batch):
    belief = () if kind is Clustering else (batch.belief,)
    values = FUNCTIONS[kind](batch.logits, *belief, mask=batch.mask, smoothing=1e-3)
    expected, _ = values_and_gradient(kind, batch, mask=batch.mask, smoothing=1e-3)
    assert_close(values, expected)
    by_name = {"log_prediction": batch.logits.log_softmax(1), "mask": batch.mask}
    if belief:
        by_name["belief"] = batch.belief
    assert_close(FUNCTIONS[kind](**by_name, smoothing=1e-3), expected)


@pytest.mark.parametrize("kind", COUPLED)
@few
@given(batch=batches)
def test_the_function_takes_weights_and_strata(kind, batch):
    belief = () if kind is Clustering else (batch.belief,)
    extra = {"weight": batch.weight, "strata": batch.strata}
    values = FUNCTIONS[kind](batch.logits, *belief, **extra, smoothing=0.0)
    mass = BatchMass(n_strata=2)
    assert_close(values, values_and_gradient(kind, batch, mass=mass, smoothing=0.0, **extra)[0])


@every_objective
@few
@given(batch=batches)
def test_reductions_are_weighted_sums_of_the_values(kind, batch):
    w, by = batch.weight, {}
    for reduction in ("mean", "sum", "none"):
        by[reduction] = values_and_gradient(kind, batch, weight=w, reduction=reduction)[0]
    assert_close(by["sum"], (by["none"] * w).sum())
    assert_close(by["mean"], by["sum"] / w.sum())


# What ties the objectives to each other and to known losses


def _posterior(batch, mass=None):
    """log q, log S, log r and the log-normaliser, rows of a batch without weights."""
    log_q = batch.flat().logits.log_softmax(1)
    log_S = class_mass(log_q).log() if mass is None else mass
    belief = Categorical(batch.flat().belief)
    return log_q, log_S, *belief.posterior(evidence(log_q, log_mass=log_S))


@pytest.mark.parametrize("kind", [RQ, QR])
@few
@given(batch=batches)
def test_a_divergence_is_not_negative(kind, batch):
    assert (values_and_gradient(kind, batch, smoothing=0.0)[0] >= -1e-12).all()


@pytest.mark.parametrize("kind", [RQ, QR])
@few
@given(batch=batches)
def test_a_divergence_is_zero_where_prediction_and_posterior_agree(kind, batch):
    S = class_mass(batch.logits.log_softmax(1))
    same = S.view(-1, *[1] * (batch.logits.ndim - 2)).expand_as(batch.belief)
    values, _ = values_and_gradient(kind, batch, belief=7 * same, smoothing=0.0)
    assert_close(values, torch.zeros_like(values))


@few
@given(batch=batches)
def test_a_constant_predictor_returns_the_belief(batch):
    batch = batch._replace(logits=batch.logits[:1].expand_as(batch.logits).contiguous())
    flat = batch.flat()._replace(log_prediction=False)
    flat = flat._replace(logits=flat.logits[:1].expand_as(flat.logits).contiguous())
    q, p = flat.logits.softmax(1), flat.belief / flat.belief.sum(1, keepdim=True)
    values, _ = values_and_gradient(RQ, flat)
    assert_close(values, (p * (p / q).log()).sum(1))
    assert_close(_posterior(flat)[2].exp(), p)
    silent = values_and_gradient(Clustering, flat)[0]
    assert_close(silent, torch.zeros_like(silent))


@few
@given(batch=batches)
def test_qr_is_the_free_energy_plus_the_log_normaliser(batch):
    log_normaliser = _posterior(batch)[3]
    exact, _ = values_and_gradient(QR, batch, smoothing=0.0)
    short, _ = values_and_gradient(FreeEnergy, batch, smoothing=0.0)
    assert_close(exact.flatten(), short.flatten() + log_normaliser)


@few
@given(batch=batches)
def test_rq_is_a_cross_entropy_less_an_entropy(batch):
    log_q, _, log_r, _ = _posterior(batch)
    across = -(log_r.exp() * log_q).sum(1)
    entropy = -(log_r.exp() * log_r).sum(1)
    values, _ = values_and_gradient(RQ, batch)
    assert_close(values.flatten(), across - entropy)


@pytest.mark.parametrize("kind", [RQ, EM, UnionNLL, SoftCrossEntropy, HardCrossEntropy])
@few
@given(batch=batches, seed=seeds)
def test_one_hot_beliefs_give_cross_entropy(kind, batch, seed):
    shape, n_classes = batch.weight.shape, batch.logits.shape[1]
    labels = torch.randint(0, n_classes, shape, generator=torch.Generator().manual_seed(seed))
    belief = one_hot(labels, n_classes).movedim(-1, 1).double()
    loss = values_and_gradient(kind, batch, belief=belief, reduction="mean")
    logits = batch.logits.clone().requires_grad_()
    expected = cross_entropy(logits, labels)
    (slope,) = torch.autograd.grad(0.5 * expected, logits)
    assert_close(loss, (expected.detach(), slope))


@few
@given(batch=batches, seed=seeds)
def test_rq_under_a_uniform_mass_is_the_union_nll_of_candidate_sets(batch, seed):
    mask = torch.rand(batch.logits.shape, generator=torch.Generator().manual_seed(seed)) > 0.5
    mask[:, 0] = True
    mass = FixedMass.uniform(mask.shape[1])
    given = {"belief": Candidates.from_mask(pixels(mask)), "weight": batch.weight}
    assert_close(
        values_and_gradient(RQ, batch, mass=mass, **given),
        values_and_gradient(UnionNLL, batch, **given),
    )
    direct = -(batch.logits.softmax(1) * mask).sum(1).log() * batch.mask
    assert_close(values_and_gradient(UnionNLL, batch, **given)[0], direct)


@few
@given(batch=batches)
def test_the_gradient_of_em_is_that_of_the_log_normaliser_with_the_mass_held(batch):
    flat = batch.flat()
    log_S = class_mass(flat.logits.log_softmax(1)).log()
    logits = flat.logits.clone().requires_grad_()
    p = flat.belief / flat.belief.sum(1, keepdim=True)
    log_likelihood = (p * (logits.log_softmax(1) - log_S).exp()).sum(1).log()
    (slope,) = torch.autograd.grad(-(log_likelihood * upstream(log_likelihood)).sum(), logits)
    assert_close(values_and_gradient(EM, flat)[1], slope)


@few
@given(batch=batches)
def test_clustering_is_minus_the_mutual_information(batch):
    q = batch.flat().logits.softmax(1)
    S = q.mean(0)
    information = (q * (q / S).log()).sum(1).mean()
    assert_close(values_and_gradient(Clustering, batch, reduction="mean")[0], -information)


@few
@given(batch=batches)
def test_soft_cross_entropy_is_that_of_torch(batch):
    target = batch.belief / batch.belief.sum(1, keepdim=True)
    logits = batch.logits.clone().requires_grad_()
    expected = cross_entropy(logits, target, reduction="none")
    (slope,) = torch.autograd.grad((expected * upstream(expected)).sum(), logits)
    assert_close(values_and_gradient(SoftCrossEntropy, batch), (expected.detach(), slope))


@few
@given(batch=batches)
def test_hard_cross_entropy_is_that_of_the_likeliest_class(batch):
    expected = cross_entropy(batch.logits, batch.belief.argmax(1), reduction="none")
    assert_close(values_and_gradient(HardCrossEntropy, batch)[0], expected)


@few
@given(batch=batches)
def test_squared_error_is_that_of_torch(batch):
    target = batch.belief / batch.belief.sum(1, keepdim=True)
    expected = mse_loss(batch.logits.softmax(1), target, reduction="none").sum(1)
    assert_close(values_and_gradient(SquaredError, batch)[0], expected)


@every_objective
def test_a_baseline_takes_no_part_in_the_class_mass(kind, seed):
    batch = draw((5, 4), seed)
    alone, _ = values_and_gradient(kind, batch.take(torch.tensor([0])))
    together, _ = values_and_gradient(kind, batch)
    assert torch.equal(alone[0].round(decimals=9), together[0].round(decimals=9)) != (
        kind in COUPLED
    )
