from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import torch
from torch import nn

from tacit.diagnostics import held_out_evidence
from tacit.errors import InvalidInputError
from tacit.evidence import BatchMass, CollectionMass, FixedMass, TrackedMass, class_mass
from tacit.fitting import METRICS, Collection, DivergedError, Execution, Record, perceive
from tacit.fitting._rows import split
from tacit.objectives import EM, QR, RQ, FreeEnergy, SoftCrossEntropy, UnionNLL
from tests.fitting.cases import (
    BELIEFS,
    CPU,
    N,
    assert_near,
    assert_same,
    candidates,
    collection,
    features,
    linear,
    pairs,
    plan,
    train,
    truth,
    weights,
)

ALONE = Execution(device="cpu", together="no")
DIFFERENT = [
    {"seed": 1},
    {"seed": 2, "epochs": 3, "batch_size": 14},
    {"seed": 3, "held_out": 0.3, "warm_up": 1, "optimizer": "sgd"},
]


def accuracy(network):
    return float((perceive(network, features()).argmax(1) == truth()).float().mean())


@pytest.mark.parametrize("name", BELIEFS)
@pytest.mark.parametrize("objective", [RQ(), EM(TrackedMass()), FreeEnergy()], ids=repr)
def test_training_lowers_the_loss_whatever_is_believed(name, objective):
    (fitted,) = train(plan(objective, epochs=12, patience=0), collection(BELIEFS[name]()))
    losses = [record.loss for record in fitted.history]
    assert losses[-1] < losses[0]
    assert fitted.ended == "all epochs"


@pytest.mark.parametrize("name", ["candidates", "categorical", "product"])
def test_labels_are_resolved(name):
    (fitted,) = train(plan(epochs=20, learning_rate=0.05), collection(BELIEFS[name]()))
    assert accuracy(fitted.network) > 0.9


@pytest.mark.parametrize("objective", [QR(), UnionNLL(), SoftCrossEntropy(), RQ(reduction="sum")])
def test_every_objective_trains(objective):
    (fitted,) = train(plan(objective, learning_rate=1e-3))
    assert all(math.isfinite(record.loss) for record in fitted.history)


def test_a_single_step_is_that_of_the_plain_loop():
    """The referee: one batch of all instances, plain gradient descent by hand."""
    settings = {"epochs": 1, "batch_size": N, "held_out": 0.0, "schedule": "constant"}
    given = plan(predictor=linear, optimizer="sgd", **settings)
    (fitted,) = train(given)
    network = given.build(0)
    loss = RQ()(network(features()), candidates())
    loss.backward()
    for name, parameter in network.named_parameters():
        expected = parameter - given.settings.learning_rate * parameter.grad
        torch.testing.assert_close(weights(fitted)[name], expected.detach())
    assert fitted.history[0].loss == pytest.approx(float(loss.detach()))


def test_runs_trained_together_equal_the_same_runs_alone():
    plans = [plan(**settings) for settings in DIFFERENT]
    for fitted, each in zip(train(plans, execution=ALONE), plans, strict=True):
        assert_same(fitted, *train(each))


def test_runs_evaluated_as_one_are_near_the_same_runs_alone():
    plans = [plan(EM(TrackedMass()), seed=seed, epochs=4) for seed in range(3)]
    together = train(plans, execution=replace(CPU, together="yes"))
    for fitted, each in zip(together, plans, strict=True):
        assert_near(fitted, *train(each, execution=ALONE), rtol=1e-4, atol=1e-5)


class Normalised(nn.Module):
    """A linear map of features that are brought to the batch's mean and deviation."""

    def __init__(self, generator):
        super().__init__()
        self.norm, self.map = nn.BatchNorm1d(4), linear(generator)

    def forward(self, features):
        return self.map(self.norm(features))


def test_running_means_of_networks_evaluated_as_one_are_their_own():
    plans = [plan(predictor=Normalised, seed=seed) for seed in range(2)]
    together = train(plans, execution=replace(CPU, together="yes"))
    for fitted, each in zip(together, plans, strict=True):
        assert_near(fitted, *train(each, execution=ALONE), rtol=1e-4, atol=1e-5)


class Forgetful(nn.Module):
    """A linear map of features of which some are dropped."""

    def __init__(self, generator):
        super().__init__()
        self.dropout, self.map = nn.Dropout(0.3), linear(generator)

    def forward(self, features):
        return self.map(self.dropout(features))


def test_what_a_network_draws_does_not_depend_on_its_neighbours():
    plans = [plan(predictor=Forgetful, seed=seed) for seed in (4, 5)]
    together = train(plans, execution=ALONE)
    for fitted, each in zip(together, plans, strict=True):
        assert_same(fitted, *train(each))
    kept = [plan(predictor=linear, seed=4)]
    assert not torch.equal(train(kept)[0].network.weight, together[0].network.map.weight)


