"""The laws of beliefs about groups; each takes a case and asserts, for any kind of belief."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
import torch
from torch.testing import assert_close

from tacit.beliefs.candidates import Candidates
from tacit.errors import InvalidInputError
from tests.beliefs.referee import enumerate_posterior

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tacit.beliefs._base import Belief, Posterior


class Case(NamedTuple):
    """A belief about a few instances, together with all that is needed to enumerate it.

    Attributes:
        build: Makes the belief about groups of instances, given their number.
        log_prior: Log-prior of a group's labeling, up to a constant: (group, labels) -> number.
        groups: Instances of each group; they interleave, and some instances are in none.
        n_instances: Number of instances.
        n_classes: Number of classes.
        seed: Seed of everything else that the laws draw.
    """

    build: Callable[[list[list[int]], int], Belief]
    log_prior: Callable[[int, tuple[int, ...]], float]
    groups: list[list[int]]
    n_instances: int
    n_classes: int
    seed: int

    def belief(self) -> Belief:
        return self.build(self.groups, self.n_instances)

    def generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.seed)

    def evidence(self, scale: float = 2.0) -> Tensor:
        shape = (self.n_instances, self.n_classes)
        return scale * torch.randn(shape, generator=self.generator(), dtype=torch.float64)

    def ruled_out(self) -> Tensor:
        """Random labels that are impossible, though never all of an instance."""
        shape = (self.n_instances, self.n_classes)
        chance = torch.rand(shape, generator=self.generator())
        return (chance < 0.4) & (chance > chance.amin(1, keepdim=True))


def equals_enumeration(case: Case) -> None:
    _assert_equals_enumeration(case, case.evidence(), case.belief().posterior(case.evidence()))


def equals_enumeration_at_extremes(case: Case) -> None:
    evidence = (1e4 * case.evidence().sign()).requires_grad_()
    posterior = case.belief().posterior(evidence)
    _assert_equals_enumeration(case, evidence, posterior)
    assert_finite_gradient(posterior, evidence)


def equals_enumeration_where_evidence_rules_labels_out(case: Case) -> None:
    evidence = case.evidence().masked_fill(case.ruled_out(), -torch.inf).requires_grad_()
    posterior = case.belief().posterior(evidence)
    _assert_equals_enumeration(case, evidence, posterior)
    assert_finite_gradient(posterior, evidence)


def multiplies_candidate_sets(case: Case) -> None:
    belief, evidence, ruled_out = case.belief(), case.evidence(), case.ruled_out()
    product = belief * Candidates.from_mask(~ruled_out)
    expected = belief.posterior(evidence.masked_fill(ruled_out, -torch.inf))
    impossible = expected.log_normaliser.isneginf()
    if impossible.any():
        with pytest.raises(
            InvalidInputError, match=f"`other` .* group {impossible.int().argmax()} "
        ):
            product.posterior(evidence)
    else:
        both = product.posterior(evidence)
        assert_close(both.log_marginals, expected.log_marginals)
        assert_close(product.posterior(0 * evidence).log_normaliser, 0 * both.log_normaliser)


def marginals_are_the_gradient_of_the_normaliser(case: Case) -> None:
    evidence = case.evidence().requires_grad_()
    log_marginals, log_normaliser = case.belief().posterior(evidence)
    (gradient,) = torch.autograd.grad(log_normaliser.sum(), evidence)
    assert_close(gradient, log_marginals.exp())


def gradient_passes_gradcheck(case: Case) -> None:
    belief, evidence = case.belief(), case.evidence().requires_grad_()

    def posterior(log_evidence: Tensor) -> tuple[Tensor, Tensor]:
        log_marginals, log_normaliser = belief.posterior(log_evidence)
        return log_marginals.exp(), log_normaliser

    assert torch.autograd.gradcheck(posterior, (evidence,))


def rows_sum_to_one(case: Case) -> None:
    total = case.belief().posterior(case.evidence()).log_marginals.logsumexp(-1)
    assert_close(total, torch.zeros_like(total))


def zero_belief_gives_zero_posterior(case: Case) -> None:
    never = case.belief().marginals() == 0
    log_marginals = case.belief().posterior(case.evidence()).log_marginals
    assert torch.equal(log_marginals == -torch.inf, never)


def no_evidence_leaves_the_normaliser_at_zero(case: Case) -> None:
    log_normaliser = case.belief().posterior(0 * case.evidence()).log_normaliser
    assert_close(log_normaliser, torch.zeros(case.belief().n_groups, dtype=torch.float64))


def a_constant_per_instance_moves_the_normaliser_alone(case: Case) -> None:
    evidence, belief = case.evidence(), case.belief()
    constant = evidence[:, 0]
    before, after = belief.posterior(evidence), belief.posterior(evidence + constant[:, None])
    gain = torch.zeros_like(before.log_normaliser).index_add(0, belief.group_of, constant)
    assert_close(after.log_marginals, before.log_marginals)
    assert_close(after.log_normaliser, before.log_normaliser + gain)


def permuting_instances_permutes_the_posterior(case: Case) -> None:
    evidence = case.evidence()
    place = torch.randperm(case.n_instances, generator=case.generator())
    groups = [place[group].tolist() for group in case.groups]
    moved = case.build(groups, case.n_instances).posterior(evidence[place.argsort()])
    expected = case.belief().posterior(evidence)
    assert_close(moved.log_marginals[place], expected.log_marginals)
    n_groups = len(groups)
    assert_close(moved.log_normaliser[:n_groups], expected.log_normaliser[:n_groups])


def whole_groups_are_inferred_alone(case: Case) -> None:
    belief, evidence = case.belief(), case.evidence()
    order = torch.randperm(case.n_instances, generator=case.generator())
    rows = order[belief.group_of[order] % 2 == 0]
    taken, everything = belief[rows].posterior(evidence[rows]), belief.posterior(evidence)
    assert_close(taken.log_marginals, everything.log_marginals[rows])
    of_rows = everything.log_normaliser[belief.group_of[rows]]
    assert_close(taken.log_normaliser[belief[rows].group_of], of_rows)


def torn_groups_are_refused(case: Case) -> None:
    for group in case.groups:
        rows = [row for row in range(case.n_instances) if row != group[0]]
        if len(group) > 1:
            with pytest.raises(InvalidInputError, match=f"whole groups.*instance {group[0]} "):
                case.belief()[rows]


def float32_agrees_with_float64(case: Case) -> None:
    exact, belief = case.belief().posterior(case.evidence()), case.belief()
    rough = belief.posterior(case.evidence().float())
    assert rough.log_marginals.dtype == rough.log_normaliser.dtype == torch.float32
    assert_close(rough.log_marginals, exact.log_marginals.float(), rtol=1e-5, atol=1e-5)
    assert_close(rough.log_normaliser, exact.log_normaliser.float(), rtol=1e-5, atol=1e-5)


def float32_stays_near_float64_at_extremes(case: Case) -> None:
    # Float32 resolves 1e-3 at ten thousand, and a group sums a few such numbers.
    evidence = (1e4 * case.evidence().sign() + case.evidence()).float()
    exact, rough = case.belief().posterior(evidence.double()), case.belief().posterior(evidence)
    assert_close(rough.log_marginals.exp(), exact.log_marginals.exp().float(), rtol=0, atol=0.02)
    assert_close(rough.log_normaliser, exact.log_normaliser.float(), rtol=0, atol=0.02)


def gpu_agrees_with_cpu(case: Case) -> None:
    evidence = case.evidence()
    there = case.belief().to("cuda").posterior(evidence.cuda())
    assert_close(tuple(part.cpu() for part in there), tuple(case.belief().posterior(evidence)))


LAWS = [
    equals_enumeration,
    equals_enumeration_at_extremes,
    equals_enumeration_where_evidence_rules_labels_out,
    multiplies_candidate_sets,
    marginals_are_the_gradient_of_the_normaliser,
    rows_sum_to_one,
    zero_belief_gives_zero_posterior,
    no_evidence_leaves_the_normaliser_at_zero,
    a_constant_per_instance_moves_the_normaliser_alone,
    permuting_instances_permutes_the_posterior,
    whole_groups_are_inferred_alone,
    torn_groups_are_refused,
    float32_agrees_with_float64,
    float32_stays_near_float64_at_extremes,
]
"""All that every run checks on many cases: neither gradcheck, which is slow, nor the GPU."""


def assert_finite_gradient(posterior: Posterior, evidence: Tensor) -> None:
    """Probabilities and finite log-probabilities have a finite gradient."""
    log_marginals, log_normaliser = posterior
    weight = torch.linspace(-1, 2, log_marginals.numel(), dtype=log_marginals.dtype)
    weighted = weight * torch.stack([log_marginals.flatten(), log_marginals.exp().flatten()])
    total = sum(values[values.isfinite()].sum() for values in (weighted, log_normaliser))
    (gradient,) = torch.autograd.grad(total, evidence)
    assert torch.isfinite(gradient).all()


def _assert_equals_enumeration(case: Case, evidence: Tensor, posterior: Posterior) -> None:
    grouped = {instance for group in case.groups for instance in group}
    free = [[instance] for instance in range(case.n_instances) if instance not in grouped]
    for number, group in enumerate([*case.groups, *free]):

        def log_prior(labels: tuple[int, ...], number: int = number) -> float:
            return case.log_prior(number, labels) if number < len(case.groups) else 0.0

        log_marginals, log_normaliser = enumerate_posterior(log_prior, evidence[group])
        expected = evidence.new_tensor(log_normaliser)
        assert_close(posterior.log_normaliser[number], expected)
        if log_normaliser > -torch.inf:
            assert_close(posterior.log_marginals[group], log_marginals)
