"""The examples run as they stand, each in a process of its own, and resolve the digits."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

# Percent of the digits that r must get right: about two standard deviations below the worst of
# seeds 0 to 9, as another torch may round like another seed.
LEAST = {
    "plain_torch": 97.0,  # 97.6 to 98.4
    "with_lightning": 97.8,  # 98.2 to 98.7
    "with_skorch": 97.4,  # 97.8 to 98.5
    "with_trainer": 98.1,  # 98.5 to 99.0
}

# A warning ends an example, but for what the libraries say to themselves.
WARNINGS = {
    # Lightning asks torch for the leaves of a batch in a way that torch has deprecated.
    "with_lightning": ["ignore::FutureWarning:lightning.pytorch.utilities._pytree"],
}


class Run(NamedTuple):
    code: int
    said: str
    complaint: str
    left_behind: list[str]


@pytest.fixture(scope="module", params=sorted(path.stem for path in EXAMPLES.glob("*.py")))
def example(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def run(example: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp(example)
    filters = [f"-W{rule}" for rule in ["error", *WARNINGS.get(example, [])]]
    done = subprocess.run(
        [sys.executable, *filters, EXAMPLES / f"{example}.py"],
        cwd=folder,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=240,
    )
    left_behind = [path.name for path in folder.iterdir()]
    return Run(done.returncode, done.stdout, done.stderr, left_behind)


def test_example_runs_without_a_warning(run: Run):
    assert run.code == 0, run.complaint
    assert "Warning" not in run.complaint


def test_example_resolves_the_digits(run: Run, example: str):
    (right,) = re.findall(r"^right by the posterior r: ([\d.]+)%", run.said, re.MULTILINE)
    assert float(right) > LEAST[example]


def test_example_keeps_the_class_mass_with_the_network(run: Run):
    (kept,) = re.findall(r"^kept: (.*)$", run.said, re.MULTILINE)
    assert [name.removeprefix("objective.") for name in kept.split()] == [
        "mass.log_mass",
        "mass.seen",
    ]


def test_example_leaves_no_files_behind(run: Run):
    assert run.left_behind == []


ONE_STEP = """
import os, runpy, sys, torch, tacit
from torch import nn
from transformers import TrainingArguments
from transformers.modeling_outputs import ImageClassifierOutput

script, folder, accumulated = sys.argv[1:]
accumulated, processes = int(accumulated), int(os.environ.get("WORLD_SIZE", 1))
# A mass that is fixed leaves nothing to couple the parts of a batch.
mass = tacit.BatchMass() if accumulated == 1 else tacit.FixedMass.uniform(3)
torch.manual_seed(0)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 3).double()
        self.objective = tacit.RQ(mass, allow_collapse=True)
    def forward(self, pixel_values):
        return ImageClassifierOutput(logits=self.layer(pixel_values))

generator = torch.Generator().manual_seed(0)
X, p = (torch.rand(16, n, generator=generator, dtype=torch.double) for n in (5, 3))
model = Model()
weight = model.layer.weight
(expected,) = torch.autograd.grad(model.objective(model.layer(X), p), weight)
before = weight.detach().clone()
settings = TrainingArguments(
    folder, max_steps=1, optim="sgd", learning_rate=1.0, lr_scheduler_type="constant",
    max_grad_norm=0, gradient_accumulation_steps=accumulated, label_names=["rows"],
    per_device_train_batch_size=16 // accumulated // processes, save_strategy="no",
    report_to="none", disable_tqdm=True, use_cpu=True,
)
collection = [{"pixel_values": x, "rows": row} for row, x in enumerate(X)]
belief = tacit.beliefs.Categorical(p)
Resolver = runpy.run_path(script)["Resolver"]
Resolver(model, settings, train_dataset=collection, belief=belief).train()
torch.testing.assert_close(before - weight.detach(), expected, rtol=1e-6, atol=0)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "accumulated"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_trainer_takes_the_step_of_the_joined_batch(
    processes: int, accumulated: int, tmp_path: Path
):
    step = tmp_path / "step.py"
    step.write_text(ONE_STEP, "utf-8")
    arguments = [EXAMPLES / "with_trainer.py", tmp_path, str(accumulated)]
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    done = subprocess.run(
        [sys.executable, *(launcher if processes > 1 else []), step, *arguments],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
