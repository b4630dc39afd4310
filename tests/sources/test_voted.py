"""Beliefs from votes: the formula by slow loops, and what Dawid and Skene learn."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tacit.beliefs import Categorical, Pairs
from tacit.errors import InvalidInputError
from tacit.sources import Voted, Votes, dawid_skene, fuse, majority, with_accuracies
from tacit.sources._voted import confusions


def slow_belief(votes, reliability, balance):
    p = torch.empty(votes.n_items, votes.n_classes, dtype=torch.float64)
    for item in range(votes.n_items):
        for label in range(votes.n_classes):
            log_p = math.log(balance[label])
            for i, s, a, w in zip(
                votes.item.tolist(),
                votes.source.tolist(),
                votes.answer.tolist(),
                votes.weight.tolist(),
                strict=True,
            ):
                log_p += w * math.log(reliability[s, label, a]) if i == item else 0.0
            if reliability.shape[2] > votes.n_classes:
                log_p += slow_silence(votes, reliability, item, label)
            p[item, label] = log_p
    return p.softmax(1)


def slow_silence(votes, reliability, item, label):
    """What it tells that some sources did not vote on an instance."""
    spoke = {
        s for i, s in zip(votes.item.tolist(), votes.source.tolist(), strict=True) if i == item
    }
    silent = [s for s in range(votes.n_sources) if s not in spoke]
    return sum(math.log(reliability[s, label, -1]) for s in silent)


def random_votes(seed, n_items=5, n_sources=3, n_classes=4, all_asked=True):
    generator = torch.Generator().manual_seed(seed)
    shares = torch.rand(n_items, n_sources, n_classes, generator=generator)
    shares *= torch.rand(n_items, n_sources, 1, generator=generator) < 0.7
    shape = (n_sources, n_classes, n_classes + all_asked)
    reliability = torch.rand(shape, generator=generator).double() + 0.1
    balance = torch.rand(n_classes, generator=generator).double() + 0.1
    reliability /= reliability.sum(-1, keepdim=True)
    votes = Votes.from_soft(shares, all_asked=all_asked)
    return votes, reliability, balance / balance.sum()


@given(st.integers(0, 99), st.booleans())
@settings(max_examples=25)
def test_belief_equals_a_slow_loop(seed, all_asked):
    votes, reliability, balance = random_votes(seed, all_asked=all_asked)
    found = Voted(votes, reliability, balance).marginals(torch.float64)
    assert_close(found, slow_belief(votes, reliability, balance), rtol=1e-5, atol=1e-6)


@given(st.integers(0, 99), st.data())
@settings(max_examples=25)
def test_rows_are_the_belief_about_the_rows(seed, data):
    belief = Voted(*random_votes(seed))
    rows = torch.tensor(data.draw(st.permutations(range(len(belief)))))[:3]
    assert torch.equal(belief[rows].marginals(), belief.marginals()[rows])
    assert torch.equal(belief.rows_at(rows).marginals(), belief.marginals()[rows])
    again = Voted(belief[rows].votes, belief.reliability, belief.balance)
    assert_close(again.marginals(), belief.marginals()[rows])


def test_permuting_instances_and_classes_permutes_the_belief():
    votes, reliability, balance = random_votes(3)
    order = torch.tensor([2, 0, 3, 1])
    place = order.argsort()
    renamed = Votes.from_lists(
        votes.item,
        votes.source,
        place[votes.answer],
        weight=votes.weight,
        n_items=votes.n_items,
        n_sources=votes.n_sources,
        n_classes=4,
        all_asked=True,
    )
    answers = torch.cat([order, torch.tensor([4])])
    swapped = Voted(renamed, reliability[:, order][:, :, answers], balance[order])
    assert_close(swapped.marginals(), Voted(votes, reliability, balance).marginals()[:, order])


def crowd(seed, n_items, accuracies, n_classes=3, share=1.0):
    """Truth, and votes of workers that are right so often."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.randint(n_classes, (n_items,), generator=generator)
    right = torch.rand(n_items, len(accuracies), generator=generator) < torch.tensor(accuracies)
    wrong = truth.unsqueeze(1) + torch.randint(
        1, n_classes, (n_items, len(accuracies)), generator=generator
    )
    said = torch.where(right, truth.unsqueeze(1), wrong % n_classes)
    silent = torch.rand(said.shape, generator=generator) >= share
    said = said.masked_fill(silent, -1)
    return truth, Votes.from_matrix(said, n_classes=n_classes, all_asked=False)


