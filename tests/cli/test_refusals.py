"""What cannot be used: a sentence, exit status 1, and nothing half-written."""

import json
import resource
import shutil
import signal
import subprocess
import warnings

import numpy as np
import pytest

from tacit.table._resolve import _fit as fit
from tests.cli.cases import (
    QUICK,
    case,
    content,
    ended,
    refused,
    resolve,
    started,
    tacit,
)
from tests.table.cases import save


def write(folder, name, content):
    path = folder / name
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, dict):
        save(path, content)
    else:
        np.save(path, content)
    return path


ROWS = {"id": ["a", "b"], "f0": [1.0, 2.0], "f1": [3.0, 5.0]}
NOT = {"id": ["a", "b"], "excluded": ["cat", "dog"]}

BAD = {
    "ragged": ("id,f0,f1\na,1,2\nb,3\n", NOT, "row 1"),
    "mistyped": ("id,f0,f1\na,1,2\nb,red,4\n", NOT, "column `f0`"),
    "NaN": (ROWS | {"f1": [float("nan"), 1.0]}, NOT, "column `f1`"),
    "infinity": (ROWS | {"f1": [float("inf"), 1.0]}, NOT, "column `f1`"),
    "empty file": ("", NOT, "is empty"),
    "empty table": ("id,f0,f1\n", NOT, "no rows"),
    "no features": ({"id": ["a", "b"]}, NOT, "has no column beside `id`"),
    "repeated ids": (ROWS | {"id": ["a", "a"]}, NOT, "row 1"),
    "ids that do not join": (ROWS, NOT | {"id": ["c", "d"]}, "has no id that the features have"),
    "repeated ids of beliefs": (ROWS, NOT | {"id": ["a", "a"]}, "row 1"),
    "beliefs for other rows": (ROWS, np.full((3, 2), 0.5), "has 3 rows, and the features have 2"),
    "class that is unknown": (ROWS, NOT | {"excluded": ["cat", "dgo"]}, "(did you mean `dog`?)"),
    "row without a class": (ROWS, NOT | {"excluded": ["cat|dog|owl", "cat"]}, "row 0 (id a)"),
    "negative probability": (ROWS, ROWS | {"f0": [-1.0, 2.0]}, "row 0 (id a)"),
    "no kind of belief": (ROWS, {"id": ["a", "b"], "why": ["x", "y"]}, "tells no kind of belief"),
    "damaged": (b"PAR1 and no more", NOT, "cannot be read as"),
}


@pytest.mark.parametrize("what", BAD)
def test_data_that_cannot_be_used_are_refused_and_leave_nothing(tmp_path, what):
    features, beliefs, sentence = BAD[what]
    if isinstance(features, bytes):
        x = tmp_path / "x.parquet"
        x.write_bytes(features)
    else:
        x = write(tmp_path, "x.csv" if isinstance(features, str) else "x.parquet", features)
    name = "b.parquet" if isinstance(beliefs, dict) else "b.npy"
    files = (x, "--beliefs", write(tmp_path, name, beliefs))
    classes = () if "probability" in what or "other rows" in what else ("--classes", "cat,dog,owl")
    before = sorted(tmp_path.iterdir())
    assert sentence in refused("resolve", *files, *classes, "--out", tmp_path / "a" / "b", *QUICK)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"data": "y.parquet"}, "`y.parquet`: is not there (did you mean `x.parquet`?)"),
        ({"beliefs": "excluded.cvs"}, "(did you mean `excluded.csv`?)"),
        ({"data": None}, "`data` must be given"),
        ({"beliefs": None}, "`beliefs` must be given"),
        ({"out": None}, "`--out` must be given"),
        ({"out": "x.parquet"}, "'x.parquet' is or lies in a file"),
        ({"out": "excluded.csv"}, "is or lies in a file"),
        ({"out": "x.parquet/run"}, "is or lies in a file"),
        ({"out": "."}, "'.' holds other files (excluded.csv, x.parquet)"),
        ({"out": "r" * 300}, "cannot be made (File name too long)"),
        ({"id-column": "name"}, "has no column `name`"),
        ({"columns": "f0,f11"}, "has no column `f11` (did you mean `f1`?)"),
        ({"columns": "id,f0"}, "`columns` must name each feature once, and not the ids"),
        ({"classes": "cat,dog"}, "names the class owl, which is unknown"),
    ],
)
def test_options_that_do_not_fit_are_refused_and_leave_nothing(
    files, monkeypatch, change, sentence
):
    monkeypatch.chdir(files)
    wanted = {"data": "x.parquet", "beliefs": "excluded.csv", "out": "run"} | change
    data = wanted.pop("data")
    options = [f"--{name}={value}" for name, value in wanted.items() if value is not None]
    assert sentence in refused("resolve", *([data] if data else []), *options)
    assert sorted(each.name for each in files.iterdir()) == ["excluded.csv", "x.parquet"]


