"""Normalising in log space, whatever the size of the weights."""

import pytest
import torch

from tacit.beliefs import Candidates
from tacit.beliefs._logspace import normalised


@pytest.mark.parametrize("offset", [1e4, -1e4, 2.0**23, -(2.0**23)])
def test_normalised_rows_sum_to_one_beside_any_common_part(offset, generator):
    weights = torch.randint(-9, 10, (40, 7), generator=generator).float()
    log_p, log_total = normalised(weights + offset)  # float32 holds these sums exactly
    torch.testing.assert_close(log_p, weights.log_softmax(-1))
    torch.testing.assert_close(log_total, offset + weights.logsumexp(-1))


def test_posterior_rows_sum_to_one_where_evidence_is_endless():
    evidence = torch.tensor([[1e20, 1e20, -1e20], [-1e20, -1e20, -1e20], [0.0, -1e20, 1e20]])
    r = Candidates([[0, 1], [1, 2], [0, 1]], n_classes=3).posterior(evidence).log_marginals.exp()
    assert r.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
