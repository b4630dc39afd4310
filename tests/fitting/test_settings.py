from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidInputError
from tacit.fitting import Execution, Settings
from tacit.fitting._schedule import rate_factor

BAD = [
    (Settings, {"epochs": 0}, "`epochs` must be at least 1"),
    (Settings, {"epochs": 2.5}, "`epochs` must be a whole number, but it is 2.5"),
    (Settings, {"epochs": True}, "`epochs` must be a whole number"),
    (Settings, {"batch_size": -3}, "`batch_size` must be at least 1"),
    (Settings, {"learning_rate": 0}, "`learning_rate` must be above 0"),
    (Settings, {"learning_rate": float("nan")}, "`learning_rate` must be above 0 and finite"),
    (Settings, {"learning_rate": "fast"}, "`learning_rate` must be a number"),
    (Settings, {"weight_decay": -1.0}, "`weight_decay` must be at least 0"),
    (Settings, {"held_out": 0.6}, "`held_out` must be at least 0 and at most 0.5"),
    (Settings, {"seed": 2**63}, "`seed` must be at least 0 and at most"),
    (Settings, {"schedule": "linear"}, "`schedule` must be one of 'constant', 'plateau', 'cosine'"),
    (Settings, {"optimizer": None}, "`optimizer` must be one of 'adam', 'adamw', 'sgd'"),
    (Settings, {"warm_up": 50}, "`warm_up` must be below the number of epochs"),
    (Settings, {"update_every": -1}, "`update_every` must be at least 0"),
    (Settings, {"update_every": 1.5}, "`update_every` must be a whole number"),
    (Settings, {"warm_up": 9, "update_every": 41}, "epochs after the warm-up, but it is 41 of 41"),
    (Settings, {"held_out": 0, "on_collapse": "restore"}, "`on_collapse` must be another one"),
    (Settings, {"held_out": 0, "schedule": "plateau"}, "`schedule` must be another one"),
    (Execution, {"device": 3}, "`device` must be a text"),
    (Execution, {"compile": 1}, "`compile` must be True or False"),
    (Execution, {"checkpoint_every": -1}, "`checkpoint_every` must be at least 0"),
]


@pytest.mark.parametrize(("kind", "given", "message"), BAD)
def test_what_cannot_be_meant_is_refused(kind, given, message):
    with pytest.raises(InvalidInputError, match=message):
        kind(**given)


@pytest.mark.parametrize("device", ["gpuu", "cuda:99", "tpu"])
def test_a_device_that_is_not_there_is_refused(device):
    with pytest.raises(InvalidInputError, match="`device` must"):
        Execution(device=device).torch_device()


def test_numbers_of_numpy_become_plain_ones():
    settings = Settings(epochs=np.int64(7), learning_rate=np.float32(0.5), batch_size=np.int32(3))
    assert [type(settings.epochs), type(settings.learning_rate)] == [int, float]
    assert settings == Settings(epochs=7, learning_rate=0.5, batch_size=3)


def test_a_cosine_falls_from_one_to_nothing():
    settings = Settings(schedule="cosine")
    factors = [rate_factor(settings, done / 20, []) for done in range(21)]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] == 1.0
    assert factors[10] == pytest.approx(0.5)
    assert factors[-1] == pytest.approx(0.0, abs=1e-12)
    assert rate_factor(settings, 1.5, []) == pytest.approx(0.0, abs=1e-12)


def test_a_plateau_halves_after_a_third_of_the_patience():
    settings = Settings(schedule="plateau", patience=6)
    scores = [0.1, 0.2, 0.2, 0.1, 0.15, 0.1, 0.3, None, 0.3]
    found = [rate_factor(settings, 0.5, scores[:n]) for n in range(len(scores) + 1)]
    assert found == [1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125]


def test_a_constant_rate_stands_still():
    assert rate_factor(Settings(schedule="constant"), 0.9, [0.2, 0.1, 0.1]) == 1.0
