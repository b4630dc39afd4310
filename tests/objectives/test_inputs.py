"""Bad input is refused with a sentence that names the argument, the row and the way out."""

from __future__ import annotations

import math
import re

import pytest
import torch

from tacit.beliefs import Candidates, Categorical
from tacit.beliefs.pairs import Pairs
from tacit.errors import InvalidInputError
from tacit.evidence import BatchMass, CollectionMass, FixedMass, TrackedMass
from tacit.objectives import EM, QR, RQ, Clustering, FreeEnergy, SoftCrossEntropy, UnionNLL, em, rq
from tests.objectives.cases import BASELINES, COUPLED, OBJECTIVES, WITH_BELIEF, draw

every_objective = pytest.mark.parametrize("kind", OBJECTIVES)
every_objective_with_belief = pytest.mark.parametrize("kind", WITH_BELIEF)
IMAGE = (2, 3, 4, 5)


def refused(argument, *parts):
    """A refusal of `argument` whose sentence holds the parts in their order."""
    pattern = ".*".join(re.escape(part) for part in (f"`{argument}` must ", *parts))
    return pytest.raises(InvalidInputError, match=pattern)


def arguments(kind, shape=(6, 4)):
    batch = draw(shape, 0)
    return (batch.logits,) if kind is Clustering else (batch.logits, batch.belief)


def spoilt(table, value, row=2, label=1):
    table = table.clone()
    table[row, label] = value
    return table


# Values of the belief


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.5])
@every_objective_with_belief
def test_a_wrong_number_in_a_belief_is_refused(kind, value):
    logits, belief = arguments(kind)
    with refused("belief", "be finite and at least 0", "row 2, class 1 holds", str(value)):
        kind()(logits, spoilt(belief, value))


@every_objective_with_belief
def test_smoothing_hides_no_negative_number(kind):
    logits, belief = arguments(kind)
    with refused("belief", "be finite and at least 0", "row 2, class 1 holds -1e-05"):
        kind(smoothing=1e-2)(logits, spoilt(belief, -1e-5))


@pytest.mark.parametrize("smoothing", [0.0, 1e-4])
@every_objective_with_belief
def test_log_probabilities_are_refused_as_a_tensor_of_probabilities(kind, smoothing):
    logits, belief = arguments(kind)
    with refused("belief", "be finite and at least 0", "row 0, class 0 holds -"):
        kind(smoothing=smoothing)(logits, -1.0 - belief)


@pytest.mark.parametrize("value", [math.nan, -0.5])
def test_a_wrong_number_in_a_raster_of_beliefs_is_refused_by_its_place(value):
    logits, belief = arguments(RQ, IMAGE)
    belief[1, 2, 0, 3] = value
    with refused("belief", "be finite and at least 0", "class 2 holds", str(value)):
        RQ()(logits, belief)


@every_objective_with_belief
def test_an_all_zero_row_of_beliefs_is_refused(kind):
    logits, belief = arguments(kind)
    belief[3] = 0
    with refused("belief", "allow at least one class in each row", "row 3 is all zero"):
        kind()(logits, belief)


@every_objective_with_belief
def test_an_empty_candidate_set_is_refused(kind):
    logits, belief = arguments(kind)
    mask = belief > 0
    mask[4] = False
    with refused("belief", "allow at least one class in each row", "row 4 is all zero"):
        kind()(logits, mask)


@pytest.mark.parametrize(
    ("row", "sentence"), [(math.nan, "row 2, class 1 holds nan"), (-math.inf, "row 2 is all minus")]
)
def test_wrong_log_beliefs_are_refused(row, sentence):
    logits, belief = arguments(RQ)
    log_p = belief.log()
    log_p[2, 1:] = row
    log_p[2, :1] = row if row < 0 else 0
    with refused("belief", sentence):
        RQ()(logits, Categorical.from_log(log_p, validate=False))
    with refused("log_probabilities", sentence):
        Categorical.from_log(log_p)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0])
@every_objective_with_belief
def test_a_masked_row_may_be_no_belief(kind, value):
    logits, belief = arguments(kind)
    belief[2] = value
    assert kind()(logits, belief, mask=torch.arange(6) != 2).isfinite()


@every_objective_with_belief
def test_without_validation_values_pass(kind):
    logits, belief = arguments(kind)
    value = kind(validate=False)(logits, spoilt(belief, math.nan))
    assert not value.isfinite() or kind.__name__ == "HardCrossEntropy"


