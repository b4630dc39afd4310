"""Real processes that are killed at any moment, and started again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from tacit.fitting import CHECKPOINT, METRICS
from tests.fitting.cases import assert_same, train
from tests.fitting.worker import RESULT, scenario

ROOT = Path(__file__).parents[2]
PATIENCE = 300
TORCHRUN = "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=1", "-m"


def started(name, folder, *launcher, **environment):
    command = [sys.executable, "-m", *launcher, "tests.fitting.worker", name, str(folder)]
    own = os.environ | {"OMP_NUM_THREADS": "1", **environment}
    return subprocess.Popen(command, cwd=ROOT, env=own, stderr=subprocess.PIPE, text=True)


def killed(process, folder, seconds, number=signal.SIGKILL):
    """Whether a process could be killed so long after its checkpoint came, or came anew."""
    path = folder / CHECKPOINT
    before = path.stat().st_mtime_ns if path.exists() else 0
    limit = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < limit:
        if path.exists() and path.stat().st_mtime_ns > before:
            break
        time.sleep(0.002)
    time.sleep(seconds)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    # `python -m` ends with 1 after a KeyboardInterrupt.
    interrupted = number == signal.SIGINT and said.endswith("KeyboardInterrupt\n")
    assert interrupted or process.returncode in (0, -number, 128 + number), said
    return process.returncode != 0


def test_a_killed_run_that_is_resumed_ends_with_the_same_weights(tmp_path):
    (tmp_path / "whole").mkdir()
    (folder := tmp_path / "killed").mkdir()
    whole = train(*scenario("candidates"), folder=tmp_path / "whole")
    assert killed(started("candidates", folder), folder, 0.05)
    ended = train(*scenario("candidates"), folder=folder, resume=True)
    for left, right in zip(whole, ended, strict=True):
        assert_same(left, right)
    assert (folder / METRICS).read_text() == (tmp_path / "whole" / METRICS).read_text()
    assert sorted(path.name for path in folder.iterdir()) == [CHECKPOINT, METRICS]


@pytest.fixture(scope="module")
def bags_whole():
    return [each.network.state_dict() for each in train(*scenario("bags"))]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2))
def test_a_run_killed_again_and_again_ends_with_the_same_weights(
    tmp_path, bags_whole, number, seed
):
    draw = random.Random(100 * seed + number)
    n_kills = 0
    while not (tmp_path / RESULT).exists():
        n_kills += killed(started("bags", tmp_path), tmp_path, draw.uniform(0.0, 0.5))
    assert n_kills > 0
    for left, right in zip(bags_whole, torch.load(tmp_path / RESULT), strict=True):
        assert all(left[name].equal(value) for name, value in right.items())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_asked_to_end_does_so_after_its_step(tmp_path, bags_whole, number):
    process = started("bags", tmp_path)
    assert killed(process, tmp_path, 0.3, number)
    assert not list(tmp_path.glob(".*.partial"))
    assert not (tmp_path / RESULT).exists()
    ended = train(*scenario("bags"), folder=tmp_path, resume=True)
    for left, right in zip(bags_whole, ended, strict=True):
        assert all(left[name].equal(value) for name, value in right.network.state_dict().items())


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 20])
def test_a_worker_that_dies_is_restarted_and_the_run_ends_as_it_would_have(
    tmp_path, bags_whole, step
):
    launcher = (
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=2",
        "--max-restarts=1",
        "-m",
    )
    process = started("bags", tmp_path, *launcher, DIES_AT=str(step))
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert "Signal 9" in said or "exitcode: -9" in said, said
    for left, right in zip(bags_whole, torch.load(tmp_path / RESULT), strict=True):
        assert_close(right, left, rtol=1e-6, atol=1e-6)
