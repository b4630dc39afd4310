"""Two real processes under torchrun give what one gives, restart, and end together."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.cases import CLASSES, case, command, content, description, environment, table, tacit

OPTIONS = ("--epochs", 20, "--members", 1, "--batch-size", 20, "--set", "checkpoint_every=0.05")


def files(folder):
    return ("resolve", folder / "x.parquet", "--beliefs", folder / "excluded.csv", *OPTIONS)


def torchrun(*arguments, restarts=0):
    """A launcher with two processes, started."""
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    tail = command(*arguments)[1:]
    return subprocess.Popen(
        [sys.executable, *launch, "--max-restarts", str(restarts), *tail],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    """Exit status, output and errors; workers have a session of their own, and end here too."""
    try:
        out, err = process.communicate(timeout=240)
    finally:
        for pid in (*workers(process), process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return process.returncode, out, err


def sentences(text):
    """What tacit's own processes wrote among the lines of the launcher."""
    return [line for line in text.splitlines() if line.startswith(("error:", "[rank"))]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A folder with data, and what one process makes of them."""
    folder = tmp_path_factory.mktemp("alone")
    case(101).write(folder)
    tacit(*files(folder), "--out", folder / "run")
    return folder


def probabilities(folder):
    found = table(folder / "resolved.parquet")
    return np.array([[found[f"{kind}_{name}"] for name in CLASSES] for kind in "rq"])


def test_two_processes_give_what_one_gives(alone, tmp_path):
    code, said, wrong = ended(torchrun(*files(alone), "--out", tmp_path / "run"))
    assert code == 0, wrong
    np.testing.assert_allclose(
        probabilities(tmp_path / "run"), probabilities(alone / "run"), atol=1e-3
    )
    assert sorted(content(tmp_path / "run")) == sorted(content(alone / "run"))
    assert description(tmp_path / "run")["machine"]["processes"] == 2
    assert said.count("101 labels") == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("--beliefs", "gone.csv"), "`gone.csv`: is not there"),
        pytest.param(("--epochs", "many"), "`epochs` must be", marks=pytest.mark.slow),
        pytest.param(("--set", "epoch=3"), "did you mean `epochs`", marks=pytest.mark.slow),
        pytest.param(("--device", "gpu"), "`device` must be", marks=pytest.mark.slow),
        pytest.param(("--classes", "cat,dog"), "class owl", marks=pytest.mark.slow),
        pytest.param(("--out", "."), "holds other files", marks=pytest.mark.slow),
    ],
)
def test_what_cannot_be_used_is_told_once_and_ends_all(alone, monkeypatch, change, sentence):
    monkeypatch.chdir(alone)
    code, _, wrong = ended(torchrun(*files(alone), "--out", "new", *change))
    assert code == 1
    assert len(sentences(wrong)) == 1
    assert sentence in sentences(wrong)[0]
    assert not (alone / "new").exists()


def workers(process):
    """The processes that a launcher has started, in the order of their ranks."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"PPid:\t{process.pid}\n" in (entry / "status").read_text():
                rank = dict(
                    pair.split("=", 1)
                    for pair in (entry / "environ").read_text().split("\0")
                    if "=" in pair
                )["RANK"]
                found[int(rank)] = int(entry.name)
        except (OSError, KeyError):
            continue
    return [found[rank] for rank in sorted(found)]


def wait_for(path):
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_worker_that_is_killed_is_restarted_and_the_run_ends_properly(alone, tmp_path, victim):
    out = tmp_path / "run"
    process = torchrun(*files(alone), "--epochs", 100, "--out", out, restarts=2)
    wait_for(out / "checkpoint.safetensors")
    os.kill(workers(process)[victim], signal.SIGKILL)
    code, said, wrong = ended(process)
    assert code == 0, wrong
    assert said.count("101 labels") == 1
    assert description(out)["status"] == "complete"
    shares = probabilities(out)
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-6)
    assert not (out / "checkpoint.safetensors").exists()
