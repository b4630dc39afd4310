from __future__ import annotations

import pytest
import torch

from tacit.beliefs import Categorical, Chains, Pairs
from tacit.diagnostics import held_out_evidence
from tests.diagnostics import referee
from tests.diagnostics.test_vitals import N_CLASSES, N, draw

STRATA = torch.arange(N) % 2
WEIGHT = torch.arange(N) % 4 / 2.0
PAIRS = [[0, 1], [4, 2], [3, 5], [9, 8]]


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("strata", [None, STRATA])
def test_held_out_evidence_equals_the_slow_loop(generator, weight, strata):
    log_q, p = draw(generator)
    found = held_out_evidence(log_q, Categorical(p), weight=weight, strata=strata)
    w = [1.0] * N if weight is None else weight.tolist()
    s = [0] * N if strata is None else strata.tolist()
    expected = referee.held_out_evidence(log_q.exp().tolist(), p.tolist(), w, s)
    assert found == pytest.approx(expected, abs=1e-6)


def beliefs(p):
    transition = torch.full((N_CLASSES, N_CLASSES), 0.1) + torch.eye(N_CLASSES)
    pairs = Pairs.greater(PAIRS, n_classes=N_CLASSES, n_instances=N)
    return {
        "categorical": Categorical(p),
        "pairs": pairs,
        "product": pairs * Categorical(p + 0.01),
        "chains": Chains([[0, 1, 2], [3, 4, 5, 6], [7, 8]], transition, n_instances=N),
    }


@pytest.mark.parametrize("name", ["categorical", "pairs", "product", "chains"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_a_constant_predictor_scores_nothing(generator, name, weight):
    log_q, p = draw(generator)
    alike = log_q[:1].expand(N, -1)
    score = held_out_evidence(alike, beliefs(p)[name], weight=weight)
    assert score == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", ["pairs", "product", "chains"])
def test_groups_without_weight_are_as_if_deleted(generator, name):
    log_q, p = draw(generator)
    belief = beliefs(p)[name]
    rows = (belief.group_of != belief.group_of[4]).nonzero().squeeze(1)
    weight = torch.zeros(N).index_fill(0, rows, 1.0)
    masked = held_out_evidence(log_q, belief, weight=weight)
    deleted = held_out_evidence(log_q[rows], belief[rows])
    assert masked == pytest.approx(deleted, abs=1e-9)
    assert masked != pytest.approx(held_out_evidence(log_q, belief), abs=1e-3)


def test_a_group_counts_by_its_log_normaliser(generator):
    """Two instances of which the first is above the second, one label at a time."""
    log_q = torch.randn(2, 3, generator=generator).double().log_softmax(1)
    q = log_q.exp()
    above = sum(
        q[0, a] * q[1, b] / (q[:, a].mean() * q[:, b].mean()) for a in range(3) for b in range(a)
    )
    belief = Pairs.greater([[0, 1]], n_classes=3, n_instances=2)
    expected = float((above / 3).log() / 2)
    assert held_out_evidence(log_q, belief) == pytest.approx(expected, abs=1e-6)


def test_a_whole_weight_counts_as_so_many_instances(generator):
    log_q, p = draw(generator)
    weight = torch.arange(N) % 3
    rows = torch.arange(N).repeat_interleave(weight)
    weighted = held_out_evidence(log_q, Categorical(p), weight=weight.double())
    repeated = held_out_evidence(log_q[rows], Categorical(p[rows]))
    assert weighted == pytest.approx(repeated, abs=1e-9)


def test_a_better_prediction_scores_higher(generator):
    log_q, p = draw(generator)
    label = p.argmax(1)
    known = Categorical(torch.eye(N_CLASSES).double()[label])
    right = log_q.scatter_add(1, label[:, None], torch.full((N, 1), 4.0).double()).log_softmax(1)
    assert held_out_evidence(right, known) > held_out_evidence(log_q, known)