def test_functions_validate_and_can_be_told_not_to():
    logits, belief = arguments(RQ)
    with refused("belief", "row 2, class 1 holds nan"):
        rq(logits, spoilt(belief, math.nan))
    assert rq(logits, spoilt(belief, math.nan), validate=False)[2].isnan()


# Shape and type of the belief


@every_objective_with_belief
def test_a_wrong_class_count_is_refused(kind):
    logits, belief = arguments(kind)
    with refused("belief", "have the shape of `logits`, (6, 4)", "its shape is (6, 3)"):
        kind()(logits, belief[:, :3])
    with refused("belief", "cover the 6 instances and 4 classes", "6 instances and 3 classes"):
        kind()(logits, Categorical(belief[:, :3]))


@every_objective_with_belief
def test_a_wrong_instance_count_is_refused(kind):
    logits, belief = arguments(kind)
    with refused("belief", "have the shape of `logits`, (6, 4)", "its shape is (5, 4)"):
        kind()(logits, belief[:5])
    with refused("belief", "cover the 6 instances", "it covers 5 instances", "belief[rows]"):
        kind()(logits, Candidates.from_mask(belief[:5] > 0))
    pairs = Pairs.greater([[0, 1]], n_classes=4, n_instances=7)
    with refused("belief", "cover the 6 instances", "it covers 7 instances"):
        kind()(logits, pairs)


def test_a_belief_is_compared_with_the_argument_that_was_given():
    logits, belief = arguments(RQ)
    with refused("belief", "have the shape of `log_prediction`"):
        RQ()(log_prediction=logits.log_softmax(1), belief=belief[:5])


@every_objective_with_belief
def test_labels_are_no_belief(kind):
    logits, _ = arguments(kind)
    with refused("belief", "have the shape of", "its shape is (6,)", "one_hot"):
        kind()(logits, torch.arange(6) % 4)
    with refused("belief", "hold probabilities", "it is torch.int64", "belief.float()"):
        kind()(logits, torch.ones(6, 4, dtype=torch.long))


@every_objective_with_belief
def test_something_else_is_no_belief(kind):
    logits, belief = arguments(kind)
    with refused("belief", "be a tensor of probabilities", "it is a list"):
        kind()(logits, belief.tolist())
    with refused("belief", "be given", "none came"):
        kind()(logits)


def test_clustering_takes_no_belief():
    with refused("belief", "be left out", "one came", "FreeEnergy"):
        Clustering()(*arguments(RQ))


# The prediction


@every_objective
def test_both_or_neither_prediction_are_refused(kind):
    logits, *belief = arguments(kind)
    given = {"belief": belief[0]} if belief else {}
    with refused("logits", "be given, or log_prediction instead", "both came"):
        kind()(logits=logits, log_prediction=logits.log_softmax(1), **given)
    with refused("logits", "be given, or log_prediction instead", "neither came"):
        kind()(**given)


@every_objective
def test_one_class_is_refused(kind):
    with refused("logits", "have at least 2 classes on axis 1", "(6, 1)"):
        kind()(*arguments(kind, (6, 1)))


@pytest.mark.parametrize("shape", [(0, 4), (3, 4, 0), (0, 4, 2, 2)])
@every_objective
def test_an_empty_batch_is_refused(kind, shape):
    empty = [torch.empty(shape) for _ in arguments(kind)]
    with refused("logits", "hold at least one instance", str(shape), "skip empty batches"):
        kind()(*empty)


@pytest.mark.parametrize(
    ("scores", "got"),
    [
        (torch.ones(4), "it is torch.float32 of (4,)"),
        (torch.ones(6, 4, dtype=torch.long), "it is torch.int64 of (6, 4)"),
        ([[1.0, 2.0]], "it is a list"),
    ],
)
@every_objective
def test_other_predictions_are_refused(kind, scores, got):
    rest = arguments(kind)[1:]
    with refused("logits", "be a floating-point tensor (N, class)", got):
        kind()(scores, *rest)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@every_objective
def test_logits_that_are_no_numbers_are_refused(kind, value):
    logits, *belief = arguments(kind)
    with refused("logits", "be finite", "instance 2 has [", str(value)):
        kind()(spoilt(logits, value), *belief)