def images():
    return features().view(N, 1, 2, 2).repeat(1, 1, 4, 4)


class Flat(nn.Module):
    def __init__(self, generator):
        super().__init__()
        self.map = nn.Linear(64, 3, device=generator.device)
        self.map.weight.data.copy_(torch.randn(3, 64, generator=generator) / 8)
        self.map.bias.data.zero_()

    def forward(self, features):
        return self.map(features.flatten(1))


def test_augmentation_does_not_depend_on_neighbours():
    plans = [plan(predictor=Flat, augment="shift", seed=seed) for seed in (4, 5)]
    of = Collection(images(), candidates())
    together = train(plans, of, execution=ALONE)
    for fitted, each in zip(together, plans, strict=True):
        assert_same(fitted, *train(each, of))
    (still,) = train(plan(predictor=Flat, seed=4), of)
    assert not torch.equal(still.network.map.weight, together[0].network.map.weight)


def test_instances_without_weight_are_as_if_deleted():
    weight = 0.5 + torch.arange(N) % 4
    weight[torch.arange(N) % 5 == 0] = 0.0
    rows = weight.nonzero().squeeze(1)
    kept = Collection(features()[rows], candidates()[rows], weight=weight[rows])
    for settings in ({}, {"held_out": 0.0, "batch_size": 7}):
        each = plan(EM(CollectionMass()), **settings)
        assert_same(*train(each, collection(weight=weight)), *train(each, kept))


def test_groups_without_weight_are_as_if_deleted():
    belief = pairs()
    rows = (belief.group_of % 4 > 0).nonzero().squeeze(1)
    weight = torch.zeros(N).index_fill(0, rows, 1.0)
    kept = Collection(features()[rows], belief[rows], weight=weight[rows])
    assert_same(*train(plan(), collection(belief, weight=weight)), *train(plan(), kept))


def test_a_whole_weight_counts_as_so_many_instances():
    weight = 1 + torch.arange(N) % 3
    rows = torch.arange(N).repeat_interleave(weight)
    each = plan(epochs=1, batch_size=len(rows), held_out=0.0)
    repeated = Collection(features()[rows], candidates()[rows])
    assert_near(*train(each, collection(weight=weight.float())), *train(each, repeated))


def test_strata_have_class_masses_of_their_own():
    strata = torch.arange(N) % 2
    settings = {"epochs": 1, "batch_size": N, "held_out": 0.0}
    (with_two,) = train(plan(RQ(BatchMass(2)), **settings), collection(strata=strata))
    (with_one,) = train(plan(RQ(), **settings), collection(strata=strata))
    logits = plan().build(0)(features()).detach()
    expected = float(RQ(BatchMass(2))(logits, candidates(), strata=strata))
    assert with_two.history[0].loss == pytest.approx(expected, rel=1e-5)
    assert with_two.history[0].loss != with_one.history[0].loss


def test_strata_that_the_mass_has_not_are_refused():
    with pytest.raises(InvalidInputError, match=r"`strata` must be given"):
        train(plan(RQ(BatchMass(2))))
    with pytest.raises(InvalidInputError, match=r"`strata` must"):
        train(plan(RQ(BatchMass(2))), collection(strata=torch.arange(N) % 3))


def streams(folder):
    np.save(folder / "features.npy", features().numpy())
    return {
        "tensor": features(),
        "array": features().numpy(),
        "memory map": np.load(folder / "features.npy", mmap_mode="r"),
    }


@pytest.mark.parametrize("name", ["candidates", "bags"])
def test_streamed_equals_held(tmp_path, name):
    for given in streams(tmp_path).values():
        of = Collection(given, BELIEFS[name](), weight=1.0 + torch.arange(N) % 3)
        held = train(plan(), of, execution=replace(CPU, hold="yes"))
        streamed = train(plan(), of, execution=replace(CPU, hold="no"))
        assert_same(*held, *streamed)
        assert_same(*held, *train(plan(), of))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_features_are_near_dense_ones(kind):
    thin = features() * (torch.arange(N * 4).view(N, 4) % 3 > 0)
    matrix = scipy.sparse.csr_matrix(thin.numpy()).asformat(kind)
    (sparse,) = train(plan(), Collection(matrix, candidates()))
    assert_near(sparse, *train(plan(), Collection(thin, candidates())), rtol=1e-4, atol=1e-5)
    with pytest.raises(InvalidInputError, match="`hold` must be 'auto' or 'no'"):
        train(plan(), Collection(matrix, candidates()), execution=replace(CPU, hold="yes"))


