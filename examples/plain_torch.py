"""tacit in a plain torch loop with a DataLoader.

Of each of scikit-learn's 1,797 handwritten digits we know five labels that it may have: its own and
four others, drawn at random. A small network resolves them. The loop is any torch loop; where the
labels would be stands a belief.

    python examples/plain_torch.py
"""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import tacit


def digits() -> tuple[torch.Tensor, tacit.beliefs.Candidates, torch.Tensor]:
    """The pixels, the belief, and the truth, which only the final count may look at."""
    data = load_digits()
    X = torch.as_tensor(data.data, dtype=torch.float32) / 16
    truth = torch.as_tensor(data.target)
    lot = torch.rand(len(truth), 10, generator=torch.Generator().manual_seed(0))
    lot.scatter_(1, truth.unsqueeze(1), 2.0)  # the true label is always among the five
    return X, tacit.beliefs.Candidates(lot.topk(5).indices, n_classes=10), truth


def main() -> float:
    """Resolve the digits, and say how many came out right."""
    torch.manual_seed(0)
    X, belief, truth = digits()
    network = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)

    # --8<-- [start:loop]
    # The objective compares each digit with the others: what is common is worth little. A tracked
    # mass remembers some of the digits before for that, so batches may be small, and the last one
    # of an epoch too. Batches are shuffled, or each would be a collection of a kind of its own.
    objective = tacit.RQ(tacit.TrackedMass())

    # What travels with the features is the number of each row. The belief stays whole beside the
    # loop (on the network's device), and belief[rows] is the batch's part of it. That works for
    # beliefs of every kind; where one ties rows together, as pairs do, batches must hold whole
    # groups, and with_lightning.py has a sampler for it.
    rows_of_X = torch.arange(len(X))
    loader = DataLoader(TensorDataset(X, rows_of_X), batch_size=128, shuffle=True)
    for epoch in range(25):
        total = 0.0
        for features, rows in loader:
            loss = objective(network(features), belief[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2}   loss {total / len(X):.3f}")
    # --8<-- [end:loop]

    # The tracked mass has a state, so the objective belongs into the checkpoint. In evaluation mode
    # the mass stands still, for instance while you measure the loss on held-out data.
    checkpoint = {"network": network.state_dict(), "objective": objective.state_dict()}
    print("kept:", *checkpoint["objective"])
    network.eval()
    objective.eval()

    # What the network says (q), the share of each class in the whole collection (S), and the
    # belief as updated by what the network has seen (r).
    with torch.no_grad():
        log_q = network(X).log_softmax(1)
    log_S = tacit.evidence.class_mass(log_q).log()
    evidence = tacit.evidence.evidence(log_q, log_mass=log_S)
    r = belief.posterior(evidence).log_marginals.exp()

    accuracy = (r.argmax(1) == truth).float().mean().item()
    print(f"right by the posterior r: {accuracy:.1%}; by a guess among the five: 20.0%")
    return accuracy


if __name__ == "__main__":
    main()