@every_objective
def test_logits_of_a_raster_are_refused_by_their_place(kind):
    logits, *belief = arguments(kind, IMAGE)
    logits[1, 2, 3, 4] = math.nan
    with refused("logits", "be finite", "instance (1, 19) has"):
        kind()(logits, *belief)


@every_objective
def test_log_predictions_that_are_no_logs_are_refused(kind):
    logits, *belief = arguments(kind)
    given = {"belief": belief[0]} if belief else {}
    for value in (math.nan, math.inf):
        with refused("log_prediction", "be at most 0 and not NaN", "instance 2 has ["):
            kind()(log_prediction=spoilt(logits.log_softmax(1), value), **given)


@pytest.mark.parametrize("kind", COUPLED)
def test_logits_are_refused_as_log_predictions(kind):
    logits, *belief = arguments(kind)
    given = {"belief": belief[0]} if belief else {}
    with refused("log_prediction", "each row adds up to 1", "rows add up to"):
        kind()(log_prediction=logits + 1, **given)


def test_a_refused_batch_leaves_a_tracked_mass_alone():
    logits, belief = arguments(EM)
    objective = EM(TrackedMass())
    objective(logits, belief)
    before = objective.mass.log_mass.clone()
    with refused("logits", "be finite"):
        objective(spoilt(logits, math.nan), belief)
    assert torch.equal(objective.mass.log_mass, before)


# A belief and a prediction that exclude each other


@pytest.mark.parametrize("kind", [RQ, QR, FreeEnergy, EM, SoftCrossEntropy, UnionNLL])
def test_a_belief_and_a_prediction_that_exclude_each_other_are_refused(kind):
    log_q = torch.tensor([[0.5, 0.5], [1.0, 0.0]]).log()
    belief = torch.tensor([[0.5, 0.5], [0.0, 1.0]])
    with refused("belief", "leave the prediction somewhere to go", "instance 1", "smoothing=1e-4"):
        kind(smoothing=0.0)(log_prediction=log_q, belief=belief)
    assert kind(smoothing=1e-4)(log_prediction=log_q, belief=belief).isfinite()


@pytest.mark.parametrize("kind", [QR, FreeEnergy])
def test_hard_zeros_are_refused_where_they_make_the_objective_infinite(kind):
    logits, belief = arguments(kind)
    with refused("belief", kind.__name__, "at instance 2", "smoothing=1e-4"):
        kind(smoothing=0.0)(logits, spoilt(belief, 0.0))
    assert kind()(logits, spoilt(belief, 0.0)).isfinite()


@pytest.mark.parametrize("kind", [RQ, EM, UnionNLL])
def test_a_pair_that_the_prediction_excludes_is_refused(kind):
    log_q = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).log()
    pairs = Pairs.greater([[0, 1]], n_classes=2, n_instances=3)
    with refused("belief", "leave the prediction somewhere to go", "instance 0"):
        kind()(log_prediction=log_q, belief=pairs)


# Mask, weight and strata


@every_objective
def test_a_weight_that_is_no_tensor_is_refused(kind):
    with refused("weight", "be a tensor with one entry per instance", "it is a list"):
        kind()(*arguments(kind), weight=[1.0] * 6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool])
def test_strata_that_are_no_whole_numbers_are_refused(dtype):
    with refused("strata", "be whole numbers", str(dtype), "strata.long()"):
        rq(*arguments(RQ), strata=torch.ones(6, dtype=dtype))


def test_strata_may_be_whole_numbers_of_one_byte():
    strata = torch.tensor([0, 1, 1, 0, 1, 0])
    narrow = rq(*arguments(RQ), strata=strata.to(torch.uint8))
    assert torch.equal(narrow, rq(*arguments(RQ), strata=strata))


@pytest.mark.parametrize("shape", [(5,), (2, 5), (1, 1), ()])
def test_a_log_mass_of_another_shape_is_refused(shape):
    with refused("log_mass", "(strata, class) with 4 classes", f"its shape is {shape}"):
        rq(*arguments(RQ), log_mass=torch.zeros(shape))


@every_objective
def test_a_mask_that_is_none_is_refused(kind):
    with refused("mask", "be a boolean tensor", "it is torch.float64", "mask > 0"):
        kind()(*arguments(kind), mask=torch.ones(6, dtype=torch.float64))