def test_warm_up_minimises_soft_cross_entropy():
    (eased,) = train(plan(RQ(), warm_up=2, epochs=3, schedule="constant"))
    (soft,) = train(plan(SoftCrossEntropy(), epochs=3, schedule="constant"))
    assert [record.warming_up for record in eased.history] == [True, True, False]
    assert [r.loss for r in eased.history[:2]] == [r.loss for r in soft.history[:2]]
    assert eased.history[2].loss != soft.history[2].loss
    assert not any(record.best for record in eased.history[:2])


def rates(**settings):
    (fitted,) = train(plan(learning_rate=0.5, predictor=linear, optimizer="sgd", **settings))
    return [record.learning_rate for record in fitted.history]


def test_rates_follow_the_schedule():
    assert rates(schedule="constant", epochs=3) == [0.5] * 3
    falling = rates(schedule="cosine", epochs=10)
    assert falling == sorted(falling, reverse=True)
    # Of four steps of the last of ten epochs the last begins when 39 of 40 are made.
    assert falling[-1] == pytest.approx(0.25 * (1 + math.cos(math.pi * 39 / 40)))
    assert 0 < falling[-1] < 0.001


def test_a_cosine_is_each_runs_own_where_epochs_differ_in_steps():
    """One run has eight steps and the other one: alone or together, both know where they are."""
    plans = [plan(batch_size=10, held_out=0.0), plan(batch_size=N, held_out=0.0)]
    together = train(plans, execution=ALONE)
    assert together[1].history[0].learning_rate == plans[1].settings.learning_rate
    assert_same(together[1], *train(plans[1]))


def test_a_plateau_halves_the_rate():
    (fitted,) = train(plan(epochs=30, schedule="plateau", patience=6, learning_rate=0.1))
    halved, best, since = 1.0, -math.inf, 0
    for record in fitted.history:
        assert record.learning_rate == pytest.approx(0.1 * halved)
        since = 0 if record.held_out_evidence > best else since + 1
        best = max(best, record.held_out_evidence)
        if since == 2:
            halved, since = halved / 2, 0
    assert halved < 1.0


def test_the_best_state_by_held_out_evidence_is_returned():
    settings = {"learning_rate": 0.1, "held_out": 0.3, "schedule": "constant"}
    (fitted,) = train(plan(epochs=60, patience=4, **settings))
    scores = [record.held_out_evidence for record in fitted.history]
    assert fitted.ended == "no better for long"
    assert fitted.best_epoch == 1 + scores.index(max(scores))
    assert len(scores) == fitted.best_epoch + 4
    assert fitted.held_out_evidence == max(scores)
    assert [r.epoch for r in fitted.history if r.best][-1] == fitted.best_epoch
    # The network is that of its best epoch: one that ends there is the same.
    assert_near(fitted, *train(plan(epochs=fitted.best_epoch, **settings)), rtol=0, atol=0)


def test_held_out_evidence_is_that_of_the_network_on_what_it_did_not_see():
    (fitted,) = train(plan(held_out=0.3))
    every = perceive(fitted.network, features())
    rows = split(torch.arange(N), None, 0.3, 0).held_out
    expected = held_out_evidence(every[rows], candidates()[rows])
    assert fitted.held_out_evidence == pytest.approx(expected, abs=1e-7)


def test_without_held_out_instances_all_epochs_are_made():
    (fitted,) = train(plan(held_out=0.0, epochs=5))
    assert (fitted.ended, fitted.best_epoch) == ("all epochs", 5)
    assert fitted.held_out_evidence is None


@pytest.mark.parametrize("settings", [{"on_collapse": "restore"}, {"schedule": "plateau"}], ids=str)
def test_what_needs_held_out_evidence_is_refused_where_there_is_none(settings):
    tiny = Collection(features(4), candidates(4))
    with pytest.raises(InvalidInputError, match="where nothing is held out"):
        train(plan(**settings), tiny)


def test_the_mass_of_a_collection_is_refreshed_each_epoch():
    objective = EM(CollectionMass())
    masses, networks = [], []

    class Watched(CollectionMass):
        def forward(self, batch):
            masses.append(self.log_mass.clone())
            return super().forward(batch)

    def predictor(generator):
        networks.append(linear(generator))
        return networks[-1]

    train(plan(EM(Watched()), predictor=predictor, held_out=0.0, batch_size=30))
    first = class_mass(perceive(linear(torch.Generator().manual_seed(0)), features()))
    assert len(masses) == 6
    torch.testing.assert_close(masses[0].exp()[0], first)
    assert masses[0].equal(masses[2])
    assert not masses[2].equal(masses[3])
    assert objective.mass.log_mass.numel() == 0


