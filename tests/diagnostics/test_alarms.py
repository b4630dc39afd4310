from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.diagnostics import Vitals, alarms

LEARNING = (0.002, 0.01, 0.05, 0.3, 0.8, 1.3, 1.6, 1.8, 1.9, 1.95)
"""Nats of ten classes, epoch by epoch."""
SLOW = (0.0028, 0.0021, 0.0018, 0.0018, 0.0019, 0.0021, 0.0026, 0.0035, 0.0052, 0.008, 0.013, 0.02)
"""With one wrong label of each digit: what first weights say is forgotten before it rises."""


def look(information, *, vanished=(), drift=0.0):
    return Vitals(2.0, 2.0 - information, information, 0.0, drift, vanished)


def kinds(looks, expected=50, n_classes=10):
    return [alarm.kind for alarm in alarms(looks, n_classes=n_classes, expected=expected)]


def raised(information, expected=50):
    """Looks after which a prediction is called constant."""
    looks = [look(each) for each in information]
    return [n for n in range(1, len(looks) + 1) if "constant" in kinds(looks[:n], expected)]


def test_a_healthy_run_raises_nothing():
    assert raised(LEARNING) == []


def test_a_run_that_is_flat_at_first_raises_nothing():
    assert raised(SLOW) == []
    assert raised(SLOW + LEARNING) == []


def test_a_run_that_learns_nothing_is_called_constant_after_a_quarter():
    assert raised([0.002] * 20, expected=50) == list(range(13, 21))
    assert raised([0.002] * 20, expected=400) == []


def test_a_run_that_says_nothing_at_all_is_called_constant_soon():
    assert raised([0.01, 0.005, 1e-7, 1e-7, 1e-7, 1e-7, 1e-7]) == [5, 6, 7]
    assert raised([0.0] * 7) == [5, 6, 7]


@pytest.mark.parametrize("left", [0.0, 0.01, 0.3])
def test_a_run_that_loses_what_it_had_learned_is_called_constant(left):
    found = raised([*LEARNING, left, left, left, left])
    assert found[0] <= len(LEARNING) + 2
    assert len(LEARNING) + 1 not in found


def test_one_bad_look_is_no_collapse():
    assert raised([*LEARNING, 0.01, 1.9, 1.9]) == []


def test_a_run_that_recovers_is_left_in_peace():
    lost = [*LEARNING, 0.01, 0.01, 0.01, 0.02, 0.05, 0.1]
    assert raised(lost)[-1] < len(lost) - 1


@given(st.lists(st.floats(0.0, math.log(10)), min_size=1, max_size=4))
def test_the_first_looks_are_too_early(information):
    assert raised(information) == []


@given(st.floats(0.001, 0.2), st.floats(1.06, 2.0), st.integers(2, 40))
def test_what_rises_is_not_constant(first, factor, n):
    rising = [min(first * factor**number, math.log(10)) for number in range(n)]
    assert raised(rising, expected=n) == []


def test_a_class_vanishes_when_it_is_gone_for_two_looks():
    gone = look(1.0, vanished=(2, 7))
    assert kinds([look(1.0), gone]) == []
    assert kinds([gone, gone]) == ["vanished"]
    assert kinds([look(1.0, vanished=(1,)), gone]) == []
    (alarm,) = alarms([gone, look(1.0, vanished=(7,))], n_classes=10, expected=5)
    assert alarm.message.startswith("class 7 has all but vanished")
    (alarm,) = alarms([gone, gone], n_classes=10, expected=5)
    assert alarm.message.startswith("classes 2, 7 have all but vanished")


def test_a_mass_that_moves_is_told_and_is_no_collapse():
    looks = [look(each) for each in LEARNING]
    (alarm,) = alarms([*looks, look(1.9, drift=0.4)], n_classes=10, expected=50)
    assert (alarm.kind, alarm.degenerate) == ("drift", False)
    assert "40%" in alarm.message
    assert kinds([*looks, look(1.9, drift=0.2)]) == []
    assert kinds([look(1.0), look(1.0, drift=0.9)]) == []


def test_messages_name_the_figures_and_the_remedy():
    (alarm,) = alarms([look(0.002)] * 30, n_classes=10, expected=50)
    assert alarm.degenerate
    assert "hardly depends on the features (0.002 of 2.303 nats); warm up" in alarm.message
    lost = [look(each) for each in (*LEARNING, 0.01, 0.01, 0.01)]
    (alarm,) = alarms(lost, n_classes=10, expected=50)
    assert "hardly depends on the features any more (0.010" in alarm.message


def test_no_looks_give_no_alarms():
    assert alarms([], n_classes=3, expected=5) == []
