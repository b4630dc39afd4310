import json
import math
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.beliefs import Candidates, Pairs
from tacit.errors import InvalidInputError, TacitError
from tacit.table import read_features, write_resolved


def probabilities(n_rows, n_classes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n_rows, n_classes, generator=generator, dtype=torch.float64).softmax(1)


def write(path, r, q=None, **changed):
    options = {
        "ids": None,
        "classes": [f"c{label}" for label in range(r.shape[1])],
        "posterior": r,
        "prediction": r if q is None else q,
    }
    write_resolved(path, **(options | changed))
    return path


@given(n_rows=st.integers(1, 9), n_classes=st.integers(2, 5), seed=st.integers(0, 99))
@settings(max_examples=25)
def test_file_says_what_a_slow_loop_finds(folder, n_rows, n_classes, seed):
    posterior, prediction = (
        probabilities(n_rows, n_classes, seed),
        probabilities(n_rows, n_classes, seed + 1),
    )
    ids = [f"row {row}" for row in range(n_rows)]
    rows = pq.read_table(write(folder / "r.parquet", posterior, prediction, ids=ids)).to_pylist()
    for row, found in enumerate(rows):
        r, q = posterior[row].tolist(), prediction[row].tolist()
        assert (found["id"], found["label"]) == (ids[row], f"c{r.index(max(r))}")
        assert found["entropy"] == pytest.approx(
            -sum(each * math.log(each) for each in r), rel=1e-6
        )
        for label in range(n_classes):
            assert found[f"r_c{label}"] == pytest.approx(r[label], rel=1e-6)
            assert found[f"q_c{label}"] == pytest.approx(q[label], rel=1e-6)


def test_columns_are_described(tmp_path):
    schema = pq.read_schema(
        write(tmp_path / "r.parquet", probabilities(2, 2), classes=["cat", "dog"])
    )
    assert schema.names == ["id", "label", "entropy", "r_cat", "r_dog", "q_cat", "q_dog"]
    assert [str(kind) for kind in schema.types] == ["int64", "string"] + 5 * ["float"]
    described = {
        name: schema.field(name).metadata[b"description"].decode() for name in schema.names
    }
    assert described["r_dog"] == "Posterior r of dog"
    assert described["entropy"] == "Entropy of the posterior r in nats"


@pytest.mark.parametrize(
    ("belief", "p"),
    [
        (Candidates([[0, 2], [1], [0, 1, 2]], n_classes=3), [[1, 0, 1], [0, 2, 0], [1, 1, 1]]),
        (Pairs.greater([[0, 2]], n_classes=3, n_instances=3), [[0, 1, 2], [1, 1, 1], [2, 1, 0]]),
    ],
    ids=["independent", "structured"],
)
def test_belief_is_written_as_its_marginals(tmp_path, belief, p):
    path = write(tmp_path / "r.parquet", probabilities(3, 3), belief=belief)
    table = pq.read_table(path)
    assert table.column_names[-3:] == ["p_c0", "p_c1", "p_c2"]
    written = np.stack([table[f"p_c{label}"].to_numpy() for label in range(3)], 1)
    assert np.allclose(written, np.array(p) / np.sum(p, 1, keepdims=True), atol=1e-6)
    assert table.schema.field("p_c2").metadata[b"description"] == b"Belief p of c2"


class Watched(Candidates):
    """Remembers of how many rows at a time it was asked."""

    asked: ClassVar[list[int]] = []

    def marginals(self, dtype=torch.float32):
        self.asked.append(len(self))
        return super().marginals(dtype)


def test_belief_is_asked_for_one_row_group_at_a_time(tmp_path, monkeypatch):
    for name, value in (("_CELLS", 1), ("_FEWEST", 7), ("_MOST", 7)):
        monkeypatch.setattr(f"tacit.table._write.{name}", value)
    belief = Watched(torch.arange(20) % 3, n_classes=3)
    path = write(tmp_path / "r.parquet", probabilities(20, 3), belief=belief)
    assert Watched.asked == [7, 7, 6]
    assert pq.read_table(path)["p_c1"].to_pylist() == [float(row % 3 == 1) for row in range(20)]


def test_rows_whose_posterior_vanishes_have_no_label(tmp_path):
    posterior = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    table = pq.read_table(write(tmp_path / "r.parquet", posterior, probabilities(3, 2)))
    assert table["label"].to_pylist() == ["c0", None, "c1"]
    assert table["entropy"].to_pylist() == [0.0, None, 0.0]
    assert table["r_c1"].to_pylist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32])
def test_tensors_and_arrays_of_any_precision_do(tmp_path, kind):
    posterior = probabilities(5, 3).to(kind).requires_grad_()
    first = pq.read_table(write(tmp_path / "a.parquet", posterior))
    second = pq.read_table(write(tmp_path / "b.parquet", posterior.detach().double().numpy()))
    assert first.equals(second)


