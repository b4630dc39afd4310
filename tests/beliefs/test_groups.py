import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

import tacit.beliefs
from tacit.beliefs import Bags, Chains, Orderings, Pairs
from tacit.beliefs._groups import flat_members
from tacit.errors import InvalidInputError
from tests.beliefs.laws import assert_finite_gradient


@st.composite
def lists(draw):
    """Disjoint lists of instances of many sizes, and the number of instances."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    n_instances = sum(lengths) + draw(st.integers(0, 3))
    instances = iter(draw(st.permutations(range(n_instances))))
    return [[next(instances) for _ in range(length)] for length in lengths], n_instances


def ordered(groups, n_instances):
    return Orderings(groups, n_classes=3, n_instances=n_instances, strict=False)


def normal(n_instances, n_classes=3, dtype=torch.float64):
    generator = torch.Generator().manual_seed(n_instances)
    return torch.randn(n_instances, n_classes, generator=generator, dtype=dtype)


@given(lists())
def test_groups_come_first_and_loose_instances_after(case):
    groups, n_instances = case
    belief = ordered(groups, n_instances)
    members = [instance for group in groups for instance in group]
    loose = [instance for instance in range(n_instances) if instance not in members]
    numbered = {
        instance: number
        for number, group in enumerate([*groups, *([one] for one in loose)])
        for instance in group
    }
    assert belief.group_of.tolist() == [numbered[instance] for instance in range(n_instances)]
    assert belief.n_groups == len(groups) + len(loose)
    assert len(belief) == n_instances


@given(lists())
def test_buckets_hold_each_group_once_and_at_most_double_the_work(case):
    groups, n_instances = case
    held = {}
    for bucket in ordered(groups, n_instances)._buckets():
        assert bucket.present.shape[1] < 2 * bucket.present.sum(1).min()
        for number, members, present in zip(*bucket, strict=True):
            assert int(number) not in held
            held[int(number)] = members[present].tolist()
    assert held == dict(enumerate(groups))


@given(lists())
def test_groups_do_not_feel_each_other(case):
    groups, n_instances = case
    evidence = normal(n_instances)
    together = ordered(groups, n_instances).posterior(evidence)
    for number, group in enumerate(groups):
        alone = ordered([group], n_instances).posterior(evidence)
        assert_close(together.log_marginals[group], alone.log_marginals[group])
        assert_close(together.log_normaliser[number], alone.log_normaliser[0])


def test_hopeless_loose_instance_is_minus_infinity_and_harms_no_other():
    evidence = normal(4)
    evidence[3] = -torch.inf
    evidence.requires_grad_()
    posterior = ordered([[0, 1]], 4).posterior(evidence)
    assert posterior.log_normaliser.isneginf().tolist() == [False, False, True]
    assert posterior.log_marginals.isneginf().all(1).tolist() == [False, False, False, True]
    assert_finite_gradient(posterior, evidence)
    (gradient,) = torch.autograd.grad(ordered([[0, 1]], 4).posterior(evidence)[1][0], evidence)
    assert gradient.isfinite().all()


@given(lists())
def test_all_forms_of_lists_agree(case):
    groups, _ = case
    expected = [instance for group in groups for instance in group], [len(each) for each in groups]
    for form in (
        groups,
        tuple(tuple(group) for group in groups),
        [torch.tensor(group) for group in groups],
        [np.array(group, dtype=np.int32) for group in groups],
    ):
        members, lengths = flat_members(form, "groups")
        assert (members.tolist(), lengths.tolist()) == expected
        assert members.dtype == lengths.dtype == torch.int64


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64])
def test_tables_of_members_may_be_arrays(dtype):
    table = np.arange(6, dtype=dtype).reshape(3, 2)
    for form in (table, torch.from_numpy(table)):
        members, lengths = flat_members(form, "groups")
        assert members.tolist() == [0, 1, 2, 3, 4, 5]
        assert lengths.tolist() == [2, 2, 2]
        assert members.dtype == torch.int64


def test_arrays_are_not_walked_through():
    class Table(np.ndarray):
        def __iter__(self):
            raise AssertionError

    members, _ = flat_members(np.zeros((2, 2), dtype=int).view(Table), "groups")
    assert members.tolist() == [0, 0, 0, 0]


def test_no_lists_flatten_to_nothing():
    members, lengths = flat_members([], "groups")
    assert members.tolist() == lengths.tolist() == []


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (["ab", "c"], "`groups` must be lists of whole numbers, but group 0 is 'ab'"),
        ([[0], ["a"]], r"`groups` .* group 1 is \['a'\]"),
        ([[0], [0.5]], r"`groups` .* group 1 is \[0.5\]"),
        ([[0], [True]], r"`groups` .* group 1 is \[True\]"),
        ([[0], [[1]]], r"`groups` .* group 1 is \[\[1\]\]"),
        ([[0], None], "`groups` .* group 1 is None"),
        ([0, 1], "`groups` .* group 0 is 0"),
        ([torch.tensor([0.5])], r"`groups` .* group 0 is \[0.5\]"),
        (torch.zeros(2, 2), "`groups` .* torch.float32"),
        (torch.zeros(2, 2).bool(), "`groups` .* torch.bool"),
        (torch.zeros(2).long(), r"`groups` .* shape \(2,\)"),
        (np.zeros((2, 2)), "`groups` .* torch.float64"),
        (np.array([["a"]]), "`groups` must be numbers in a form that torch can read"),
    ],
)
def test_what_is_no_list_of_instances_is_refused(groups, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        flat_members(groups, "groups")


def test_repeated_rows_are_refused():
    with pytest.raises(InvalidInputError, match=r"`rows` must name each instance once, .* row 2 "):
        ordered([[0, 1]], 3)[[2, 0, 1, 2]]


def test_no_rows_make_an_empty_belief():
    nothing = ordered([[0, 1]], 3)[[]]
    assert (len(nothing), nothing.n_groups) == (0, 0)
    assert nothing.posterior(torch.zeros(0, 3)).log_normaliser.shape == (0,)


KINDS = {
    "Bags": lambda: Bags.from_counts([[0, 2], [3]], [[1, 0, 1], [0, 1, 0]], n_instances=5),
    "Chains": lambda: Chains([[0, 2], [3]], [[1, 2, 3]] * 3, n_instances=5),
    "Orderings": lambda: ordered([[0, 2], [3]], 5),
    "Pairs": lambda: Pairs.greater([[0, 2], [3, 1]], n_classes=3, n_instances=5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_moves_with_all_it_holds(kind):
    there = KINDS[kind]().to("meta")
    assert there.device.type == "meta"
    held = [value for value in vars(there).values() if isinstance(value, torch.Tensor)]
    assert {value.device.type for value in held} == {"meta"}
    assert KINDS[kind]().to("cpu").marginals().equal(KINDS[kind]().marginals())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_nothing_and_says_what_it_is(kind):
    belief = KINDS[kind]()
    assert belief.updated(torch.zeros(5, 3)) is belief
    assert repr(belief).startswith(f"{kind}(n_instances=5, n_classes=3, n_groups={belief.n_groups}")


def test_all_kinds_are_exported():
    kinds = set(KINDS) | {"Categorical", "Candidates", "Product"}
    assert kinds <= set(tacit.beliefs.__all__)
    assert tacit.beliefs.__all__ == sorted(tacit.beliefs.__all__)
