"""Memory that large tables take, measured in a process of its own."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MB = 1 << 20

MEASURED = """
import sys
import numpy as np
from tacit.table import read_beliefs, read_features, write_resolved

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) << 10

def features(path, n_rows):
    return lambda: read_features(path)

def beliefs(path, n_rows):
    return lambda: read_beliefs(path, ids=None, n_rows=n_rows, classes=1000)

def resolved(path, n_rows):
    shares = np.full((n_rows, 40), 0.025, np.float32)
    return lambda: write_resolved(
        path, ids=None, classes=40, posterior=shares, prediction=shares
    )

kind, folder = sys.argv[1:]
prepared = {"features": features, "beliefs": beliefs, "resolved": resolved}[kind]
prepared(folder + "/small.parquet", 1000)()  # what is loaded once
work = prepared(folder + "/large.parquet", 1_000_000)
before = peak()
work()
print(peak() - before)
"""


def growth(kind, folder):
    """Bytes by which the peak grows while the large file is worked on after the small one."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, kind, folder],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return int(done.stdout)


def save_both(folder, columns, **options):
    for name, n_rows in (("small", 1000), ("large", 1_000_000)):
        pq.write_table(pa.table(columns(n_rows)), folder / f"{name}.parquet", **options)


@pytest.mark.slow
@pytest.mark.parametrize("group", [100_000, 1_000_000])
def test_features_take_little_more_than_themselves(tmp_path, group):
    rng = np.random.default_rng(0)

    def columns(n_rows):
        return {f"f{place}": rng.random(n_rows, np.float32) for place in range(64)}

    save_both(tmp_path, columns, row_group_size=group, use_dictionary=False)
    assert growth("features", tmp_path) < 1.25 * 1_000_000 * 64 * 4 + 64 * MB


@pytest.mark.slow
def test_candidates_take_a_bit_each(tmp_path):
    def columns(n_rows):
        names = pa.array([str(number % 100) for number in range(3 * n_rows)])
        starts = pa.array(np.arange(0, 3 * n_rows + 1, 3, np.int32))
        return {"candidates": pa.ListArray.from_arrays(starts, names)}

    save_both(tmp_path, columns)
    assert growth("beliefs", tmp_path) < 3 * 1_000_000 * 1000 / 8 + 128 * MB


@pytest.mark.slow
def test_resolved_labels_are_written_without_a_second_copy(tmp_path):
    assert growth("resolved", tmp_path) < 1_000_000 * 40 * 4