def test_without_a_posterior_the_label_is_that_of_the_prediction(tmp_path):
    prediction = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    path = write(tmp_path / "r.parquet", prediction, posterior=None)
    table = pq.read_table(path)
    assert table.column_names == ["id", "label", "entropy", "q_c0", "q_c1"]
    assert table["label"].to_pylist() == ["c1", "c0"]
    assert table["entropy"].to_pylist() == pytest.approx([0.5623351, 0.0])
    described = table.schema.field("label").metadata[b"description"].decode()
    assert described == "The class where the prediction q is largest"


def test_row_groups_do_not_show(tmp_path, monkeypatch):
    posterior, ids = probabilities(50, 3), pa.array(np.arange(50)[::-1].copy())
    whole = pq.read_table(write(tmp_path / "a.parquet", posterior, ids=ids))
    for name, value in (("_CELLS", 1), ("_FEWEST", 7), ("_MOST", 7)):
        monkeypatch.setattr(f"tacit.table._write.{name}", value)
    path = write(tmp_path / "b.parquet", posterior, ids=ids)
    assert pq.ParquetFile(path).num_row_groups == 8
    assert pq.read_table(path).equals(whole)


def test_ids_keep_their_kind(tmp_path):
    for ids, kind in ((None, pa.int64()), ([5, 3], pa.int64()), (["b", "a"], pa.large_string())):
        table = pq.read_table(write(tmp_path / "r.parquet", probabilities(2, 2), ids=ids))
        assert table.schema.field("id").type == kind
        assert table["id"].to_pylist() == (ids or [0, 1])


def test_what_is_written_can_be_read_as_features(tmp_path):
    path = write(tmp_path / "r.parquet", probabilities(4, 2), ids=list("dcba"))
    features = read_features(path, columns=["r_c0", "r_c1"])
    assert features.ids.to_pylist() == list("dcba")
    assert np.allclose(features.values.sum(1), 1)


def with_entry(number):
    table = probabilities(4, 2).numpy()
    table[2, 1] = number
    return table


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"posterior": with_entry(math.nan)},
            r"`posterior` .* row 2 \(id 2\), class 1, .*nan",
        ),
        ({"prediction": with_entry(math.inf)}, "`prediction` must hold prob.* holds inf"),
        (
            {"prediction": np.full((4, 2), -0.5)},
            "from 0 to 1, but .* holds -0.5; pass exp",
        ),
        ({"posterior": probabilities(4, 3)}, r"`posterior` .* = \(4, 2\), .* shape is \(4, 3\)"),
        ({"prediction": probabilities(3, 2)}, r"`prediction` .* = \(4, 2\), .* shape is \(3, 2\)"),
        ({"posterior": np.float64(0)}, r"`posterior` .* its shape is \(\)"),
        (
            {"belief": Candidates([[0], [1]], n_classes=2)},
            r"`belief` .* = \(4, 2\), .* shape is \(2, 2\)",
        ),
        ({"ids": ["a"]}, "`ids` must name 4 rows, but it names 1"),
        ({"ids": list("abca")}, "`ids` must be different, but rows 0 and 3 are both called a"),
        ({"classes": ["a", "a"]}, "`classes` must name at least 2 classes, each once"),
        ({"classes": ["a"]}, "`classes` must name at least 2 classes"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_the_old_file(tmp_path, changed, sentence):
    path = tmp_path / "r.parquet"
    path.write_text("old")
    with pytest.raises(InvalidInputError, match=sentence):
        write(path, probabilities(4, 2), **changed)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["r.csv", "r", "parquet"])
def test_name_of_another_format_is_refused(tmp_path, name):
    with pytest.raises(InvalidInputError, match=f"`path` must end in .parquet, .*{name}'"):
        write(tmp_path / name, probabilities(2, 2))


def test_folder_that_is_missing_is_refused(tmp_path):
    with pytest.raises(TacitError, match=r"cannot be written \(its folder is not there\).*create"):
        write(tmp_path / "gone" / "r.parquet", probabilities(2, 2))


FULL = """
import json, resource, sys
import numpy as np
from tacit.errors import TacitError
from tacit.table import write_resolved
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
shares = np.random.default_rng(0).dirichlet([1.0, 1.0], 100_000)
try:
    write_resolved(
        sys.argv[1], ids=None, classes=["a", "b"], posterior=shares, prediction=shares
    )
except TacitError as error:
    print(json.dumps(str(error)))
"""


def test_full_disk_is_refused_and_leaves_the_old_file(tmp_path):
    path = write(tmp_path / "r.parquet", probabilities(3, 2))
    old = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL, path],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "cannot be written (it grows beyond the largest size allowed)" in json.loads(done.stdout)
    assert done.stderr == ""
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
