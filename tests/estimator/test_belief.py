"""Beliefs that learn along: what the classifier makes of them."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tacit import BeliefClassifier
from tacit.errors import InvalidInputError
from tacit.evidence import own_evidence
from tacit.fitting import Execution
from tacit.sources import Voted, Votes, dawid_skene, with_accuracies
from tests.estimator.cases import N_CLASSES, clouds, quick, same

X, TRUTH, BELIEF = clouds()


def ballots(truth=TRUTH, seed=0):
    """Three workers of whom the first is the best, taken for alike."""
    rng = np.random.default_rng(seed)
    right = rng.random((len(truth), 3)) < [0.9, 0.6, 0.5]
    other = (truth[:, None] + rng.integers(1, N_CLASSES, right.shape)) % N_CLASSES
    said = np.where(right, truth[:, None], other)
    votes = Votes.from_matrix(said, n_classes=N_CLASSES, all_asked=False)
    alike = with_accuracies(votes, [0.6] * 3)
    return Voted(votes, alike.reliability, alike.balance)


def along(**settings):
    return quick(**{"update_every": 2, **settings})


def test_without_updates_the_belief_is_as_it_was_stated():
    stated = ballots()
    model = quick().fit(X, stated)
    assert model.belief_ is stated
    fixed = Voted(stated.votes, stated.reliability, stated.balance, learns=False)
    assert same(model, quick().fit(X, fixed))


def test_the_belief_learns_from_the_mean_prediction():
    stated = ballots()
    model = along(n_members=2).fit(X, stated)
    expected = stated.updated(torch.from_numpy(model.prediction_).log())
    found = model.belief_.learned()
    for name, value in expected.learned().items():
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-6)


def test_the_posterior_comes_from_the_belief_that_has_learned():
    model = along(tempering=0.5).fit(X, ballots())
    evidence = 0.5 * own_evidence(torch.from_numpy(model.prediction_).log())
    r = model.belief_.posterior(evidence).log_marginals.exp()
    np.testing.assert_allclose(model.posterior_, r, atol=1e-5)


def test_what_was_learned_serves_new_votes():
    model = along().fit(X, ballots())
    new = ballots(TRUTH[:30], seed=1)
    taught = new.with_learned(model.belief_.learned())
    expected = Voted(new.votes, model.belief_.reliability, new.balance)
    found = [model.posterior(X[:30], belief) for belief in (taught, expected, new)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)
    assert abs(found[0] - found[2]).max() > 0.01


def test_weight_zero_teaches_nothing():
    weight = 1.0 + np.arange(len(X)) % 2
    weight[::4] = 0
    there = np.flatnonzero(weight)
    whole = along().fit(X, ballots(), sample_weight=weight).belief_
    part = along().fit(X[there], ballots()[there], sample_weight=weight[there]).belief_
    torch.testing.assert_close(whole.reliability, part.reliability, rtol=0, atol=1e-6)


def liars(seed):
    """Two sources, right equally often: each lies about two of the four classes.

    Nothing but the features tells which of two that disagree is right.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=600)
    lies = rng.random((600, 2)) < 0.4 * np.stack([truth < 2, truth >= 2], 1)
    said = np.where(lies, truth[:, None] ^ 1, truth[:, None])
    votes = Votes.from_matrix(said, n_classes=4, all_asked=False)
    alike = with_accuracies(votes, [0.8, 0.8])
    features = 2 * np.eye(4)[truth] + rng.normal(size=(600, 4))
    return features, truth, Voted(votes, alike.reliability, alike.balance)


def test_features_tell_where_a_source_lies(seed):
    features, truth, stated = liars(seed)
    honest = torch.tensor([[0.6, 0.6, 1.0, 1.0], [1.0, 1.0, 0.6, 0.6]]).double()

    def lies(belief):
        return float((belief.reliability.diagonal(dim1=1, dim2=2) - honest).abs().mean())

    settings = {"n_members": 1, "epochs": 30, "learning_rate": 0.02, "random_state": seed}
    alone = BeliefClassifier("linear", **settings).fit(features, stated)
    both = BeliefClassifier("linear", update_every=1, **settings).fit(features, stated)
    assert lies(dawid_skene(stated.votes)) > 0.15
    assert lies(both.belief_) < 0.12
    right, before = ((m.posterior_.argmax(1) == truth).mean() for m in (both, alone))
    assert right > before + 0.005


def test_clone_and_load_keep_the_setting(tmp_path):
    model = along().fit(X, ballots())
    assert same(clone(model).fit(X, ballots()), model)
    model.save(tmp_path / "model")
    again = BeliefClassifier.load(tmp_path / "model")
    assert again.update_every == 2
    with pytest.raises(NotFittedError, match="`belief_` is of a whole collection"):
        _ = again.belief_


def test_a_stream_takes_beliefs_as_they_are_stated():
    with_it = along().partial_fit(X, ballots(), classes=range(N_CLASSES))
    without = quick().partial_fit(X, ballots(), classes=range(N_CLASSES))
    assert same(with_it, without)
    assert not hasattr(with_it, "belief_")


@pytest.mark.parametrize("y", [TRUTH, BELIEF], ids=["labels", "candidates"])
def test_updates_of_a_belief_that_learns_nothing_are_refused(y):
    with pytest.raises(InvalidInputError, match="`update_every` must be 0 for Candidates"):
        along().fit(X, y)


def test_a_run_with_updates_goes_on_where_it_was(tmp_path):
    class StoppedError(Exception):
        pass

    def stop(progress):
        if progress.done > 3.4:
            raise StoppedError

    model = along(execution=Execution(checkpoint_every=0.0))
    with pytest.raises(StoppedError):
        model.fit(X, ballots(), folder=tmp_path, watch=stop)
    model.fit(X, ballots(), folder=tmp_path, resume=True)
    whole = along().fit(X, ballots())
    assert same(model, whole)
    assert torch.equal(model.belief_.reliability, whole.belief_.reliability)
