"""Who speaks for a label, and how strongly, is what each source makes one believe by itself."""

import math

import pytest
import torch

from tacit.beliefs import Categorical
from tacit.errors import InvalidInputError
from tacit.sources import Voted, Votes, advocates, dawid_skene, fuse, with_accuracies

N, SOURCES, CLASSES = 9, 4, 3


def drawn(generator, *, soft=False, all_asked=False):
    said = torch.randint(-1, CLASSES, (N, SOURCES), generator=generator)
    if not soft:
        return Votes.from_matrix(said, n_classes=CLASSES, all_asked=all_asked)
    shares = torch.rand(N, SOURCES, CLASSES, generator=generator)
    shares[said < 0] = 0
    return Votes.from_soft(shares, all_asked=all_asked)


def alone(belief, source):
    """Log of what a source makes one believe where all classes are equally common, times C."""
    votes, table = belief.votes.of_sources([source]), belief.reliability[[source]]
    own = Voted(votes, table, torch.ones(CLASSES))
    return own.log_probabilities(torch.float64) + math.log(CLASSES)


@pytest.mark.parametrize("all_asked", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_strength_is_what_a_source_makes_one_believe_alone(seed, soft, all_asked):
    generator = torch.Generator().manual_seed(seed)
    belief = dawid_skene(drawn(generator, soft=soft, all_asked=all_asked))
    labels = torch.randint(CLASSES, (N,), generator=generator)
    told = [alone(belief, source) for source in range(SOURCES)]
    for row, (label, found) in enumerate(zip(labels, advocates(belief, labels), strict=True)):
        expected = {s: float(table[row, label]) for s, table in enumerate(told)}
        expected = {s: value for s, value in expected.items() if value > 1e-4}
        strengths = {source: strength for source, strength, _ in found if strength > 1e-4}
        assert strengths == pytest.approx(expected, abs=1e-5)
        assert [*strengths.values()] == sorted(strengths.values(), reverse=True)


def test_strengths_add_up_to_the_belief():
    # Of two classes, what speaks against one speaks for the other: nothing is left out.
    generator = torch.Generator().manual_seed(0)
    said = torch.randint(0, 2, (N, SOURCES), generator=generator)
    belief = with_accuracies(Votes.from_matrix(said, n_classes=2), [0.9, 0.7, 0.6, 0.2])
    odds = torch.zeros(N, dtype=torch.float64)
    for label, sign in ((0, 1), (1, -1)):
        for row, found in enumerate(advocates(belief, torch.full((N,), label))):
            for source, strength, _ in found:
                odds[row] += sign * (strength - math.log(2 - math.exp(strength)))
                assert int(said[row, source]) == label or source == 3
    log_p = belief.log_probabilities(torch.float64)
    assert torch.allclose(odds, log_p[:, 0] - log_p[:, 1], atol=1e-5)


def test_silence_of_who_was_asked_may_speak():
    votes = Votes.from_matrix([[0, -1], [1, 1], [0, -1], [1, 1]], n_classes=2)
    (quiet,) = [each for each in advocates(dawid_skene(votes), torch.tensor([0] * 4))[0] if each[0]]
    assert (quiet.source, quiet.spoke) == (1, False)
    unasked = Votes.from_matrix([[0, -1], [1, 1]], n_classes=2, all_asked=False)
    assert all(each.spoke for each in advocates(dawid_skene(unasked), torch.tensor([0, 1]))[0])


@pytest.mark.parametrize("how", ["product", "linear"])
def test_parts_of_a_fused_belief_speak_for_themselves(how):
    sure, torn = torch.tensor([[0.8, 0.1, 0.1]]), torch.tensor([[0.0, 0.5, 0.5]])
    parts = {"sure": Categorical(sure), "torn": Categorical(torn)}
    belief = fuse(parts, how=how, weights={"sure": 0.5}, abstaining={"sure": 0, "torn": 0.0})
    weight = 0.5 if how == "product" else 1.0
    assert advocates(belief, torch.tensor([0])) == [[(0, pytest.approx(weight * math.log(2.4)), 1)]]
    assert advocates(belief, torch.tensor([2])) == [[(1, pytest.approx(math.log(1.5)), True)]]


def test_votes_that_count_the_same_speak_for_what_they_say():
    votes = Votes.from_soft(torch.tensor([[[0.3, 0.7], [0.0, 1.0], [0.0, 0.0]]]))
    assert advocates(votes, torch.tensor([1])) == [[(1, 1.0, True), (0, pytest.approx(0.7), True)]]


@pytest.mark.parametrize("labels", [[0], [0, 5], [0, -1]])
def test_labels_are_of_the_same_instances(labels):
    votes = Votes.from_matrix([[0], [1]], n_classes=2)
    with pytest.raises(InvalidInputError, match="labels"):
        advocates(votes, torch.tensor(labels))
