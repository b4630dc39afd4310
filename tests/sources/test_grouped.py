"""Which sources meet is found as a slow walk from one to the next finds it."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.sources import Votes, grouped


def walked(matrix, start):
    """Sources that are reached from one of them by instances that two vote on, and those."""
    sources, items = {start}, set()
    for _ in range(matrix.shape[1]):
        items |= {
            item for item, row in enumerate(matrix.tolist()) if any(row[s] >= 0 for s in sources)
        }
        sources |= {
            s for item in items for s, said in enumerate(matrix[item].tolist()) if said >= 0
        }
    return tuple(sorted(sources)), len(items)


@given(st.integers(0, 500))
@settings(max_examples=60)
def test_groups_equal_a_slow_walk(seed):
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randint(0, 2, (7, 5), generator=generator)
    matrix[torch.rand(7, 5, generator=generator) < 0.75] = -1
    heard = (matrix >= 0).any(0).nonzero().flatten().tolist()
    found = grouped(Votes.from_matrix(matrix, n_classes=2))
    assert {*found} == {walked(matrix, source) for source in heard}
    assert [each.n_items for each in found] == sorted(each.n_items for each in found)[::-1]


def test_shares_of_one_vote_are_one_connection():
    votes = Votes.from_lists([0] * 300, [0] * 300, [0, 1] * 150, n_classes=2)
    assert grouped(votes) == [((0,), 1)]
    assert grouped(Votes.from_matrix([[-1, -1]], n_classes=2)) == []