def test_refusal_is_no_run_to_go_on_with(files):
    refused("resolve", files / "x.parquet", "--beliefs", files / "x.csv", "--out", files / "run")
    resolve(files, "--out", files / "run")
    assert (files / "run" / "resolved.parquet").exists()


def test_folder_that_was_there_stays(files):
    (files / "run").mkdir()
    refused("resolve", files / "x.parquet", "--beliefs", files / "x.csv", "--out", files / "run")
    assert [*(files / "run").iterdir()] == []


def test_folder_of_another_run_is_refused_and_stays_as_it_is(files):
    resolve(files, "--out", files / "run")
    before = content(files / "run") | {"run.json": (files / "run" / "run.json").read_bytes()}
    data = ("resolve", files / "x.parquet", "--beliefs", files / "excluded.csv", *QUICK)
    assert "holds a finished run" in refused(*data, "--out", files / "run")
    said = refused(*data, "--out", files / "run", "--resume", "--seed", 1)
    assert "holds a run with seed = 0, not 1" in said
    after = content(files / "run") | {"run.json": (files / "run" / "run.json").read_bytes()}
    assert after == before


@pytest.mark.parametrize("out", ["images", "images/run", "images/a/../run"])
def test_run_inside_the_folder_of_images_is_refused(tmp_path, out):
    (tmp_path / "images").mkdir()
    save(tmp_path / "b.csv", {"id": ["a"], "label": ["x"]})
    files = (tmp_path / "images", "--beliefs", tmp_path / "b.csv")
    assert "`out` must lie outside" in refused("resolve", *files, "--out", tmp_path / out)
    assert [*(tmp_path / "images").iterdir()] == []


def test_finished_run_that_lost_something_is_refused(files):
    resolve(files, "--out", files / "run")
    (files / "run" / "resolved.parquet").unlink()
    said = refused("resolve", "--out", files / "run", "--resume")
    assert "holds a finished run whose resolved.parquet is gone" in said


def test_predictor_for_images_is_refused_and_leaves_nothing(files):
    arguments = (files / "x.parquet", "--beliefs", files / "excluded.csv", "--out", files / "run")
    done = tacit("resolve", *arguments, "--predictor", "small_cnn", code=1)
    assert "'small_cnn' takes an image" in done.stderr
    assert not (files / "run").exists()


def test_resume_of_nothing_starts(files):
    resolve(files, "--out", files / "run", "--resume")
    done = tacit("resolve", "--out", files / "run", "--resume")
    assert "60 labels" in done.stdout
    assert "`data` must be given" in refused("resolve", "--out", files / "gone", "--resume")


def test_device_may_change_when_a_run_goes_on(files):
    resolve(files, "--out", files / "run")
    said = json.loads((files / "run" / "run.json").read_text()) | {"status": "running"}
    (files / "run" / "run.json").write_text(json.dumps(said))
    tacit("resolve", "--out", files / "run", "--resume", "--device", "cpu", "--set", "hold=no")
    recipe = json.loads((files / "run" / "run.json").read_text())["recipe"]
    assert (recipe["device"], recipe["hold"]) == ("cpu", "no")


