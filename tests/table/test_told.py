"""Rows that no vote tells of are resolved, but not learned from."""

import numpy as np
import torch

from tacit.table import read_beliefs
from tests.table.cases import save


def read(path, **options):
    return read_beliefs(path, ids=None, n_rows=4, classes=["a", "b"], **options)


def test_rows_without_votes_have_no_weight(tmp_path):
    path = save(tmp_path / "v.csv", {"lf_x": [0, -1, 1, 0], "lf_y": [0, -1, -1, 1]})
    beliefs = read(path)
    assert beliefs.told.tolist() == [True, False, True, True]
    assert beliefs.weight().tolist() == [1, 0, 1, 1]
    # Of them the balance is known: shares (1, 0, 1/2) of the first class, and an instance of each.
    assert beliefs.belief.marginals()[1].tolist() == [2.5 / 5, 2.5 / 5]
    (note,) = [note for note in beliefs.notes if "not learned from" in note]
    assert note.startswith("1 rows of which nobody says anything")


def test_silence_of_functions_tells_where_it_is_learned(tmp_path):
    path = save(tmp_path / "v.csv", {"lf_x": [0, -1, 1, 0], "lf_y": [0, -1, -1, 1]})
    assert read(path, votes="dawid_skene").weight() is None


def test_all_rows_count_where_nobody_says_anything_at_all(tmp_path):
    np.save(tmp_path / "v.npy", np.full((4, 3), -1))
    beliefs = read(tmp_path / "v.npy")
    assert beliefs.weight() is None
    assert torch.equal(beliefs.belief.marginals(), torch.full((4, 2), 0.5))
