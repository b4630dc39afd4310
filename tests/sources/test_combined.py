"""`tacit.sources.combined`: which way votes become a belief."""

from __future__ import annotations

import pytest
import torch

from tacit.sources import Votes, combined, dawid_skene, majority, way_for


def _votes(*rows: list[int], all_asked: bool = False) -> Votes:
    return Votes.from_matrix(torch.tensor(rows), n_classes=2, all_asked=all_asked)


@pytest.mark.parametrize(
    ("rows", "way"),
    [
        ([[0, 0, 1], [1, 1, -1]], "dawid_skene"),
        ([[0, 1], [1, 1]], "majority"),  # of two sources either may be right
        ([[0, 0, 1], [1, -1, -1]], "dawid_skene"),  # half of them meet
        ([[0, 0, 1], [1, -1, -1], [-1, 0, -1]], "majority"),
        ([[0, 0, -1], [1, 1, -1]], "majority"),  # the third never votes
        ([[-1, -1, -1]], "majority"),  # nobody votes
    ],
)
def test_reliability_is_learned_where_enough_sources_meet(rows, way):
    assert way_for(_votes(*rows)) == way


def test_sources_that_are_silent_where_they_were_asked_count_the_same():
    loud, silent = ([0, 0, 1], [1, 1, 0]), ([0, 0, 1], [1, 1, -1])
    assert way_for(_votes(*loud, all_asked=True)) == "dawid_skene"
    assert way_for(_votes(*silent, all_asked=True)) == "majority"
    assert way_for(_votes(*silent, all_asked=False)) == "dawid_skene"


def test_the_entries_of_a_soft_vote_are_one_vote():
    shares = torch.full((4, 3, 2), 0.5)
    shares[:, 1:] = 0  # abstains
    assert way_for(Votes.from_soft(shares, all_asked=False)) == "majority"
    assert way_for(Votes.from_soft(torch.full((4, 3, 2), 0.5))) == "dawid_skene"


def test_combined_is_the_belief_of_the_way():
    meeting, apart = _votes([0, 0, 1], [1, 1, -1]), _votes([0, -1], [-1, 1])
    assert torch.equal(combined(meeting).marginals(), dawid_skene(meeting).marginals())
    assert torch.equal(combined(apart).marginals(), majority(apart).marginals())