def tampered(folder, how):
    """Spoil a model."""
    model = folder / "run" / "model"
    weights, described = model / "weights.safetensors", model / "model.json"
    if how == "truncated weights":
        weights.write_bytes(weights.read_bytes()[:-7])
    elif how == "changed weights":
        body = bytearray(weights.read_bytes())
        body[-3] ^= 1
        weights.write_bytes(bytes(body))
    elif how == "truncated description":
        described.write_text(described.read_text()[:200])
    elif how == "changed description":
        described.write_text(described.read_text().replace('"cat"', '"cow"'))
    elif how == "newer version":
        described.write_text(described.read_text().replace('"format": 1', '"format": 99'))
    elif how == "no model":
        shutil.rmtree(model)
    else:
        weights.unlink()


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("truncated weights", "is truncated or was changed"),
        ("changed weights", "is truncated or was changed"),
        ("truncated description", "it is damaged"),
        ("changed description", "was changed after it was written"),
        ("newer version", "has format 99 and this tacit reads 1"),
        ("missing weights", "cannot be read (No such file"),
        ("no model", "holds a run without a model"),
    ],
)
def test_model_that_is_not_what_was_written_is_refused(files, how, sentence):
    resolve(files, "--out", files / "run")
    tampered(files, how)
    out = files / "q.parquet"
    assert sentence in refused("predict", files / "run", files / "x.parquet", "--out", out)
    assert not out.exists()


def test_run_of_a_newer_version_is_refused(files):
    resolve(files, "--out", files / "run")
    path = files / "run" / "run.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    assert "has format 2 and this tacit reads 1" in refused(
        "resolve", "--out", files / "run", "--resume"
    )


def limited(n_bytes):
    """Let no file grow beyond a size, as if the disk were full."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    return limit


@pytest.mark.parametrize(
    ("n_bytes", "left"),
    [
        pytest.param(100, [], marks=pytest.mark.slow),
        (4000, ["metrics.jsonl", "run.json"]),
        pytest.param(
            60_000,
            ["checkpoint.safetensors", "metrics.jsonl", "model", "run.json"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_full_disk_ends_with_a_sentence_and_the_run_goes_on_when_there_is_room(
    tmp_path, n_bytes, left
):
    case(2500).write(tmp_path)
    out = tmp_path / "run"
    arguments = ("resolve", tmp_path / "x.parquet", "--beliefs", tmp_path / "excluded.csv", *QUICK)
    code, _, wrong = ended(started(*arguments, "--out", out, preexec_fn=limited(n_bytes)))
    assert (code, wrong.count("\n"), wrong[:7]) == (1, 1, "error: ")
    assert "grows beyond the largest size allowed" in wrong
    assert sorted(each.name for each in out.glob("*")) == left
    assert [*tmp_path.rglob(".*")] == []
    tacit(*arguments, "--out", out, "--resume")
    tacit(*arguments, "--out", tmp_path / "whole")
    assert content(out) == content(tmp_path / "whole")


def frozen(folder):
    """Whether a folder can be kept from being written to, as root too."""
    if shutil.which("chattr") is None:
        return False
    return subprocess.run(["chattr", "+i", folder], capture_output=True).returncode == 0


def test_folder_that_is_read_only_is_refused(files):
    shut = files / "shut"
    shut.mkdir()
    if not frozen(shut):
        shut.chmod(0o500)
        try:
            (shut / "try").touch()
        except PermissionError:
            pass
        else:
            pytest.skip("this user may write to any folder")
    try:
        arguments = (files / "x.parquet", "--beliefs", files / "excluded.csv")
        assert "cannot be " in refused("resolve", *arguments, "--out", shut / "run")
        assert "cannot be " in refused("resolve", *arguments, "--out", shut)
        assert [*shut.iterdir()] == []
    finally:
        subprocess.run(["chattr", "-i", shut], capture_output=True, check=False)
        shut.chmod(0o700)


def test_memory_that_is_full_ends_with_a_sentence(files, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("tacit.estimator._classifier.fit", fail)
    arguments = (files / "x.parquet", "--beliefs", files / "excluded.csv")
    done = tacit("resolve", *arguments, "--out", files / "run", code=1)
    assert done.stderr.startswith("error: the memory is full; lower --batch-size")
    assert not (files / "run").exists()


def test_warnings_of_libraries_are_a_line_each(files, monkeypatch):
    def warn(*given, **named):
        warnings.simplefilter("always")
        warnings.warn("two\nlines", stacklevel=1)
        return fit(*given, **named)

    monkeypatch.setattr("tacit.table._resolve._fit", warn)
    assert resolve(files, "--out", files / "run").stderr == "warning: two lines\n"
