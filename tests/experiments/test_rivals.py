"""Rivals: PRODEN against a loop over instances, and label models that are read from a file."""

import math
import sys

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from experiments._rivals import Numbered, Proden, label_model
from tacit.beliefs import Candidates, Categorical
from tacit.fitting import Collection, Execution, Plan, Settings, fit
from tacit.predictors import Linear
from tacit.sources import Votes

SETS = [[0, 2], [1], [0, 1, 3], [2, 3], [0, 1, 2, 3], [1, 2], [3], [0, 3]]
N, N_CLASSES = len(SETS), 4


def candidates():
    return Candidates(SETS, n_classes=N_CLASSES)


def categorical():
    draw = torch.rand(N, N_CLASSES, generator=torch.Generator().manual_seed(1))
    return Categorical(draw / draw.sum(1, keepdim=True))


@pytest.mark.parametrize("make", [candidates, categorical])
@pytest.mark.parametrize(
    ("rows", "numbers"),
    [
        (slice(2, 7, 2), [2, 4, 6]),
        (slice(None, None, -3), [7, 4, 1]),
        (torch.tensor([True, False] * (N // 2)), [0, 2, 4, 6]),
        ([5, 0, -1, 5], [5, 0, 7, 5]),
        (torch.tensor([3, 1]), [3, 1]),
        (np.array([6]), [6]),
        ([], []),
    ],
)
def test_numbered_belief_is_the_one_that_it_wraps(make, rows, numbers):
    plain, numbered = make(), Numbered(make())
    taken = numbered[rows]
    assert taken.rows.tolist() == numbers
    assert (len(taken), taken.n_classes) == (len(plain[rows]), N_CLASSES)
    for kind in (torch.float32, torch.float64):
        assert_close(taken.log_probabilities(kind), plain[rows].log_probabilities(kind))
    assert_close(taken.dense()[0], plain[rows].dense()[0])
    assert taken.dense()[1] == plain[rows].dense()[1]


def test_numbered_belief_remembers_rows_through_selections_of_selections():
    index = torch.tensor([2, 0])
    found = Numbered(candidates())[2:][[True, False, True, True, False, True]].rows_at(index)[::-1]
    assert found.rows.tolist() == [2, 5]
    assert_close(found.log_probabilities(), candidates().rows_at(found.rows).log_probabilities())
    assert found.to("cpu").rows.tolist() == [2, 5]


def restricted(logits, allowed):
    """The prediction of one instance, over its candidates alone."""
    joint = [math.exp(logit) if label in allowed else 0.0 for label, logit in enumerate(logits)]
    return [each / sum(joint) for each in joint]


def reference(batches, logits):
    """PRODEN's losses and weights, instance by instance, in plain Python."""
    weights = [[1 / len(s) if c in s else 0.0 for c in range(N_CLASSES)] for s in SETS]
    losses = []
    for rows, given in zip(batches, logits, strict=True):
        total = 0.0
        for row, own in zip(rows, given, strict=True):
            log_sum = math.log(sum(map(math.exp, own)))
            total -= sum(w * (z - log_sum) for w, z in zip(weights[row], own, strict=True))
            weights[row] = restricted(own, SETS[row])
        losses.append(total / len(rows))
    return losses, weights


def test_proden_is_the_published_loop():
    rng = np.random.default_rng(3)
    batches = [rng.permutation(N)[:size].tolist() for size in (3, 5, 8, 1, 8)]
    logits = [2 * rng.normal(size=(len(rows), N_CLASSES)) for rows in batches]
    objective, belief = Proden(candidates()).double(), Numbered(candidates())
    losses = [
        float(objective(torch.tensor(given), belief[rows]))
        for rows, given in zip(batches, logits, strict=True)
    ]
    expected, weights = reference(batches, logits.copy())
    assert_close(losses, expected)
    assert_close(objective.weights, torch.tensor(weights, dtype=torch.float64))
    assert_close(objective.weights.sum(1), torch.ones(N, dtype=torch.float64))
    assert bool((objective.weights[candidates().marginals() == 0] == 0).all())


def test_proden_pulls_to_the_weights_before_the_step():
    logits = torch.randn(N, N_CLASSES, generator=torch.Generator().manual_seed(2))
    logits.requires_grad_()
    objective = Proden(candidates())
    before = objective.weights.clone()
    objective(logits, Numbered(candidates())).backward()
    assert_close(logits.grad, (logits.detach().softmax(1) - before) / N)


def test_proden_computes_in_float32_at_least():
    logits = torch.randn(N, N_CLASSES, generator=torch.Generator().manual_seed(2)).bfloat16()
    objective, belief = Proden(candidates()), Numbered(candidates())
    exact = Proden(candidates())
    assert_close(objective(logits, belief), exact(logits.float(), belief))
    assert_close(objective.weights, exact.weights)


class Watched(Proden):
    """One that the engine does not copy, so that what it learned can be seen."""

    def __deepcopy__(self, memo):
        return self


def test_proden_learns_in_the_engine():
    belief = Candidates(SETS * 5, n_classes=N_CLASSES)
    features = torch.randn(len(belief), 3, generator=torch.Generator().manual_seed(4))
    objective = Watched(belief)
    first = objective.weights.clone()
    plan = Plan(
        predictor=lambda generator: Linear(3, N_CLASSES, generator=generator),
        objective=objective,
        settings=Settings(epochs=2, batch_size=8, patience=0, seed=0, learning_rate=0.1),
    )
    weight = torch.ones(len(belief))
    weight[2] = 0
    collection = Collection(features, Numbered(belief), weight=weight)
    (run,) = fit([plan], collection, execution=Execution(device="cpu"))
    assert [math.isfinite(record.loss) for record in run.history] == [True, True]
    moved = ((objective.weights - first).abs() > 1e-4).any(1)
    several = torch.tensor([len(s) > 1 for s in SETS * 5]) & (weight > 0)
    # A tenth is held out and not learned from; one candidate leaves nothing to move.
    assert not bool(moved[~several].any())
    assert 0.8 * int(several.sum()) <= int(moved.sum()) < int(several.sum())


@pytest.fixture
def votes():
    return Votes.from_matrix([[0, 1], [1, 1], [-1, 0]], n_classes=2)


@pytest.mark.parametrize("name", ["crowd-kit", "snorkel"])
def test_label_model_is_read_from_its_file(tmp_path, monkeypatch, votes, name):
    for library in ("crowdkit", "crowdkit.aggregation", "snorkel", "snorkel.labeling.model"):
        monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    kept = tmp_path / "folder" / "kept.npz"
    with pytest.raises(ImportError):
        label_model(name, votes, seed=0, kept=kept)
    assert not kept.exists()
    kept.parent.mkdir()
    table = np.array([[0.75, 0.25], [0.125, 0.875], [0.5, 0.5]], np.float32)
    np.savez_compressed(kept, probabilities=table)
    belief = label_model(name, votes, seed=0, kept=kept)
    assert_close(belief.marginals(), torch.from_numpy(table))


def test_label_model_is_kept_once_it_is_computed(tmp_path, monkeypatch, votes):
    table = np.array([[0.75, 0.25], [0.125, 0.875], [0.5, 0.5]])
    monkeypatch.setattr("experiments._rivals._snorkel", lambda *_, **__: table)
    first = label_model("snorkel", votes, seed=0, kept=tmp_path / "new" / "kept.npz")
    monkeypatch.undo()
    again = label_model("snorkel", votes, seed=0, kept=tmp_path / "new" / "kept.npz")
    assert_close(first.marginals(), torch.tensor(table, dtype=torch.float32))
    assert torch.equal(first.marginals(), again.marginals())
