"""Real processes that are interrupted, stopped and killed, and go on as if nothing had been."""

import fcntl
import os
import random
import signal
import time

import pytest

from tests.cli.cases import (
    case,
    content,
    description,
    ended,
    kill,
    refused,
    started,
    tacit,
    until,
)

LONG = ("--epochs", 25, "--members", 2, "--batch-size", 10, "--held-out", 0.2, "--json")
"""A run that takes a second or so after its start."""
OFTEN = ("--set", "checkpoint_every=0.03")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with data, and a run that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    case(200).write(folder)
    tacit(*arguments(folder), "--out", folder / "run")
    return folder


def arguments(folder):
    return ("resolve", folder / "x.parquet", "--beliefs", folder / "excluded.csv", *LONG)


def check_same(folder, run):
    """Assert that a run ended as the undisturbed one did, to the last bit."""
    found, wanted = content(run), content(folder / "run")
    # How often checkpoints were written is told beside the weights.
    del found["model/model.json"], wanted["model/model.json"]
    assert sorted(found) == sorted(wanted)
    assert [name for name in wanted if found[name] != wanted[name]] == []


def test_ctrl_c_ends_with_a_sentence_and_resume_goes_on_to_the_same_bits(whole, tmp_path):
    out = tmp_path / "run"
    process = started(*arguments(whole), *OFTEN, "--out", out)
    until((out / "checkpoint.safetensors").exists, process)
    code, said, wrong = kill(process, signal.SIGINT)
    assert (code, said) == (130, "")
    assert wrong.endswith("interrupted; the same command with --resume goes on from here.\n")
    assert "Traceback" not in wrong
    assert description(out)["status"] == "running"
    assert "holds an unfinished run" in refused(*arguments(whole), "--out", out)
    assert "pass --resume" in refused(*arguments(whole), "--out", out)
    tacit("resolve", "--out", out, "--resume", "--json")
    check_same(whole, out)


@pytest.mark.slow
def test_ctrl_c_before_training_leaves_nothing(whole, tmp_path):
    files = ("resolve", tmp_path / "x.csv", "--beliefs", whole / "excluded.csv")
    (tmp_path / "x.csv").write_text("f0\n" + "1\n" * 3_000_000)
    out = tmp_path / "run"
    process = started(*files, "--out", out)
    until((out / "run.json").exists, process)
    code, _, wrong = kill(process, signal.SIGINT)
    assert code == 130
    assert wrong.startswith("interrupted")
    assert not out.exists()


@pytest.mark.slow
def test_termination_keeps_a_checkpoint(whole, tmp_path):
    out = tmp_path / "run"
    process = started(*arguments(whole), *OFTEN, "--out", out)
    until((out / "checkpoint.safetensors").exists, process)
    code, _, wrong = kill(process, signal.SIGTERM)
    assert (code, "Traceback" in wrong) == (143, False)
    assert (out / "checkpoint.safetensors").exists()


def killed_until_it_ends(whole, out, seed, most):
    """Kill a run at random moments; how often, and after the first few let it come to its end."""
    draw = random.Random(seed)
    command = (*arguments(whole), *OFTEN, "--out", out)
    for attempt in range(most):
        process = started(*command, *(["--resume"] if attempt else []))
        # Half of the time soon after something has changed, to meet what is being written.
        began = time.time()
        until(lambda at=began: changed_since(out, at), process)
        time.sleep(draw.choice([0, 0.02, 0.1, 0.3, 0.6]) * draw.random())
        code, _, wrong = kill(process)
        assert code in (0, -9), wrong
        if code == 0:
            return attempt
    assert ended(started(*command, "--resume"))[0] == 0
    return most


def changed_since(folder, moment):
    """Whether anything was written to a folder since a moment."""
    try:
        return any(path.stat().st_mtime > moment for path in (folder, *folder.iterdir()))
    except FileNotFoundError:
        return False


def test_run_that_is_killed_ends_with_the_same_bits(whole, tmp_path):
    n_kills = killed_until_it_ends(whole, tmp_path / "run", seed=0, most=2)
    assert n_kills > 0
    check_same(whole, tmp_path / "run")
    assert [*(tmp_path / "run").glob(".*")] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_run_that_is_killed_many_times_ends_with_the_same_bits(whole, tmp_path, seed):
    killed_until_it_ends(whole, tmp_path / "run", seed=seed, most=12)
    check_same(whole, tmp_path / "run")
    assert [*(tmp_path / "run").glob(".*")] == []


WRITING = {
    "before the model": ("tacit.table._resolve._write", "before"),
    "between model and table": ("tacit.table._resolve.write_resolved", "before"),
    "before the end is noted": ("tacit.runs.RunFolder.complete", "before"),
    "before the checkpoint goes": ("tacit.runs.RunFolder.complete", "after"),
}


class Killed(BaseException):
    """What stands for a kill inside this process: nobody catches it."""


@pytest.mark.parametrize("moment", WRITING)
def test_run_that_dies_while_it_writes_ends_with_the_same_bits(
    whole, tmp_path, monkeypatch, moment
):
    name, when = WRITING[moment]
    with monkeypatch.context() as patch:
        patch.setattr(name, dying(name, when))
        with pytest.raises(Killed):
            tacit_dying(*arguments(whole), "--out", tmp_path / "run")
    tacit(*arguments(whole), "--out", tmp_path / "run", "--resume")
    check_same(whole, tmp_path / "run")


def dying(name, when):
    """A function of a module or class that dies before its work, or after it."""
    from pkgutil import resolve_name

    home, _, last = name.rpartition(".")
    work = getattr(resolve_name(home), last)

    def die(*given, **named):
        if when == "after":
            work(*given, **named)
        raise Killed

    return die


def tacit_dying(*given):
    from typer.testing import CliRunner

    from tacit.cli._app import app

    raise CliRunner().invoke(app, [str(each) for each in given]).exception


def test_what_a_killed_process_was_writing_is_cleared_away(whole, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    (out / ".run.json.01234567.partial").write_text("{")
    tacit(*arguments(whole), "--out", out)
    check_same(whole, out)


@pytest.mark.slow
def test_folder_is_held_by_one_process_at_a_time(whole, tmp_path):
    out = tmp_path / "run"
    process = started(*arguments(whole), *OFTEN, "--out", out)
    until((out / "run.json").exists, process)
    assert "is in use by another process" in refused(*arguments(whole), "--out", out, "--resume")
    code, _, wrong = ended(process)
    assert code == 0, wrong
    check_same(whole, out)


def test_lock_of_a_process_that_died_is_forgotten(whole, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    holder = os.open(out, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    assert "is in use by another process" in refused(*arguments(whole), "--out", out)
    os.close(holder)
    tacit(*arguments(whole), "--out", out)
    check_same(whole, out)