def test_functions_that_look_for_one_class_each_tell_by_silence(seed):
    generator = torch.Generator().manual_seed(seed)
    truth = (torch.rand(2000, generator=generator) < 0.3).long()
    lot = torch.rand(2000, 6, generator=generator)
    aims = torch.tensor([1, 1, 1, 0, 0, 0])
    chance = torch.where(truth.unsqueeze(1) == aims, 0.5, 0.05)
    matrix = torch.where(lot < chance, aims, -1)
    learned = dawid_skene(Votes.from_matrix(matrix, n_classes=2))
    assert_close(learned.balance, torch.tensor([0.7, 0.3]).double(), rtol=0, atol=0.04)
    deaf = dawid_skene(Votes.from_matrix(matrix, n_classes=2, all_asked=False))
    assert right_share(learned, truth) > right_share(deaf, truth) + 0.02
    told = learned.reliability[torch.arange(6), :, aims]
    expected = torch.where(aims.unsqueeze(1) == torch.arange(2), 0.5, 0.05).double()
    assert_close(told, expected, rtol=0, atol=0.06)


def right_share(belief, truth):
    return float((belief.marginals().argmax(1) == truth).double().mean())


def test_dawid_skene_finds_who_is_reliable(seed):
    accuracies = [0.95, 0.9, 0.6, 0.4, 0.35, 0.35, 0.34]
    truth, votes = crowd(seed, 600, accuracies)
    belief = dawid_skene(votes)
    assert right_share(belief, truth) > right_share(majority(votes), truth) + 0.05
    assert_close(belief.accuracy(), torch.tensor(accuracies).double(), rtol=0, atol=0.08)


def test_dawid_skene_uses_a_worker_who_is_always_wrong(seed):
    truth, votes = crowd(seed, 400, [0.85, 0.85, 0.85, 0.05], n_classes=2)
    assert right_share(dawid_skene(votes), truth) > right_share(majority(votes), truth)


def test_dawid_skene_rests_where_labels_and_reliabilities_agree(seed):
    _, votes = crowd(seed, 200, [0.9, 0.7, 0.6], share=0.7)
    belief = dawid_skene(votes)
    constant = torch.zeros(votes.n_items, 3).log_softmax(1)
    again = belief.updated(constant)
    assert_close(again.marginals(), belief.marginals(), rtol=0, atol=1e-4)


def test_worker_with_one_vote_is_taken_for_one_like_the_others(seed):
    truth, votes = crowd(seed, 300, [0.8, 0.8, 0.8])
    wrong = (int(truth[0]) + 1) % 3
    more = Votes.from_lists(
        torch.cat([votes.item, torch.tensor([0])]),
        torch.cat([votes.source, torch.tensor([3])]),
        torch.cat([votes.answer, torch.tensor([wrong])]),
    )
    accuracy = dawid_skene(more, strength=5).accuracy()
    assert 0.55 < float(accuracy[3]) < 0.85


@pytest.mark.parametrize("constant", [0, 2])
def test_worker_who_always_says_the_same_tells_nothing(seed, constant):
    _, votes = crowd(seed, 300, [0.8, 0.8, 0.8])
    lazy = Votes.from_lists(
        torch.cat([votes.item, torch.arange(300)]),
        torch.cat([votes.source, torch.full((300,), 3)]),
        torch.cat([votes.answer, torch.full((300,), constant)]),
    )
    belief, other = dawid_skene(lazy), dawid_skene(votes)
    # Whatever the label, the answer is the same; the prior, shared with the others, sees it too.
    assert float(belief.reliability[3].std(0).max()) < 0.02
    assert_close(belief.marginals(), other.marginals(), rtol=0, atol=0.05)


