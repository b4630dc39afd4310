from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInputError
from tacit.fitting._rows import (
    MOST_HELD_OUT,
    batches,
    check_groups,
    groups_of,
    mixed,
    rows_that_count,
    share_of,
    split,
)
from tests.fitting.cases import candidates, pairs

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=30)
SEEDS = st.integers(0, 2**63 - 1)


def groups(sizes, seed):
    """Groups of these sizes whose members lie anywhere."""
    order = torch.randperm(sum(sizes), generator=torch.Generator().manual_seed(seed))
    return torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))[order]


def are_whole(parts, group_of):
    """Whether no group has members in two parts."""
    found = [set(group_of[part].tolist()) for part in parts]
    return sum(map(len, found)) == len(set().union(*found))


@given(st.integers(1, 300), st.integers(1, 70), SEEDS, st.integers(0, 9))
def test_batches_cover_all_rows_once(n, batch_size, seed, epoch):
    rows = torch.arange(n) * 3
    found = batches(rows, None, batch_size, seed, epoch)
    assert torch.cat(found).sort().values.equal(rows)
    assert all(len(batch) == batch_size for batch in found[:-1])
    assert len(found[-1]) <= 1.5 * batch_size
    assert len(found) == 1 or len(found[-1]) >= batch_size / 2


@given(SIZES, st.integers(6, 20), SEEDS, st.integers(0, 9))
def test_batches_keep_groups_whole(sizes, batch_size, seed, epoch):
    group_of = groups(sizes, 1)
    rows = torch.arange(len(group_of))
    found = batches(rows, group_of, batch_size, seed, epoch)
    assert torch.cat(found).sort().values.equal(rows)
    assert are_whole(found, group_of)
    assert all(0 < len(batch) <= batch_size for batch in found)


@given(SIZES, st.integers(6, 20))
def test_batches_are_filled_with_whole_groups(sizes, batch_size):
    group_of = groups(sizes, 1)
    found = batches(torch.arange(len(group_of)), group_of, batch_size, 0, 0)
    for batch, following in pairwise(found):
        first = int((group_of == group_of[following[0]]).sum())
        assert len(batch) + first > batch_size


@pytest.mark.parametrize("group_of", [None, torch.arange(200) // 2])
def test_order_is_a_function_of_seed_and_epoch(group_of):
    def order(seed, epoch):
        return torch.cat(batches(torch.arange(200), group_of, 16, seed, epoch))

    assert order(3, 1).equal(order(3, 1))
    assert not order(3, 1).equal(order(3, 2))
    assert not order(3, 1).equal(order(4, 1))


@given(st.integers(1, 400), st.floats(0, 0.5), SEEDS)
def test_split_holds_out_its_share(n, share, seed):
    fit, held_out = split(torch.arange(n) + 5, None, share, seed)
    assert torch.cat([fit, held_out]).sort().values.equal(torch.arange(n) + 5)
    assert len(held_out) == round(share * n)
    assert fit.equal(fit.sort().values)
    assert held_out.equal(held_out.sort().values)


@given(SIZES, st.floats(0, 0.5), SEEDS)
def test_split_keeps_groups_whole(sizes, share, seed):
    group_of = groups(sizes, 2)
    fit, held_out = split(torch.arange(len(group_of)), group_of, share, seed)
    assert torch.cat([fit, held_out]).sort().values.equal(torch.arange(len(group_of)))
    assert are_whole((fit, held_out), group_of)
    wanted = round(share * len(group_of))
    fitting = [size for size in sizes if size <= wanted]
    assert len(held_out) <= wanted
    assert bool(fitting) == bool(len(held_out))


def test_split_holds_out_no_more_than_it_needs():
    n = 5 * MOST_HELD_OUT
    assert len(split(torch.arange(n), None, 0.3, 0).held_out) == MOST_HELD_OUT


def test_a_group_too_large_to_hold_out_does_not_keep_others_from_it():
    group_of = torch.cat([torch.zeros(80, dtype=torch.long), torch.arange(1, 21)])
    for seed in range(5):
        assert len(split(torch.arange(100), group_of, 0.1, seed).held_out) == 10


@given(st.integers(0, 60), st.integers(1, 7))
def test_shares_partition_a_batch(n, n_parts):
    rows = torch.arange(n) * 2
    parts = [share_of(rows, None, part, n_parts) for part in range(n_parts)]
    assert torch.cat(parts).equal(rows)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@given(SIZES, st.integers(1, 7))
def test_shares_of_groups_are_whole(sizes, n_parts):
    group_of = groups(sizes, 3)
    (rows,) = batches(torch.arange(len(group_of)), group_of, 1000, 0, 0)
    parts = [share_of(rows, group_of, part, n_parts) for part in range(n_parts)]
    assert torch.cat(parts).equal(rows)
    assert are_whole(parts, group_of)


def test_rows_without_weight_do_not_count():
    weight = torch.tensor([0.0, 2.0, 0.0, 1.0, 0.0])
    assert rows_that_count(5, None, None).tolist() == [0, 1, 2, 3, 4]
    assert rows_that_count(5, None, weight).tolist() == [1, 3]
    # Row 0 tells of row 1, with which it is in a group.
    assert rows_that_count(5, torch.tensor([0, 0, 1, 2, 1]), weight).tolist() == [0, 1, 3]


def test_a_group_that_no_batch_holds_is_refused_by_its_size():
    group_of = torch.tensor([0, 1, 1, 1, 2])
    check_groups(group_of, 3)
    with pytest.raises(
        InvalidInputError, match=r"group 1 has 3 instances, more than 2; pass batch"
    ):
        check_groups(group_of, 2)


def test_only_ties_make_groups():
    assert groups_of(candidates()) is None
    assert groups_of(pairs()).equal(pairs().group_of)


@given(st.lists(st.integers(0, 2**63), min_size=1, max_size=4))
def test_mixed_seeds_are_seeds_and_tell_neighbours_apart(numbers):
    seed = mixed(*numbers)
    assert 0 <= seed < 2**63
    assert seed != mixed(*numbers[:-1], numbers[-1] + 1)
    assert seed != mixed(*numbers, 0)
