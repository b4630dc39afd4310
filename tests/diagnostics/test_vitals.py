from __future__ import annotations

import math

import pytest
import torch

from tacit.diagnostics import Vitals, vitals
from tests.diagnostics import referee

N, N_CLASSES = 11, 4


def draw(generator):
    """Log of predictions, and beliefs that exclude a class here and there."""
    log_q = (3 * torch.randn(N, N_CLASSES, generator=generator).double()).log_softmax(1)
    p = torch.rand(N, N_CLASSES, generator=generator).double()
    p[torch.arange(N) % 3 == 0, 1] = 0.0
    return log_q, p / p.sum(1, keepdim=True)


def assert_alike(found, expected):
    assert found[:-1] == pytest.approx(expected[:-1], abs=1e-12)
    assert found.vanished == expected.vanished


def test_vitals_equal_the_slow_loop(generator):
    log_q, p = draw(generator)
    weight = torch.arange(N) % 4 / 2.0
    before = torch.tensor([0.1, 0.2, 0.3, 0.4]).double()
    found, _ = vitals(log_q, p, weight=weight, before=before)
    expected = referee.vitals(log_q.exp().tolist(), p.tolist(), weight.tolist(), before.tolist())
    assert_alike(found, Vitals(**expected))


def test_masked_equals_deleted(generator):
    log_q, p = draw(generator)
    weight = (torch.arange(N) % 3 > 0).float()
    rows = weight.nonzero().squeeze(1)
    masked, mass = vitals(log_q, p, weight=weight)
    deleted, expected = vitals(log_q[rows], p[rows])
    assert_alike(masked, deleted)
    torch.testing.assert_close(mass, expected)


def test_permuting_instances_changes_nothing(generator):
    log_q, p = draw(generator)
    order = torch.randperm(N, generator=generator)
    assert_alike(vitals(log_q[order], p[order])[0], vitals(log_q, p)[0])


def test_information_lies_between_none_and_that_of_a_label(generator):
    log_q, p = draw(generator)
    assert 0 < vitals(log_q, p)[0].information < math.log(N_CLASSES)
    alike = log_q[:1].expand(N, -1)
    assert vitals(alike, p)[0].information == pytest.approx(0.0, abs=1e-12)
    sure = torch.eye(N_CLASSES).log().repeat(3, 1)
    even = torch.full((12, N_CLASSES), 0.25)
    assert vitals(sure, even)[0].information == pytest.approx(math.log(N_CLASSES))


def test_a_class_vanishes_only_if_the_beliefs_mention_it():
    log_q = torch.tensor([[0.5, 0.5, 0.0]]).log()
    assert vitals(log_q, torch.tensor([[0.4, 0.4, 0.2]]))[0].vanished == (2,)
    assert vitals(log_q, torch.tensor([[0.5, 0.5, 0.0]]))[0].vanished == ()


def test_the_first_look_has_no_drift(generator):
    log_q, p = draw(generator)
    signs, mass = vitals(log_q, p)
    assert signs.drift == 0.0
    assert vitals(log_q, p, before=mass)[0].drift == 0.0
    assert float(mass.sum()) == pytest.approx(1.0)
