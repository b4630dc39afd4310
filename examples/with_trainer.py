"""tacit in Hugging Face's Trainer.

Of each of scikit-learn's 1,797 handwritten digits we know five labels that it may have: its own and
four others, drawn at random. The Trainer trains a small ResNet of transformers, begun from its
configuration; one from the hub goes the same way.

    python examples/with_trainer.py
"""

import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from sklearn.datasets import load_digits
from torch import Tensor, nn
from transformers import ResNetConfig, ResNetForImageClassification, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import tacit


def digits() -> tuple[Tensor, tacit.beliefs.Candidates, Tensor]:
    """The images, the belief, and the truth, which only the final count may look at."""
    data = load_digits()
    X = torch.as_tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    truth = torch.as_tensor(data.target)
    lot = torch.rand(len(truth), 10, generator=torch.Generator().manual_seed(0))
    lot.scatter_(1, truth.unsqueeze(1), 2.0)  # the true label is always among the five
    return X, tacit.beliefs.Candidates(lot.topk(5).indices, n_classes=10), truth


# --8<-- [start:loop]
class Resolver(Trainer):
    """A Trainer whose loss is the model's own objective, with a belief about the collection.

    Not by `compute_loss_func`: what that returns the Trainer takes for one part of a mean over all
    accumulated batches and all processes, and scales it to suit. The objective returns the mean of
    one batch, and under several processes that of their joined batch.
    """

    loss_is_scaled_for_ga = False  # the Trainer divides it by the number of accumulated batches

    def __init__(self, *args: Any, belief: tacit.beliefs.Belief, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.belief = belief.to(self.args.device)

    def compute_loss(
        self, model: nn.Module, inputs: dict[str, Tensor], return_outputs: bool = False, **_: Any
    ) -> Any:
        rows = inputs.pop("rows")
        outputs = model(**inputs)
        loss = self.model.objective(outputs.logits, self.belief[rows])
        return (loss, outputs) if return_outputs else loss


# --8<-- [end:loop]


def main() -> float:
    """Resolve the digits, and say how many came out right."""
    torch.manual_seed(0)
    X, belief, truth = digits()
    model = ResNetForImageClassification(
        ResNetConfig(
            num_channels=1,
            embedding_size=64,
            hidden_sizes=[64, 64],
            depths=[1, 1],
            layer_type="basic",
            num_labels=10,
        )
    )
    # As a part of the model the objective goes to its device, is switched between training and
    # evaluation with it, and has its tracked mass in each checkpoint.
    #
    # With `gradient_accumulation_steps` each part is a batch of its own to the objective. A tracked
    # mass remembers the parts before it, so they may be small; a BatchMass would see one part only.
    model.objective = tacit.RQ(tacit.TrackedMass())

    # What travels with the images is the number of each row. The Trainer deals out items one by
    # one, to batches and to processes. Where a belief ties rows together, as pairs do, make an item
    # of each group, join the groups of a batch with torch.cat in a `data_collator`, and at the end
    # ask the model itself: `predict` would count groups, and cut the rows off at their number.
    collection = [{"pixel_values": image, "rows": row} for row, image in enumerate(X)]

    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            folder,
            num_train_epochs=10,
            per_device_train_batch_size=128,
            learning_rate=0.01,
            label_names=["rows"],  # or the Trainer drops what the model does not ask for
            logging_steps=50,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
        )
        trainer = Resolver(model, settings, train_dataset=collection, belief=belief)
        trainer.train()
        if trainer.is_world_process_zero():
            kept = load_file(Path(get_last_checkpoint(folder), "model.safetensors"))
            print("kept:", *(name for name in kept if name.startswith("objective.")))

        # In evaluation mode and in the collection's order. The loss is measured on the way, and
        # the tracked mass stands still.
        logits = torch.as_tensor(trainer.predict(collection).predictions)

    # What the network says (q), the share of each class in the whole collection (S), and the
    # belief as updated by what the network has seen (r).
    log_q = logits.log_softmax(1)
    log_S = tacit.evidence.class_mass(log_q).log()
    evidence = tacit.evidence.evidence(log_q, log_mass=log_S)
    r = belief.posterior(evidence).log_marginals.exp()

    accuracy = (r.argmax(1) == truth).float().mean().item()
    print(f"right by the posterior r: {accuracy:.1%}; by a guess among the five: 20.0%")
    return accuracy


if __name__ == "__main__":
    main()
