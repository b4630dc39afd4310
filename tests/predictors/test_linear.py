from __future__ import annotations

import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from tacit.errors import InvalidInputError
from tacit.predictors import Linear, Perceptron

# torch says so of its compressed sparse tensors when the first one is made.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CS. tensor support is in beta")

BUILDERS = {
    "Linear": lambda generator: Linear(6, 3, generator=generator),
    "Perceptron": lambda generator: Perceptron(6, 3, widths=(4,), generator=generator),
}
LAYOUTS = {
    "coo": torch.Tensor.to_sparse,
    "csr": torch.Tensor.to_sparse_csr,
    "csc": torch.Tensor.to_sparse_csc,
}
either = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
every_layout = pytest.mark.parametrize("sparse", LAYOUTS.values(), ids=LAYOUTS)


@pytest.fixture
def table(generator) -> torch.Tensor:
    """A table with an empty row and an empty column."""
    table = torch.randn(5, 6, generator=generator)
    table[torch.rand(5, 6, generator=generator) < 0.5] = 0
    table[1], table[:, 2] = 0, 0
    return table


def gradients(predictor: torch.nn.Module, features: torch.Tensor) -> dict[str, torch.Tensor]:
    predictor.zero_grad()
    predictor(features).pow(2).sum().backward()
    return {name: weights.grad.clone() for name, weights in predictor.named_parameters()}


def test_logits_are_the_weighted_sums():
    predictor = Linear(2, 2)
    predictor.load_state_dict(
        {"weight": torch.tensor([[1.0, 2.0], [0.0, -1.0]]), "bias": torch.tensor([0.5, 0.0])}
    )
    # 1 * 3 + 2 * 4 + 0.5, and 0 * 3 - 1 * 4
    assert predictor(torch.tensor([[3.0, 4.0]])).tolist() == [[11.5, -4.0]]


@every_layout
@either
def test_a_sparse_table_equals_a_dense_one(build, sparse, table, generator):
    predictor = build(generator)
    torch.testing.assert_close(predictor(sparse(table)), predictor(table))
    torch.testing.assert_close(gradients(predictor, sparse(table)), gradients(predictor, table))


@either
def test_entries_that_are_there_twice_add_up(build, generator):
    predictor = build(generator)
    twice = torch.sparse_coo_tensor(
        [[0, 0, 1], [4, 4, 0]], [1.0, 2.0, 3.0], (2, 6), check_invariants=True
    )
    torch.testing.assert_close(predictor(twice), predictor(twice.to_dense()))


@every_layout
@either
def test_the_gradient_of_a_sparse_table_passes_gradcheck(build, sparse, table, generator):
    predictor = build(generator).double()
    names = [name for name, _ in predictor.named_parameters()]
    features = sparse(table.double())

    def logits(*weights):
        return functional_call(predictor, dict(zip(names, weights, strict=True)), (features,))

    assert torch.autograd.gradcheck(logits, tuple(predictor.parameters()))
    assert torch.autograd.gradgradcheck(logits, tuple(predictor.parameters()))


@every_layout
@either
def test_stacked_predictors_share_a_sparse_table(build, sparse, table, generator):
    built = [build(generator) for _ in range(4)]
    weights, _ = stack_module_state(built)
    features = sparse(table)
    together = vmap(lambda w: functional_call(built[0], w, (features,)))(weights)
    torch.testing.assert_close(together, torch.stack([one(table) for one in built]))
    together.pow(2).sum().backward()
    alone = [gradients(one, table) for one in built]
    for name, stacked in weights.items():
        torch.testing.assert_close(stacked.grad, torch.stack([one[name] for one in alone]))


@every_layout
@either
def test_a_sparse_table_goes_through_autocast(build, sparse, table, generator):
    predictor = build(generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = predictor(sparse(table))
        found = gradients(predictor, sparse(table))
    torch.testing.assert_close(logits.float(), predictor(table), rtol=0.02, atol=0.02)
    torch.testing.assert_close(found, gradients(predictor, table), rtol=0.05, atol=0.05)


@every_layout
def test_a_sparse_table_in_another_precision_is_refused(sparse, table):
    with (
        torch.autocast("cpu"),
        pytest.raises(InvalidInputError, match=r"`features` must have the type .* torch\.float64"),
    ):
        Linear(6, 3)(sparse(table.double()))


def test_a_table_of_sparse_blocks_is_refused(table):
    blocks = table[:4].to_sparse_bsr((2, 2))
    with pytest.raises(InvalidInputError, match=r"`features` must be dense, or sparse as COO"):
        Linear(6, 3)(blocks)


def test_a_linear_predictor_says_its_sizes():
    assert str(Linear(6, 3)) == "Linear(n_features=6, n_classes=3)"