def test_one_vote_for_each_instance_stays_a_belief():
    votes = Votes.from_lists(range(4), range(4), [0, 1, 1, 0])
    p = dawid_skene(votes).marginals()
    assert bool(p.isfinite().all())
    assert p.argmax(1).tolist() == [0, 1, 1, 0]


def test_class_that_nobody_votes_for_stays_possible():
    votes = Votes.from_matrix([[0, 1], [1, 1], [0, 0]], n_classes=3)
    p = dawid_skene(votes).marginals()
    assert bool((p[:, 2] > 0).all() & (p[:, 2] < 0.3).all())


def test_only_the_balance_is_known_without_votes():
    votes = Votes.from_matrix([[-1, -1], [0, 1], [1, 1]], n_classes=2, all_asked=False)
    assert votes.heard().tolist() == [False, True, True]
    # Half a vote and none for the first class, and an instance of each.
    assert majority(votes).marginals()[0].tolist() == [1.5 / 4, 2.5 / 4]
    belief = dawid_skene(votes)
    assert_close(belief.marginals(torch.float64)[0], belief.balance, rtol=1e-5, atol=1e-6)


def test_majority_of_whole_votes_is_their_share():
    votes = Votes.from_matrix([[0, 0, 1], [2, 2, 2]], n_classes=3)
    assert_close(majority(votes, doubt=0).marginals(), torch.tensor([[2 / 3, 1 / 3, 0], [0, 0, 1]]))


def test_equal_accuracies_rank_as_majority_does(seed):
    _, votes = crowd(seed, 50, [0.7] * 5)
    equal = with_accuracies(votes, [0.7] * 5).marginals()
    counts = votes.counts()
    clear = counts.topk(2, 1).values.diff(dim=1).squeeze(1) != 0
    assert torch.equal(equal.argmax(1)[clear], counts.argmax(1)[clear])


def test_predictor_teaches_the_reliabilities(seed):
    truth, votes = crowd(seed, 400, [0.9, 0.4, 0.4])
    evident = torch.full((400, 3), 0.01).scatter_(1, truth.unsqueeze(1), 0.98).log()
    belief = with_accuracies(votes, [0.6, 0.6, 0.6])
    assert belief.updated(evident) is belief
    learns = Voted(votes, belief.reliability, belief.balance)
    taught = learns.updated(evident).accuracy()
    assert_close(taught, torch.tensor([0.9, 0.4, 0.4]).double(), rtol=0, atol=0.08)


def taught(seed, **how):
    """A belief that learns, a prediction at random, and the belief after it."""
    votes, reliability, balance = random_votes(seed, n_items=12)
    belief = Voted(votes, reliability, balance)
    generator = torch.Generator().manual_seed(seed)
    log_q = (2 * torch.randn(12, 4, generator=generator)).log_softmax(1)
    return belief, log_q, belief.updated(log_q, **how)


def assert_same_learned(one, other):
    for name, value in other.learned().items():
        assert_close(one.learned()[name], value)


def test_what_is_learned_is_what_the_posterior_counts(seed):
    belief, log_q, after = taught(seed)
    q = log_q.double().exp()
    r = belief.marginals(torch.float64) * q / q.mean(0)
    expected, _ = confusions(belief.votes, r / r.sum(1, keepdim=True), 1.0)
    assert_close(after.reliability, expected)
    assert torch.equal(after.balance, belief.balance)


