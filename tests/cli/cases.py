"""Small collections in files, and the commands run on them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
from typer.testing import CliRunner

from tacit.cli._app import app
from tests.table.cases import save

CLASSES = ("cat", "dog", "owl")
QUICK = ("--epochs", 2, "--members", 1)
"""Options of a run that is only to come to its end."""


class Case(NamedTuple):
    """A collection.

    Attributes:
        X: Features, `(instances, feature)`.
        truth: The label of each instance.
        excluded: A label that it has not.
    """

    X: np.ndarray
    truth: np.ndarray
    excluded: np.ndarray

    @property
    def ids(self):
        return [f"r{row}" for row in range(len(self.X))]

    @property
    def columns(self):
        return {"id": self.ids} | {f"f{place}": column for place, column in enumerate(self.X.T)}

    def shuffled(self, column, values, seed=1):
        """Columns of beliefs, the rows in another order."""
        order = np.random.default_rng(seed).permutation(len(self.X))
        return {"id": [self.ids[row] for row in order], column: [values[row] for row in order]}

    def write(self, folder):
        """Write `x.parquet` and `excluded.csv` and return their paths."""
        named = [CLASSES[label] for label in self.excluded]
        return (
            save(folder / "x.parquet", self.columns),
            save(folder / "excluded.csv", self.shuffled("excluded", named)),
        )


def case(n=60, seed=0):
    """Three classes that lie well apart, in four features."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(n) % 3
    X = np.c_[3 * np.eye(3)[truth], np.zeros(n)] + rng.normal(size=(n, 4))
    return Case(X.astype(np.float32), truth, (truth + rng.integers(1, 3, n)) % 3)


def tacit(*arguments, code=0):
    """Run a command in this process; what it wrote, after a look at the exit status."""
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    if done.exit_code not in (0, 1, 2, 3, 130) or not isinstance(done.exception, SystemExit | None):
        raise AssertionError(done.output) from done.exception
    assert done.exit_code == code, done.output
    return done


def resolve(folder, *arguments, code=0):
    """Resolve the usual files of a folder."""
    files = (folder / "x.parquet", "--beliefs", folder / "excluded.csv")
    return tacit("resolve", *files, *QUICK, *arguments, code=code)


def refused(*arguments):
    """The one sentence by which a command refuses; nothing else is written."""
    done = tacit(*arguments, code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(".\n")
    return done.stderr.removeprefix("error: ").strip()


def command(*arguments):
    """The arguments of a real process."""
    return [sys.executable, "-m", "tacit", *map(str, arguments)]


def environment():
    return os.environ | {"OMP_NUM_THREADS": "1"}


def started(*arguments, **options):
    """A real process, started."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command(*arguments), env=environment(), **streams, **options)


def ended(process, timeout=120):
    """Exit status, output and errors of a process."""
    with contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def until(holds, process, timeout=60):
    """Wait until something holds, or the process has ended."""
    end = time.monotonic() + timeout
    while not holds() and process.poll() is None:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def kill(process, number=signal.SIGKILL):
    """Send a process a signal, if it is still there, and wait for its end."""
    process.send_signal(number)
    return ended(process)


def table(path):
    """A resolved table: its columns by name."""
    return {name: column.to_pylist() for name, column in zip(*_columns(path), strict=True)}


def _columns(path):
    found = pq.read_table(path)
    return found.column_names, found.columns


def description(folder):
    """What a run says of itself."""
    return json.loads((folder / "run.json").read_text("utf-8"))


def content(folder):
    """All files of a run but its description, in which there are times."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