@pytest.mark.parametrize("name", ["mask", "weight", "strata"])
@every_objective
def test_per_instance_arguments_of_other_shapes_are_refused(kind, name):
    dtype = {"mask": torch.bool, "weight": torch.float32, "strata": torch.long}[name]
    for shape, wrong in [((6, 4), (5,)), ((6, 4), (6, 4)), (IMAGE, (2, 3, 4, 5)), (IMAGE, (2, 20))]:
        expected = (shape[0], *shape[2:])
        with refused(name, f"one entry per instance, shape {expected}", f"its shape is {wrong}"):
            kind()(*arguments(kind, shape), **{name: torch.ones(wrong, dtype=dtype)})


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
@every_objective
def test_a_weight_that_is_none_is_refused(kind, value):
    weight = torch.ones(6).index_fill(0, torch.tensor([4]), value)
    with refused("weight", "be finite and at least 0", f"instance 4 has {value}"):
        kind()(*arguments(kind), weight=weight)


@every_objective
def test_a_mean_over_nothing_is_refused(kind):
    with refused("mask", "leave at least one instance", "it leaves none"):
        kind()(*arguments(kind), mask=torch.zeros(6, dtype=torch.bool))


@pytest.mark.parametrize("kind", COUPLED)
def test_strata_that_the_mass_lacks_are_refused(kind):
    strata = torch.tensor([0, 1, 0, 2, 1, 0])
    with refused("strata", "lie between 0 and 1", "instance 3 has 2", "n_strata=2"):
        kind(BatchMass(n_strata=2))(*arguments(kind), strata=strata)
    with refused("strata", "lie between 0 and 0", "instance 1 has 1"):
        kind()(*arguments(kind), strata=strata)
    with refused("strata", "lie between", "instance 0 has -1"):
        kind(BatchMass(n_strata=3))(*arguments(kind), strata=strata - 1)
    with refused("strata", "be given, for a class mass of 2 strata", "none came"):
        kind(BatchMass(n_strata=2))(*arguments(kind))


# Settings


@pytest.mark.parametrize("smoothing", [-1e-4, math.inf, math.nan])
@every_objective
def test_a_wrong_smoothing_is_refused(kind, smoothing):
    with refused("smoothing", "be finite and at least 0", f"it is {smoothing}"):
        kind(smoothing=smoothing)


def test_functions_refuse_a_wrong_smoothing():
    with refused("smoothing", "be finite and at least 0", "it is -1"):
        em(*arguments(EM), smoothing=-1)


@every_objective
def test_a_wrong_reduction_is_refused(kind):
    with refused("reduction", "be one of mean, sum, none", "it is 'max'"):
        kind(reduction="max")


@every_objective
def test_a_mass_that_is_none_is_refused(kind):
    with refused("mass", "be a class mass of tacit.evidence", "it is a Tensor", "FixedMass"):
        kind(torch.ones(4))


HOLDING_BACK = [FixedMass.uniform(4), TrackedMass(flows=False), CollectionMass(flows=False)]


@pytest.mark.parametrize("mass", HOLDING_BACK, ids=lambda mass: type(mass).__name__)
@pytest.mark.parametrize("kind", [RQ, QR, FreeEnergy, Clustering])
def test_a_mass_under_which_an_objective_collapses_is_refused(kind, mass):
    name = type(mass).__name__
    with refused("mass", f"when {kind.__name__} uses it", name, "allow_collapse=True"):
        kind(mass)
    assert kind(mass, allow_collapse=True).mass is mass


@pytest.mark.parametrize("mass", HOLDING_BACK, ids=lambda mass: type(mass).__name__)
@pytest.mark.parametrize("kind", [EM, *BASELINES])
def test_objectives_that_do_not_collapse_take_any_mass(kind, mass):
    assert kind(mass).mass is mass


@pytest.mark.parametrize("kind", [RQ, QR, FreeEnergy, Clustering])
def test_masses_with_a_gradient_are_accepted(kind):
    for mass in (BatchMass(), TrackedMass(), CollectionMass()):
        assert kind(mass).mass is mass


@pytest.mark.parametrize("kind", COUPLED)
def test_a_mass_of_other_classes_is_refused(kind):
    with refused("mass", "4 classes", "3"):
        kind(FixedMass.uniform(3), allow_collapse=True)(*arguments(kind))


@pytest.mark.parametrize("kind", COUPLED)
def test_a_tracked_mass_of_other_classes_is_refused(kind):
    objective = kind(TrackedMass())
    objective(*arguments(kind, (6, 3)))
    with refused("mass", "4 classes", "3"):
        objective(*arguments(kind))
