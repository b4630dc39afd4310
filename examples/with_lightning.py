"""tacit in Lightning, with beliefs that tie instances together.

scikit-learn's handwritten digits, two by two. Of each digit we know six labels that it may have; of
each two, that the second is not the greater one. What is known of a pair is known of both at once,
so a pair must not be torn apart by a batch, or dealt out to two processes.

    python examples/with_lightning.py
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import lightning
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, Sampler

import tacit
from tacit.beliefs import Belief, Candidates, Pairs


def digits() -> tuple[Tensor, Belief, Tensor]:
    """The pixels, the belief, and the truth, which only the final count may look at."""
    data = load_digits()
    X = torch.as_tensor(data.data, dtype=torch.float32)[:1796] / 16
    truth = torch.as_tensor(data.target)[:1796]
    lot = torch.rand(len(truth), 10, generator=torch.Generator().manual_seed(0))
    lot.scatter_(1, truth.unsqueeze(1), 2.0)  # the true label is always among the six
    candidates = Candidates(lot.topk(6).indices, n_classes=10)
    two = torch.arange(len(truth)).reshape(-1, 2)
    greater_first = truth[two].argsort(dim=1, descending=True)
    pairs = Pairs.greater_equal(two.gather(1, greater_first), n_classes=10, n_instances=len(truth))
    return X, pairs * candidates, truth


# --8<-- [start:loop]
class WholeGroups(Sampler[list[int]]):
    """Row numbers of one batch after the other: groups are shuffled, and none is cut.

    In a plain loop and in skorch it is the `batch_sampler` of a loader.
    """

    def __init__(self, group_of: Tensor, groups_per_batch: int) -> None:
        self.group_of, self.groups_per_batch = group_of, groups_per_batch
        self.n_groups = int(group_of.max()) + 1
        self.generator = torch.Generator().manual_seed(0)  # the same order on all processes

    def __len__(self) -> int:
        return -(-self.n_groups // self.groups_per_batch)

    def __iter__(self) -> Iterator[list[int]]:
        place = torch.randperm(self.n_groups, generator=self.generator)[self.group_of]
        sizes = torch.bincount(place // self.groups_per_batch)
        for rows in place.argsort().split(sizes.tolist()):
            yield rows.tolist()


class Collection(Dataset[tuple[Tensor, Belief]]):
    """Gives out whole batches, as the belief about a pair is no stack of single rows."""

    def __init__(self, X: Tensor, belief: Belief) -> None:
        self.X, self.belief = X, belief

    def __getitem__(self, rows: list[int]) -> tuple[Tensor, Belief]:
        return self.X[rows], self.belief[rows]


class Resolver(lightning.LightningModule):
    """A network and an objective."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
        # As a part of the module the objective goes to its device, is switched between training and
        # evaluation with it, and has its tracked mass in each checkpoint.
        self.objective = tacit.RQ(tacit.TrackedMass())

    def training_step(self, batch: tuple[Tensor, Belief], _index: int) -> Tensor:
        features, belief = batch  # Lightning moves both to the device
        loss = self.objective(self.network(features), belief)
        # Lightning would look for the size of the batch in the belief.
        self.log("loss", loss, batch_size=len(features))
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.01)


# --8<-- [end:loop]


def main() -> float:
    """Resolve the digits, and say how many came out right."""
    torch.manual_seed(0)
    X, belief, truth = digits()
    # The sampler already makes batches, so the loader is told to make none of its own.
    sampler = WholeGroups(belief.group_of, groups_per_batch=64)
    loader = DataLoader(Collection(X, belief), batch_size=None, sampler=sampler)
    trainer = lightning.Trainer(
        max_epochs=25,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    resolver = Resolver()
    trainer.fit(resolver, loader)
    print(f"loss {trainer.callback_metrics['loss']:.3f}")

    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder, "resolver.ckpt")
        trainer.save_checkpoint(checkpoint)
        if trainer.is_global_zero:  # of several processes the first one writes
            kept = Resolver.load_from_checkpoint(checkpoint, weights_only=True)
            print("kept:", *kept.objective.state_dict())

    # What the network says (q), the share of each class in the whole collection (S), and the
    # belief as updated by what the network has seen (r), pair by pair.
    resolver.eval()
    with torch.no_grad():
        log_q = resolver.network(X).log_softmax(1)
    log_S = tacit.evidence.class_mass(log_q).log()
    evidence = tacit.evidence.evidence(log_q, log_mass=log_S)
    r = belief.posterior(evidence).log_marginals.exp()

    accuracy = (r.argmax(1) == truth).float().mean().item()
    print(
        f"right by the posterior r: {accuracy:.1%}; without the network: "
        f"{(belief.marginals().argmax(1) == truth).float().mean():.1%}"
    )
    return accuracy


if __name__ == "__main__":
    main()
