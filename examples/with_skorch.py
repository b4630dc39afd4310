"""tacit in skorch.

Of each of scikit-learn's 1,797 handwritten digits we know five labels that it may have: its own and
four others, drawn at random. skorch trains the network; the objective is its criterion, and y holds
a row of probabilities for each digit.

    python examples/with_skorch.py
"""

import tempfile
from functools import partial
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from skorch import NeuralNetClassifier
from torch import nn

import tacit


def digits() -> tuple[torch.Tensor, tacit.beliefs.Candidates, torch.Tensor]:
    """The pixels, the belief, and the truth, which only the final count may look at."""
    data = load_digits()
    X = torch.as_tensor(data.data, dtype=torch.float32) / 16
    truth = torch.as_tensor(data.target)
    lot = torch.rand(len(truth), 10, generator=torch.Generator().manual_seed(0))
    lot.scatter_(1, truth.unsqueeze(1), 2.0)  # the true label is always among the five
    return X, tacit.beliefs.Candidates(lot.topk(5).indices, n_classes=10), truth


def network(width: int = 256) -> nn.Module:
    """A perceptron that returns logits: the objective takes their softmax itself."""
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def objective() -> tacit.EM:
    """The criterion. A function, so that each fit begins with a tracked mass of its own.

    As `criterion__mass=tacit.TrackedMass()` one mass would be handed on from fit to fit.
    """
    return tacit.EM(tacit.TrackedMass())


def main() -> float:
    """Resolve the digits, and say how many came out right."""
    torch.manual_seed(0)
    X, belief, truth = digits()
    # --8<-- [start:loop]
    net = NeuralNetClassifier(
        network,
        criterion=objective,
        optimizer=torch.optim.Adam,
        lr=0.01,
        max_epochs=25,
        batch_size=128,
        iterator_train__shuffle=True,  # skorch does not by itself, and batches should be alike
        train_split=None,  # it would hold out a fifth of what there is to resolve
        classes=range(10),  # or skorch takes the distinct numbers in y for the classes
        predict_nonlinearity=partial(torch.softmax, dim=1),  # skorch knows torch's own losses only
        verbose=0,
    )

    # skorch cuts y into batches as it does X, row by row. So the belief travels as its rows, which
    # is all there is to it as long as every digit stands alone. Where a belief ties digits
    # together, let y be the row numbers, the criterion a module that looks up belief[rows], and
    # `iterator_train__batch_sampler` (beside `batch_size=1`) the sampler of with_lightning.py.
    net.fit(X.numpy(), belief.marginals().numpy())
    # --8<-- [end:loop]
    print(
        f"loss {net.history[0, 'train_loss']:.3f} at first, {net.history[-1, 'train_loss']:.3f} now"
    )

    # The tracked mass has a state, so the criterion is saved with the network.
    with tempfile.TemporaryDirectory() as folder:
        kept = {"f_params": Path(folder, "net.pt"), "f_criterion": Path(folder, "mass.pt")}
        net.save_params(**kept)
        net.initialize().load_params(**kept)
    print("kept:", *net.criterion_.state_dict())

    # What the network says (q; of new data, `net.predict_proba` is all you need), the share of each
    # class in the whole collection (S), and the belief as updated by what the network saw (r).
    log_q = net.forward(X.numpy()).log_softmax(1)
    log_S = tacit.evidence.class_mass(log_q).log()
    evidence = tacit.evidence.evidence(log_q, log_mass=log_S)
    r = belief.posterior(evidence).log_marginals.exp()

    accuracy = (r.argmax(1) == truth).float().mean().item()
    print(f"right by the posterior r: {accuracy:.1%}; by a guess among the five: 20.0%")
    return accuracy


if __name__ == "__main__":
    main()