def test_whole_weights_teach_like_as_many_instances(seed):
    weight = torch.arange(12) % 4
    belief, log_q, after = taught(seed, weight=weight.float())
    rows = torch.arange(12).repeat_interleave(weight)
    assert_same_learned(after, belief[rows].updated(log_q[rows]))


def test_each_stratum_has_evidence_of_its_own():
    strata = torch.arange(12) % 2
    belief, log_q, after = taught(0, strata=strata)
    of_a_bias = log_q + strata.unsqueeze(1) * torch.tensor([0.0, 1.0, -1.0, 2.0])
    assert_same_learned(belief.updated(of_a_bias, strata=strata), after)
    assert not torch.allclose(belief.updated(of_a_bias).reliability, after.reliability)


def test_what_was_learned_carries_over_to_other_votes(seed):
    belief, _, after = taught(seed)
    again = belief.with_learned(after.learned())
    assert torch.equal(again.marginals(), after.marginals())
    assert all(value.equal(again.learned()[name]) for name, value in after.learned().items())
    part = belief[5:8].with_learned(after.learned())
    assert torch.equal(part.marginals(), after[5:8].marginals())


def test_parts_learn_each_for_itself(seed):
    belief, log_q, after = taught(seed)
    fixed = Categorical(torch.ones(12, 4))
    fused = fuse({"a": fixed, "a/b": belief, "1": fuse({"x": belief})})
    whole = Pairs.different([[0, 1]], n_classes=4, n_instances=12) * fused
    found = whole.with_learned(whole.updated(log_q).learned())
    for part in (found.independent.parts["a/b"], found.independent.parts["1"].parts["x"]):
        assert torch.equal(part.marginals(), after.marginals())
    assert found.independent.parts["a"] is fixed


def test_what_another_belief_has_learned_is_refused():
    belief, _, after = taught(0)
    fixed = Voted(belief.votes, belief.reliability, belief.balance, learns=False)
    assert fixed.learned() == {}
    assert fixed.with_learned({}) is fixed
    with pytest.raises(
        InvalidInputError, match=r"what this belief learns \(nothing\), but it hold"
    ):
        fixed.with_learned(after.learned())
    with pytest.raises(InvalidInputError, match=r"learns \(reliability\), but it holds nothing"):
        belief.with_learned({})
    with pytest.raises(InvalidInputError, match="`reliability` must have shape"):
        belief.with_learned(dawid_skene(Votes.from_matrix([[0], [1]])).learned())


def test_votes_multiply_with_other_beliefs():
    votes, reliability, balance = random_votes(1)
    belief = Voted(votes, reliability, balance)
    other = Categorical(torch.rand(5, 4, generator=torch.Generator().manual_seed(0)) + 0.1)
    expected = belief.marginals() * other.marginals()
    assert_close((belief * other).marginals(), expected / expected.sum(1, keepdim=True))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda v: Voted(v, torch.ones(2, 2, 3), torch.ones(2)), "probabilities of the answers"),
        (lambda v: Voted(v, torch.ones(3, 2, 2) / 2, torch.ones(2)), "`reliability` must have sha"),
        (lambda v: Voted(v, torch.ones(2, 2, 2) / 2, torch.zeros(2)), "`balance` must be 2 finite"),
        (lambda v: with_accuracies(v, [0.5]), "`accuracies` must be 2 numbers from 0 to 1"),
        (lambda v: with_accuracies(v, [0.5, 1.5]), "`accuracies` must be 2 numbers from 0 to 1"),
        (lambda v: with_accuracies(v, [1.0, 1.0]), "votes on instance 0 exclude each other"),
        (lambda v: dawid_skene(v, strength=0), "`strength` must be finite and above 0"),
        (lambda v: majority(v, doubt=-1), "`doubt` must be finite and at least 0"),
    ],
)
def test_impossible_reliabilities_are_refused(make, sentence):
    votes = Votes.from_matrix([[0, 1], [1, 1]], n_classes=2)
    with pytest.raises(InvalidInputError, match=sentence):
        make(votes)
