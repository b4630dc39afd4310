from __future__ import annotations

import math

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.predictors import PositionalFCN, with_position
from tests.predictors.cases import n_weights
from tests.predictors.fields import extent, reached, shift_agrees


def small(**settings: object) -> PositionalFCN:
    return PositionalFCN(2, 3, width=4, n_frequencies=5, **settings)


def raster(generator, height=24, width=21, n=1):
    return with_position(torch.rand(n, 2, height, width, generator=generator))


def test_its_receptive_field_is_the_one_that_gradients_find(generator):
    predictor = small()
    radius = predictor.receptive_field // 2
    rows, columns = extent(reached(predictor, raster(generator, 23, 25), 11, 12))
    assert radius == 5
    assert rows == (11 - radius, 11 + radius)
    assert columns == (12 - radius, 12 + radius)


def test_it_has_the_layers_of_the_paper():
    image = (3 * 64 * 9 + 64) + 3 * (64 * 64 * 9 + 64) + 4 * 2 * 64
    position = (2 * 16 * 16 + 16) + 2 * (16 * 16 + 16) + 3 * 2 * 16
    join = ((64 + 16) * 64 * 9 + 64) + 2 * 64
    by_hand = image + 16 * 2 + position + join + (64 * 8 + 8)
    assert n_weights(PositionalFCN(3, 8)) == by_hand


def test_relu_comes_before_batch_normalisation():
    kinds = [type(layer).__name__ for layer in small().image]
    assert kinds == ["Conv2d", "ReLU", "BatchNorm2d"] * 4


def test_with_equal_positions_a_shifted_raster_gives_shifted_logits(generator):
    features = raster(generator)
    features[:, 2:] = 0.3
    assert shift_agrees(small().eval(), features, margin=5)


def test_the_same_image_elsewhere_gives_other_logits(generator):
    here, predictor = raster(generator), small(generator=generator).eval()
    there = torch.cat([here[:, :2], here[:, 2:] + 0.1], 1)
    assert not torch.allclose(predictor(here), predictor(there), atol=1e-3)


def test_a_patch_of_a_picture_keeps_its_logits(generator):
    whole, predictor = raster(generator), small().eval()
    patch = whole[..., 2:20, 4:]
    inner = predictor(patch)[..., 5:-5, 5:-5]
    torch.testing.assert_close(inner, predictor(whole)[..., 7:15, 9:-5])


def test_waves_are_the_sine_and_cosine_of_the_learned_map(generator):
    predictor, features = small(generator=generator), raster(generator, n=2)
    phase = torch.einsum("fv,nvhw->nfhw", predictor.frequencies, features[:, 2:])
    waves = predictor._waves(features[:, 2:3], features[:, 3:])
    torch.testing.assert_close(waves, torch.cat([phase.sin(), phase.cos()], 1))


def test_autocast_does_not_round_the_phase(generator):
    predictor, features = small(frequency=100.0, generator=generator), raster(generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        waves = predictor._waves(features[:, 2:3], features[:, 3:])
    torch.testing.assert_close(waves, predictor._waves(features[:, 2:3], features[:, 3:]))


def test_frequencies_start_as_wide_as_told(generator):
    predictor = PositionalFCN(1, 2, width=1, n_frequencies=5000, frequency=3.0, generator=generator)
    # The standard deviation of 10,000 draws is known to 0.7 %.
    assert abs(predictor.frequencies.std().item() - 3.0) < 0.1
    assert predictor.frequencies.requires_grad


@pytest.mark.parametrize("frequency", [0.0, -1.0, math.nan, math.inf])
def test_a_frequency_out_of_range_is_refused(frequency):
    with pytest.raises(InvalidInputError, match=r"`frequency` must be above 0 and finite"):
        small(frequency=frequency)


def test_an_image_without_its_position_is_refused():
    with pytest.raises(InvalidInputError, match=r"be shaped \(N, 4, H, W\), .*see with_position"):
        small()(torch.zeros(1, 2, 8, 9))


def test_a_single_pixel_is_refused_in_training_only():
    pixel = torch.zeros(1, 4, 1, 1)
    with pytest.raises(InvalidInputError, match=r"`features` must hold at least two pixels"):
        small()(pixel)
    assert small().eval()(pixel).shape == (1, 3, 1, 1)


# Positions


def test_positions_run_from_one_end_of_the_longer_side_to_the_other():
    rows, columns = with_position(torch.zeros(1, 1, 3, 5))[0, 1:]
    assert columns[0].tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert rows[:, 0].tolist() == [-0.5, 0.0, 0.5]
    assert (rows == rows[:, :1]).all()
    assert (columns == columns[:1]).all()


def test_the_image_stays_as_it_is(generator):
    images = torch.randn(2, 3, 4, 5, generator=generator)
    assert torch.equal(with_position(images)[:, :3], images)


def test_a_single_pixel_is_in_the_middle():
    assert with_position(torch.ones(1, 1, 1, 1)).flatten().tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_positions_have_the_precision_of_the_image(dtype):
    # Half precision cannot even count to 1,001: the positions are found before they are rounded.
    columns = with_position(torch.zeros(1, 1, 1, 1001, dtype=dtype))[0, 2, 0]
    expected = torch.linspace(-1, 1, 1001, dtype=torch.float64)
    assert columns.dtype == dtype
    assert (columns.double() - expected).abs().max() <= torch.finfo(dtype).eps / 2


@pytest.mark.parametrize(
    ("images", "said"),
    [
        (torch.zeros(3, 4, 5), r"it holds torch.float32 of shape \(3, 4, 5\)"),
        (torch.zeros(1, 3, 4, 5, dtype=torch.uint8), "it holds torch.uint8"),
        (torch.zeros(1, 3, 4, 5).numpy(), "it is a ndarray"),
    ],
    ids=["shape", "type", "array"],
)
def test_what_is_no_batch_of_images_gets_no_position(images, said):
    with pytest.raises(InvalidInputError, match=f"`images` must be a tensor .*{said}"):
        with_position(images)
