"""What holds for every predictor."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from tacit.errors import InvalidInputError
from tacit.predictors import FCN, Linear, Perceptron, PooledCNN, PositionalFCN, SmallCNN
from tests.predictors.cases import CASES, N_CLASSES, Case

N_STACKED = 3
every_predictor = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def drawn_from(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def equal(first: torch.nn.Module, second: torch.nn.Module) -> bool:
    one, two = first.state_dict(), second.state_dict()
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


@every_predictor
def test_logits_have_a_class_axis_after_the_instances(case: Case, generator):
    assert case.build()(case.features(generator)).shape == case.logits


@every_predictor
def test_the_same_generator_gives_the_same_weights(case: Case, seed):
    first, second = (case.build(generator=drawn_from(seed)) for _ in range(2))
    assert equal(first, second)


@every_predictor
def test_another_seed_gives_other_weights(case: Case, seed):
    first, second = (case.build(generator=drawn_from(seed + i)) for i in range(2))
    assert all(
        not torch.equal(one, two)
        for (name, one), two in zip(first.named_parameters(), second.parameters(), strict=True)
        if one.unique().numel() > 1  # those of batch normalisation all start at one value
    )


@every_predictor
def test_without_a_generator_the_seed_is_zero(case: Case):
    assert equal(case.build(), case.build(generator=drawn_from(0)))


@every_predictor
def test_the_generator_moves_on(case: Case, generator):
    assert not equal(case.build(generator=generator), case.build(generator=generator))


@every_predictor
def test_the_global_random_state_is_neither_used_nor_moved(case: Case):
    before = torch.get_rng_state()
    first = case.build()
    assert torch.equal(before, torch.get_rng_state())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(12345)
        assert equal(first, case.build())


@every_predictor
def test_first_weights_are_distributed_as_torch_has_them(case: Case, generator):
    built = [case.build(generator=generator) for _ in range(20)]
    kinds = torch.nn.Conv2d | torch.nn.Linear | Linear
    for layers in zip(*(predictor.modules() for predictor in built), strict=True):
        if isinstance(layers[0], kinds):
            bound = layers[0].weight[0].numel() ** -0.5
            for name in ("weight", "bias"):
                values = torch.cat([layer.get_parameter(name).flatten() for layer in layers])
                # Of 60 draws and more, uniform between the bounds.
                assert -bound <= values.min() < -0.8 * bound
                assert 0.8 * bound < values.max() <= bound


@every_predictor
def test_every_weight_gets_a_gradient(case: Case, generator):
    predictor = case.build(generator=generator)
    predictor(case.features(generator)).pow(2).sum().backward()
    assert [name for name, w in predictor.named_parameters() if not w.grad.any()] == []


@every_predictor
def test_no_instance_depends_on_another_at_prediction(case: Case, generator):
    predictor = case.build(generator=generator).eval()
    features = case.features(generator)
    torch.testing.assert_close(predictor(features)[3:4], predictor(features[3:4]))


@every_predictor
def test_state_survives_a_round_trip(case: Case, generator):
    predictor = case.build(generator=generator)
    predictor(case.features(generator))  # batch normalisation has seen something
    other = case.build(generator=generator)
    assert not equal(predictor, other)
    other.load_state_dict(predictor.state_dict())
    assert equal(predictor, other)


@pytest.mark.parametrize(
    "kind",
    [
        *(Linear(6, 3), Perceptron(6, 3), SmallCNN(1, (8, 7), 3), PooledCNN(1, (8, 7), 3)),
        *(FCN(2, 3), PositionalFCN(2, 3)),
    ],
)
def test_copies_and_pickles_are_equal(kind):
    assert equal(kind, copy.deepcopy(kind))
    assert equal(kind, pickle.loads(pickle.dumps(kind)))


@every_predictor
def test_float32_agrees_with_float64(case: Case, generator):
    predictor, features = case.build(generator=generator), case.features(generator)
    single = predictor(features)
    double = predictor.double()(features.double())
    assert double.dtype == torch.float64
    torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@every_predictor
def test_autocast_stays_near_single_precision(case: Case, dtype, generator):
    predictor, features = case.build(generator=generator).eval(), case.features(generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = predictor(features.to(dtype))
    assert logits.dtype == torch.bfloat16
    # Three decimal digits, and a few layers that each round.
    torch.testing.assert_close(logits.float(), predictor(features), rtol=0.05, atol=0.05)


@every_predictor
def test_bfloat16_throughout_stays_near_single_precision(case: Case, generator):
    predictor, features = case.build(generator=generator).eval(), case.features(generator)
    single = predictor(features)
    half = predictor.bfloat16()(features.bfloat16())
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), single, rtol=0.1, atol=0.1)


@pytest.mark.parametrize("training", [True, False], ids=["training", "predicting"])
@every_predictor
def test_stacked_predictors_equal_one_after_the_other(case: Case, training, generator):
    built = [case.build(generator=generator).train(training) for _ in range(N_STACKED)]
    features = case.features(generator)
    weights, buffers = stack_module_state(built)
    together = vmap(lambda w, b: functional_call(built[0], (w, b), (features,)))(weights, buffers)
    alone = [predictor(features) for predictor in built]
    torch.testing.assert_close(together, torch.stack(alone), rtol=1e-4, atol=1e-5)

    together.pow(2).sum().backward()
    torch.stack(alone).pow(2).sum().backward()
    for name, stacked in weights.items():
        one_by_one = torch.stack([predictor.get_parameter(name).grad for predictor in built])
        torch.testing.assert_close(stacked.grad, one_by_one, rtol=1e-3, atol=1e-3)
    for name, stacked in buffers.items():
        seen = torch.stack([predictor.get_buffer(name) for predictor in built])
        torch.testing.assert_close(stacked, seen)


@every_predictor
def test_stacked_predictors_take_features_of_their_own(case: Case, generator):
    built = [case.build(generator=generator).eval() for _ in range(N_STACKED)]
    features = torch.stack([case.features(generator) for _ in built])
    weights, buffers = stack_module_state(built)
    together = vmap(lambda w, b, x: functional_call(built[0], (w, b), (x,)))(
        weights, buffers, features
    )
    alone = [predictor(own) for predictor, own in zip(built, features, strict=True)]
    torch.testing.assert_close(together, torch.stack(alone), rtol=1e-4, atol=1e-5)


# What is refused


def refused(argument: str, *parts: str):
    """A refusal of `argument` in one sentence that holds the parts in their order."""
    pattern = ".*".join(re.escape(part) for part in (f"`{argument}` must ", *parts))
    return pytest.raises(InvalidInputError, match=f"(?s)^{pattern}[^\n]*\\.$")


@every_predictor
def test_features_with_an_axis_too_few_are_refused(case: Case, generator):
    features = case.features(generator)[0]
    with refused("features", "be shaped (N, ", f"it has shape {tuple(features.shape)}"):
        case.build()(features)


@every_predictor
def test_features_with_another_number_of_channels_are_refused(case: Case, generator):
    features = case.features(generator)[:, 1:]
    with refused("features", "be shaped (N, ", f"it has shape {tuple(features.shape)}"):
        case.build()(features)


@every_predictor
def test_features_of_whole_numbers_are_refused(case: Case, generator):
    with refused("features", "be floating-point numbers", "its type is torch.uint8", "255"):
        case.build()(case.features(generator).to(torch.uint8))


@pytest.mark.parametrize("autocast", [False, True])
@every_predictor
def test_features_in_another_precision_are_refused(case: Case, autocast, generator):
    features = case.features(generator).double()
    with torch.autocast("cpu", enabled=autocast), refused("features", "torch.float32", "float64"):
        case.build()(features)


@every_predictor
def test_features_that_are_no_tensor_are_refused(case: Case, generator):
    with refused("features", "be a tensor", "it is a ndarray"):
        case.build()(case.features(generator).numpy())


SETTINGS = [
    (Linear, (6, 3), "n_features"),
    (Linear, (6, 3), "n_classes"),
    (Perceptron, (6, 3), "n_features"),
    (Perceptron, (6, 3), "n_classes"),
    (SmallCNN, (1, (8, 8), 3), "n_channels"),
    (SmallCNN, (1, (8, 8), 3), "n_classes"),
    (SmallCNN, (1, (8, 8), 3), "width"),
    (PooledCNN, (1, (8, 8), 3), "n_channels"),
    (PooledCNN, (1, (8, 8), 3), "n_classes"),
    (PooledCNN, (1, (8, 8), 3), "width"),
    (FCN, (2, 3), "n_channels"),
    (FCN, (2, 3), "n_classes"),
    (FCN, (2, 3), "width"),
    (FCN, (2, 3), "n_layers"),
    (PositionalFCN, (2, 3), "n_channels"),
    (PositionalFCN, (2, 3), "n_classes"),
    (PositionalFCN, (2, 3), "width"),
    (PositionalFCN, (2, 3), "n_frequencies"),
]


def build_with(kind, arguments, name, value):
    """Build a predictor with one setting, positional or not, replaced."""
    order = (
        ["n_channels", "size", "n_classes"]
        if kind in (SmallCNN, PooledCNN)
        else ["first", "n_classes"]
    )
    order[0] = "n_features" if kind in (Linear, Perceptron) else "n_channels"
    return kind(**{**dict(zip(order, arguments, strict=True)), name: value})


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "4", None])
@pytest.mark.parametrize(("kind", "arguments", "name"), SETTINGS)
def test_a_setting_that_counts_nothing_is_refused(kind, arguments, name, value):
    with refused(name, "be a whole number of at least 1", f"it is {value!r}"):
        build_with(kind, arguments, name, value)


@pytest.mark.parametrize(("kind", "arguments", "name"), SETTINGS)
def test_a_whole_number_of_numpy_is_a_whole_number(kind, arguments, name):
    predictor = build_with(kind, arguments, name, np.int64(N_CLASSES))
    assert type(getattr(predictor, name)) is int
    assert getattr(predictor, name) == N_CLASSES