def test_bfloat16_and_channels_last_are_near_the_plain_run():
    of = Collection(images(), candidates())
    (exact,) = train(plan(predictor=Flat), of)
    (laid_out,) = train(plan(predictor=Flat), of, execution=replace(CPU, channels_last=True))
    assert_near(laid_out, exact, rtol=1e-5, atol=1e-6)
    (rounded,) = train(plan(predictor=Flat), of, execution=replace(CPU, autocast=True))
    assert rounded.history[-1].loss == pytest.approx(exact.history[-1].loss, rel=0.02)
    assert rounded.history[-1].loss != exact.history[-1].loss


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's compiler's own
def test_a_compiled_network_is_near_the_plain_one():
    (compiled,) = train(plan(), execution=replace(CPU, compile=True))
    assert_near(compiled, *train(plan()), rtol=1e-4, atol=1e-5)


def test_metrics_are_a_json_record_for_each_epoch(tmp_path):
    plans = [plan(epochs=3), plan(epochs=2, seed=1)]
    fitted = train(plans, folder=tmp_path)
    lines = (tmp_path / METRICS).read_text().splitlines()
    records = [Record.from_dict(json.loads(line)) for line in lines]
    assert [(r.run, r.epoch) for r in records] == [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3)]
    for number, each in enumerate(fitted):
        assert [r for r in records if r.run == number] == each.history


def test_the_random_state_of_the_caller_is_untouched():
    before = torch.get_rng_state()
    train(plan(predictor=Forgetful))
    assert torch.get_rng_state().equal(before)


def test_the_random_state_of_the_caller_does_not_matter():
    torch.manual_seed(1)
    (one,) = train(plan(predictor=Forgetful))
    torch.manual_seed(2)
    assert_same(one, *train(plan(predictor=Forgetful)))


def test_what_is_passed_is_not_changed():
    network, objective, given = linear(torch.Generator()), EM(TrackedMass()), features()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    (fitted,) = train(plan(objective, predictor=network), Collection(given, candidates()))
    assert fitted.network is not network
    assert all(network.state_dict()[name].equal(value) for name, value in before.items())
    assert objective.mass.log_mass.numel() == 0
    assert given.equal(features())


@pytest.mark.parametrize("execution", [CPU, replace(CPU, hold="no")])
def test_a_run_that_diverges_says_so(execution):
    with pytest.raises(
        DivergedError, match=r"run 0 is no finite number any more in epoch 1; lower"
    ):
        train(plan(optimizer="sgd", learning_rate=1e30), execution=execution)


def test_a_last_step_that_diverges_is_no_result():
    """There is no further loss to tell."""
    settings = {"epochs": 1, "batch_size": N, "held_out": 0.0, "optimizer": "sgd"}
    with pytest.raises(DivergedError, match="The prediction of run 0 is no finite"):
        train(plan(learning_rate=1e38, **settings))


def test_features_that_are_no_numbers_are_not_taken_for_divergence():
    spoilt = features()
    spoilt[3, 1] = torch.nan
    with pytest.raises(InvalidInputError, match="`logits` must be finite"):
        train(plan(held_out=0.0), Collection(spoilt, candidates()))


def test_plans_that_no_run_can_follow_are_refused():
    with pytest.raises(InvalidInputError, match="`plans` must hold at least one run"):
        train([])
    with pytest.raises(InvalidInputError, match="`reduction` must be 'mean' or 'sum'"):
        train(plan(RQ(reduction="none")))
    with pytest.raises(InvalidInputError, match="group 0 has 5 instances, more than 4"):
        train(plan(batch_size=4), collection(BELIEFS["chains"]()))
    frozen = linear(torch.Generator()).requires_grad_(False)
    with pytest.raises(InvalidInputError, match="`predictor` must have parameters to learn"):
        train(plan(predictor=frozen))


def test_a_fixed_mass_that_is_known_is_used():
    mass = FixedMass(torch.tensor([0.5, 0.3, 0.2]))
    settings = {"epochs": 1, "batch_size": N, "held_out": 0.0}
    (fitted,) = train(plan(EM(mass), **settings))
    expected = EM(mass)(plan().build(0)(features()).detach(), candidates())
    assert fitted.history[0].loss == pytest.approx(float(expected), rel=1e-5)


def test_progress_rises_to_its_end():
    seen = []
    train([plan(epochs=3), plan(epochs=2, batch_size=11)], watch=seen.append)
    done = [progress.done for progress in seen]
    assert done == sorted(done)
    assert (done[-1], seen[-1].epochs) == (3, 3)
    assert sum(progress.record is not None for progress in seen) == 5
