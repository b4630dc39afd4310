from __future__ import annotations

import math

import pytest
import torch

from tacit.beliefs import Candidates, Categorical, Pairs
from tacit.diagnostics import appraised, mean_entropy
from tests.diagnostics import referee
from tests.diagnostics.test_vitals import N_CLASSES, N, draw


def test_appraisal_equals_the_slow_loop(generator):
    _, p = draw(generator)
    p[2] = 1 / N_CLASSES
    p[5] = torch.eye(N_CLASSES)[3]
    worth = appraised(Categorical(p))
    entropies = [referee.entropy(row) for row in p.tolist()]
    assert worth.entropy == pytest.approx(math.fsum(entropies) / N)
    assert worth.bits == pytest.approx((math.log(N_CLASSES) - worth.entropy) / math.log(2))
    assert worth.balance == pytest.approx(p.mean(0).tolist())
    assert (worth.n_open, worth.n_certain, worth.unmentioned) == (1, 1, ())
    assert mean_entropy(p) == pytest.approx(worth.entropy)


def test_parts_add_up(generator, monkeypatch):
    _, p = draw(generator)
    whole = appraised(Categorical(p))
    monkeypatch.setattr("tacit.diagnostics._appraisal._NUMBERS", 3 * N_CLASSES)
    parts = appraised(Categorical(p))
    assert parts.blocks == whole.blocks
    for one, other in zip(parts[:-1], whole[:-1], strict=True):
        assert one == pytest.approx(other)
    assert mean_entropy(p) == pytest.approx(whole.entropy)


def test_classes_that_are_impossible_everywhere_are_told():
    worth = appraised(Candidates([[0, 2], [2]], n_classes=4))
    assert worth.unmentioned == (1, 3)
    assert worth.balance == pytest.approx((0.25, 0.0, 0.75, 0.0))


def reached(allowed, start):
    """Classes that a slow walk over the rows comes to."""
    found = {start}
    for _ in allowed:
        found |= {label for row in allowed if found & {*row} for label in row}
    return tuple(sorted(found))


@pytest.mark.parametrize("step", [1, 4, 1 << 10])
def test_blocks_equal_a_slow_walk(generator, monkeypatch, step):
    monkeypatch.setattr("tacit.diagnostics._appraisal._NUMBERS", step * N_CLASSES)
    for _ in range(20):
        mask = torch.rand(N_CLASSES, N_CLASSES, generator=generator) < 0.2
        mask[mask.sum(1) == 0, 0] = True
        rows = [row.nonzero().flatten().tolist() for row in mask]
        walked = {reached(rows, label) for row in rows for label in row}
        assert {*appraised(Candidates.from_mask(mask)).blocks} == walked


def test_classes_of_compared_instances_are_one_block():
    belief = Pairs.greater([[0, 1]], n_classes=2, n_instances=2)
    assert appraised(belief).blocks == ((0, 1),)


def test_joint_beliefs_are_appraised_by_their_marginals():
    belief = Pairs.greater([[0, 2]], n_classes=3, n_instances=3)
    worth = appraised(belief)
    # The first of the pair is 2 twice in three, the second 0: marginals (0, 1/3, 2/3).
    pair = referee.entropy([1 / 3, 2 / 3])
    assert worth.entropy == pytest.approx((2 * pair + math.log(3)) / 3, rel=1e-6)
    assert worth.n_open == 1


def test_nothing_is_known_and_all_is_known():
    open_ones = appraised(Categorical(torch.ones(5, 8)))
    assert (open_ones.bits, open_ones.n_open) == (pytest.approx(0.0, abs=1e-9), 5)
    certain = appraised(Categorical(torch.eye(8)))
    assert (certain.bits, certain.n_certain) == (pytest.approx(3.0), 8)
