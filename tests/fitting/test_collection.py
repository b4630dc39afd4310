from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch

from tacit.errors import InvalidInputError
from tacit.fitting import Collection
from tacit.fitting._collection import features_at
from tacit.fitting._feed import fits
from tests.fitting.cases import N, candidates, collection, features

ROWS = torch.tensor([5, 0, 17, 5])


@pytest.mark.parametrize("kind", ["tensor", "array", "csr", "csc", "coo"])
def test_rows_of_every_kind_of_features_are_the_same(kind):
    dense = features() * (features() > 0)
    given = {"tensor": dense, "array": dense.numpy()}
    if kind not in given:
        given[kind] = scipy.sparse.csr_matrix(dense.numpy()).asformat(kind)
    found = features_at(Collection(given[kind], candidates()).features, ROWS)
    assert (found.to_dense() if found.is_sparse else found).equal(dense[ROWS])


def test_what_is_in_memory_is_held_and_a_file_is_not(tmp_path):
    np.save(tmp_path / "features.npy", features().numpy())
    cpu = torch.device("cpu")
    assert fits(features(), cpu)
    assert fits(features().numpy(), cpu)
    assert not fits(np.load(tmp_path / "features.npy", mmap_mode="r"), cpu)
    assert not fits(scipy.sparse.csr_matrix(features().numpy()), cpu)


def test_weights_and_strata_may_be_arrays():
    of = collection(weight=np.ones(N), strata=np.arange(N) % 2)
    assert of.weight.equal(torch.ones(N).double())
    assert of.strata.equal(torch.arange(N) % 2)
    assert len(of) == N


BAD = {
    "`belief` must be one of tacit.beliefs, but it is a Tensor": {"belief": torch.ones(N, 3)},
    f"`belief` must cover the {N} instances of the features, but it covers 30": {
        "belief": candidates(30)
    },
    "`features` must hold at least one instance": {"features": torch.empty(0, 4)},
    f"`weight` must have one entry for each of the {N}": {"weight": torch.ones(N, 1)},
    "`weight` must be finite and at least 0, but instance 2 has -1": {
        "weight": torch.ones(N).index_fill(0, torch.tensor([2]), -1.0)
    },
    "`weight` must be above 0 somewhere": {"weight": torch.zeros(N)},
    f"`strata` must have one entry for each of the {N}": {"strata": torch.ones(3)},
    "`strata` must be whole numbers from 0, but it is torch.float32": {"strata": torch.ones(N)},
    "`strata` must be whole numbers from 0": {"strata": torch.arange(N) - 1},
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_no_collection_is_refused(message):
    given = {"features": features(), "belief": candidates()} | BAD[message]
    with pytest.raises(InvalidInputError, match=message):
        Collection(given.pop("features"), given.pop("belief"), **given)
