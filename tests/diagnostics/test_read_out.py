"""What is read off a prediction or a posterior without true labels, against slow loops."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.beliefs import Candidates, Categorical
from tacit.diagnostics import (
    approximated_accuracy,
    conflicts,
    contradiction,
    covering_rate,
    reliability,
    surprise,
    temperature_by_evidence,
)
from tacit.errors import InvalidInputError


def drawn(seed, n=7, n_classes=4):
    generator = torch.Generator().manual_seed(seed)
    q = torch.rand(n, n_classes, generator=generator, dtype=torch.float64) + 0.01
    q /= q.sum(1, keepdim=True)
    mask = torch.rand(n, n_classes, generator=generator) < 0.5
    mask[torch.arange(n), torch.randint(n_classes, (n,), generator=generator)] = True
    return q, mask


@given(st.integers(0, 99))
@settings(max_examples=25)
def test_criteria_equal_slow_loops(seed):
    q, mask = drawn(seed)
    covered = accuracy = 0.0
    for row, allowed in zip(q.tolist(), mask.tolist(), strict=True):
        top = row.index(max(row))
        covered += allowed[top]
        inside = sum(share for share, may in zip(row, allowed, strict=True) if may)
        accuracy += row[top] * allowed[top] / inside
    belief = Candidates.from_mask(mask)
    assert covering_rate(q.log(), belief) == pytest.approx(covered / 7)
    assert approximated_accuracy(q.log(), belief) == pytest.approx(accuracy / 7)


def test_criteria_of_certain_beliefs_are_the_accuracy(seed):
    q, _ = drawn(seed, n=50)
    truth = torch.arange(50) % 4
    belief = Candidates(truth, n_classes=4)
    accuracy = float((q.argmax(1) == truth).double().mean())
    assert covering_rate(q.log(), belief) == pytest.approx(accuracy)
    assert approximated_accuracy(q.log(), belief) == pytest.approx(accuracy)


def test_conflicts_are_ranked_by_contradiction(seed):
    q, mask = drawn(seed, n=30)
    r, _ = drawn(seed + 1, n=30)
    p = mask.double() + 0.1
    found = conflicts(Categorical(p), prediction=q, posterior=r, most=10)
    p = p / p.sum(1, keepdim=True)
    told = torch.tensor(
        [
            -math.log(sum(a * b for a, b in zip(x, y, strict=True)) / max(y))
            for x, y in zip(q.tolist(), p.tolist(), strict=True)
        ]
    )
    assert found.rows.tolist() == told.argsort(descending=True)[:10].tolist()
    torch.testing.assert_close(found.contradiction.float(), told.sort(descending=True).values[:10])
    for row, surprised in zip(found.rows.tolist(), found.surprise.tolist(), strict=True):
        pairs = zip(r[row].tolist(), p[row].tolist(), strict=True)
        assert surprised == pytest.approx(sum(a * math.log(a / b) for a, b in pairs))


def test_contradiction_is_zero_for_what_was_believed_and_infinite_for_what_was_excluded():
    q = torch.eye(3)[[0, 1, 2]]
    p = torch.tensor([[0.6, 0.4, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    assert contradiction(prediction=q, marginals=p).tolist() == [0.0, 0.0, math.inf]


def test_surprise_is_zero_where_nothing_changed_and_never_below():
    q, mask = drawn(0)
    assert float(surprise(q, q).abs().max()) == 0
    assert bool((surprise(q, mask / mask.sum(1, keepdim=True) + 1e-9) >= 0).all())
    assert surprise(torch.eye(2), torch.eye(2)).tolist() == [0.0, 0.0]


def test_reliability_equals_a_slow_loop(seed):
    q, _ = drawn(seed, n=200)
    truth = torch.multinomial(q, 1, generator=torch.Generator().manual_seed(1)).squeeze(1)
    found = reliability(q, truth, n_bins=5)
    for place in range(5):
        rows = [
            (max(row), row.index(max(row)) == label)
            for row, label in zip(q.tolist(), truth.tolist(), strict=True)
            if min(int(max(row) * 5), 4) == place
        ]
        assert int(found.size[place]) == len(rows)
        if rows:
            assert float(found.confidence[place]) == pytest.approx(
                sum(s for s, _ in rows) / len(rows)
            )
            assert float(found.accuracy[place]) == pytest.approx(
                sum(y for _, y in rows) / len(rows)
            )


def test_calibrated_table_has_a_small_error(seed):
    q, _ = drawn(seed, n=20_000)
    truth = torch.multinomial(q, 1, generator=torch.Generator().manual_seed(2)).squeeze(1)
    assert reliability(q, truth).error < 0.02
    sharper = q**3 / (q**3).sum(1, keepdim=True)
    assert reliability(sharper, truth).error > 0.1


def test_certain_beliefs_are_labels():
    q, _ = drawn(3, n=60)
    truth = torch.arange(60) % 4
    by_label, by_belief = reliability(q, truth), reliability(q, Candidates(truth, n_classes=4))
    torch.testing.assert_close(by_label.accuracy, by_belief.accuracy, equal_nan=True)


@pytest.mark.parametrize("factor", [0.4, 3.0])
def test_temperature_undoes_what_made_a_prediction_too_loud_or_quiet(factor, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(4000, 4, generator=generator, dtype=torch.float64)
    q = logits.softmax(1)
    truth = torch.multinomial(q, 1, generator=generator)
    lot = torch.rand(4000, 4, generator=generator).scatter_(1, truth, 2.0)
    belief = Candidates(lot.topk(2).indices, n_classes=4)
    found = temperature_by_evidence((factor * logits).log_softmax(1), belief)
    assert found == pytest.approx(factor, rel=0.2)


def test_no_bins_are_refused():
    with pytest.raises(InvalidInputError, match="`n_bins` must be at least 1, but it is 0"):
        reliability(torch.eye(2), torch.arange(2), n_bins=0)


OTHER = torch.full((5, 4), 0.25)
BELIEF = Candidates(torch.arange(7) % 4, n_classes=4)


@pytest.mark.parametrize(
    ("read", "argument"),
    [
        (lambda: covering_rate(OTHER.log(), BELIEF), "log_prediction"),
        (lambda: approximated_accuracy(OTHER.log(), BELIEF), "log_prediction"),
        (lambda: conflicts(BELIEF, prediction=OTHER, posterior=OTHER), "prediction"),
        (lambda: reliability(OTHER, BELIEF), "probabilities"),
        (lambda: reliability(OTHER, torch.arange(7)), "truth"),
        (lambda: conflicts(BELIEF[:5], prediction=OTHER, posterior=OTHER, most=-1), "most"),
    ],
)
def test_what_speaks_of_other_instances_is_refused(read, argument):
    with pytest.raises(InvalidInputError, match=f"^`{argument}` must "):
        read()
