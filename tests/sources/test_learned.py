"""Beliefs learned where labels are known carry over, and do not know what they have seen."""

import pytest
import torch

from tacit.errors import InvalidInputError
from tacit.fitting import Settings
from tacit.sources import learned_belief, learned_out_of_fold

QUICK = Settings(epochs=30, batch_size=64)


def coarse_and_fine(seed, n):
    """Six classes, of which the auxiliary input tells the group of two."""
    label = torch.randint(6, (n,), generator=torch.Generator().manual_seed(seed))
    return torch.eye(3)[label // 2], label


def test_learned_belief_is_what_the_auxiliary_input_tells(seed):
    known, label = coarse_and_fine(seed, 1200)
    belief = learned_belief(known, label, torch.eye(3), n_classes=6, settings=QUICK).marginals()
    expected = torch.block_diag(*[torch.full((1, 2), 0.5)] * 3)
    torch.testing.assert_close(belief, expected, rtol=0, atol=0.08)
    assert float(belief.min()) > 0


def test_labels_do_not_leak_into_their_own_belief(seed):
    generator = torch.Generator().manual_seed(seed)
    noise, label = torch.randn(200, 30, generator=generator), torch.arange(200) % 2
    by_heart = Settings(epochs=60, batch_size=64, held_out=0.0)
    inside = learned_belief(noise, label, noise, n_classes=2, settings=by_heart).marginals()
    outside = learned_out_of_fold(noise, label, n_classes=2, settings=by_heart).marginals()
    assert float((inside.argmax(1) == label).double().mean()) > 0.75
    assert float((outside.argmax(1) == label).double().mean()) < 0.65


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"labels": torch.zeros(3).long()}, "`labels` must be 4 whole numbers from 0 to 1"),
        ({"labels": torch.full((4,), 2)}, "`labels` must be 4 whole numbers from 0 to 1"),
        ({"new": torch.zeros(2, 5)}, r"`new` must hold inputs of shape \(3,\)"),
        ({"auxiliary": torch.full((4, 3), torch.nan)}, "`auxiliary` must be finite numbers"),
        ({"new": torch.zeros(3)}, "`new` must be finite numbers, .* add an axis"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(changed, sentence):
    sound = {"auxiliary": torch.eye(4)[:, :3], "labels": torch.arange(4) % 2, "new": torch.eye(3)}
    with pytest.raises(InvalidInputError, match=sentence):
        learned_belief(**(sound | changed), n_classes=2)


def test_more_folds_than_instances_are_refused():
    with pytest.raises(InvalidInputError, match="`folds` must be from 2 to 4, but it is 5"):
        learned_out_of_fold(torch.eye(4), torch.arange(4) % 2, n_classes=2, folds=5)
