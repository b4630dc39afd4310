"""The demo resolves the digits, quickly, and says what it lacks."""

import re
import resource
import subprocess
import sys

import pytest
import torch

from tacit import demo
from tacit.errors import MissingExtraError
from tacit.objectives import RQ


def test_demo_resolves_the_digits_in_twenty_seconds():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tacit", "demo"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Over draws 0 to 4: r 98.4 to 99.2 %, q on held-out digits 96.4 to 98.9 %.
    accuracy = [float(share) for share in re.findall(r"([\d.]+)%$", done.stdout, re.MULTILINE)]
    assert accuracy[0] == 20.0
    assert min(accuracy[1:3]) > 97.0
    assert accuracy[3] > 94.5
    assert "██" in done.stdout
    # Processor time, not the clock's, so that a busy machine does not matter; it runs on one core.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20


def test_truth_is_not_learned_from():
    collection, held_out = demo.load(seed=1)
    shuffled = collection._replace(truth=collection.truth.flip(0))
    few = slice(60)
    runs = [
        demo.resolve(demo.Digits(*(part[few] for part in digits)), held_out, RQ(), seed=1)
        for digits in (collection, shuffled)
    ]
    for one, other in zip(*runs, strict=True):
        assert torch.equal(one, other)


def test_each_digit_has_five_candidates_with_the_truth_among_them():
    for digits in demo.load(seed=2):
        assert bool((digits.belief.sizes() == 5).all())
        assert bool(digits.belief.mask().gather(1, digits.truth.unsqueeze(1)).all())


def test_candidates_that_are_not_the_truth_are_drawn_evenly():
    digits, _ = demo.load(seed=3)
    mask = digits.belief.mask().double()
    for label in range(10):
        share = mask[digits.truth == label].mean(0)
        others = torch.cat([share[:label], share[label + 1 :]])
        # 4/9 each; a standard deviation is at most 0.044 in classes of 130 and more.
        torch.testing.assert_close(others, torch.full((9,), 4 / 9).double(), rtol=0, atol=0.18)


def test_random_state_of_the_caller_stays_as_it_is():
    before = torch.get_rng_state()
    collection, held_out = demo.load(seed=4)
    few = demo.Digits(*(part[:50] for part in collection))
    demo.resolve(few, held_out, RQ(), seed=4)
    assert torch.equal(before, torch.get_rng_state())


def test_missing_scikit_learn_is_refused_with_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingExtraError, match=re.escape('pip install "tacit-learn[demo]"')):
        demo.load(seed=0)
