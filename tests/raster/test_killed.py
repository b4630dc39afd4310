"""A process that is killed for good loses one window at most."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.cli.cases import environment, kill, started, tacit, until
from tests.raster.cases import drawn, write


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "image.tif", drawn(0, 1, 1100, 1100), compress="deflate")
    blocks = np.array([11, 41], np.uint8)[drawn(1, 45, 45) % 2]
    write(tmp_path / "coarse.tif", blocks, pixel=30.0)
    (tmp_path / "table.csv").write_text("nlcd,water,tree\n11,9,1\n41,1,9\n")
    return tmp_path


def arguments(folder, out):
    told = ("--coarse", folder / "coarse.tif", "--cooccurrence", folder / "table.csv")
    return [str(each) for each in ("belief", folder / "image.tif", *told, "--out", folder / out)]


def test_killed_command_goes_on_and_ends_with_the_same_bytes(files):
    process, windows = started(*arguments(files, "run")), files / "run" / ".windows"
    until(lambda: windows.exists() and len([*windows.glob("*.npz")]) > 1, process)
    assert kill(process)[0] == -signal.SIGKILL
    assert json.loads((files / "run" / "run.json").read_text())["status"] == "running"
    tacit(*arguments(files, "run"), "--resume")
    tacit(*arguments(files, "whole"))
    for name in ("belief.tif", "classes.tif", "entropy.tif"):
        assert (files / "run" / name).read_bytes() == (files / "whole" / name).read_bytes()
    one, two = ({path.name for path in (files / run).iterdir()} for run in ("run", "whole"))
    assert one == two


LIMITED = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000));"
LIMITED += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
LIMITED += "from tacit.cli import main; main()"


def test_full_disk_is_told_in_a_sentence_and_work_goes_on(files):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments(files, "run")],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.count("error: ") == 1
    assert "cannot be written" in done.stderr
    assert not list((files / "run").glob("*.tif"))
    tacit(*arguments(files, "run"), "--resume")
    assert (files / "run" / "belief.tif").exists()
