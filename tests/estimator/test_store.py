"""Models at rest: the same when they come back, and refused with a sentence when they are not."""

import errno
import hashlib
import json
import os
import pickletools
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from scipy import sparse
from torch import nn

from tacit import EM, BeliefClassifier, TrackedMass
from tacit.errors import ModelError
from tacit.estimator._store import DESCRIPTION
from tacit.fitting import Execution
from tests.estimator.cases import N_CLASSES, N_FEATURES, clouds, quick, same

X, TRUTH, BELIEF = clouds()
SEVERAL = {
    "perceptron": {},
    "linear": {"predictor": "linear"},
    "members": {"n_members": 3},
    "unscaled": {"scale": False},
    "objective": {"objective": EM(TrackedMass()), "random_state": np.int64(7)},
    "numbers of numpy": {"n_members": np.int64(2), "tempering": np.float32(0.5)},
    "execution": {"execution": Execution(hold="no")},
    "no seed": {"random_state": np.random.RandomState(0)},
}


@pytest.fixture
def model():
    return quick().fit(X, BELIEF)


@pytest.fixture
def folder(tmp_path, model):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def alike(first, second, features=X):
    return (
        same(first, second)
        and np.array_equal(first.posterior(features, BELIEF), second.posterior(features, BELIEF))
        and np.array_equal(first.predict(features), second.predict(features))
    )


@pytest.mark.parametrize("settings", SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loaded_model_is_the_same_to_the_bit(settings, dtype, tmp_path):
    model = quick(**settings).fit(X.astype(dtype), BELIEF)
    model.save(tmp_path / "model")
    loaded = BeliefClassifier.load(tmp_path / "model")
    assert alike(model, loaded)
    assert loaded.check().tempering == model.tempering
    assert loaded.n_features_in_ == N_FEATURES


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_loaded_model_learns_on(learn, tmp_path):
    model = getattr(quick(), learn)(X, BELIEF)
    model.save(tmp_path / "model")
    loaded = BeliefClassifier.load(tmp_path / "model").partial_fit(X, BELIEF)
    if learn == "fit":
        assert same(loaded, model.partial_fit(X, BELIEF))
    assert np.isfinite(loaded.predict_proba(X)).all()
    assert same(loaded.fit(X, BELIEF), quick().fit(X, BELIEF))


@pytest.mark.parametrize(
    "names", [["ä", "bee", "c"], [5, -1, 7], [0.0, 2.0, 1.0], np.array([0, 200, 100], np.uint8)]
)
def test_names_of_classes_come_back(names, tmp_path):
    model = quick(classes=names).fit(X, BELIEF)
    model.save(tmp_path / "model")
    loaded = BeliefClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    assert loaded.classes_.dtype == model.classes_.dtype


def test_truth_values_come_back(tmp_path):
    model = quick().fit(X, TRUTH > 0)
    model.save(tmp_path / "model")
    loaded = BeliefClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_names_of_features_come_back(tmp_path):
    frame = pd.DataFrame(X, columns=["north", "east", "up", "größe"])
    quick().fit(frame, BELIEF).save(tmp_path / "model")
    loaded = BeliefClassifier.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


def test_images_and_sparse_features_come_back(tmp_path):
    images = np.random.default_rng(0).random((90, 2, 10, 12)).astype(np.float32)
    for name, features in (("images", images), ("sparse", sparse.csr_matrix(X))):
        model = quick(epochs=1).fit(features, BELIEF)
        model.save(tmp_path / name)
        assert alike(model, BeliefClassifier.load(tmp_path / name), features)


def test_strata_come_back(tmp_path):
    strata = np.arange(90) % 2
    model = quick().fit(X, BELIEF, strata=strata)
    model.save(tmp_path / "model")
    loaded = BeliefClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.posterior(X, BELIEF, strata=strata), model.posterior_)


def test_held_out_evidence_comes_back(tmp_path):
    model = quick(held_out=0.2).fit(X, BELIEF)
    model.save(tmp_path / "model")
    assert BeliefClassifier.load(tmp_path / "model").held_out_evidence_ == model.held_out_evidence_


def own_network():
    return nn.Linear(N_FEATURES, N_CLASSES)


@pytest.mark.parametrize("predictor", [own_network(), lambda _: own_network()])
def test_own_network_comes_back_where_it_is_passed_again(predictor, tmp_path):
    model = quick(predictor=predictor).fit(X, BELIEF)
    model.save(tmp_path / "model")
    assert alike(model, BeliefClassifier.load(tmp_path / "model", predictor=predictor))
    assert alike(model, BeliefClassifier.load(tmp_path / "model", predictor=own_network()))


@pytest.mark.parametrize(
    ("predictor", "sentence"),
    [
        (None, "a network of somebody's own"),
        (nn.Linear(N_FEATURES, 5), "does not fit the stored weights"),
        (nn.Sequential(own_network()), "does not fit the stored weights"),
        (lambda _: 3, "does not fit the stored weights"),
    ],
)
def test_other_network_than_that_which_was_stored_is_refused(predictor, sentence, tmp_path):
    quick(predictor=own_network()).fit(X, BELIEF).save(tmp_path / "model")
    with pytest.raises(ModelError, match=sentence):
        BeliefClassifier.load(tmp_path / "model", predictor=predictor)


def test_network_for_a_predictor_by_name_is_refused(folder):
    with pytest.raises(ModelError, match="made with predictor 'auto'; leave `predictor` out"):
        BeliefClassifier.load(folder, predictor=own_network())


def test_stored_model_holds_json_and_safetensors_alone(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", "weights.safetensors"]
    assert json.loads((folder / "model.json").read_text("utf-8"))["what"] == "a model of tacit"
    assert load_file(folder / "weights.safetensors")
    for path in folder.iterdir():
        with pytest.raises(ValueError, match=r"opcode|no newline|not enough|pickle"):
            list(pickletools.genops(path.read_bytes()))


def test_nothing_is_unpickled(folder, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a pickle was read")

    for name in ("pickle.load", "pickle.loads", "pickle.Unpickler", "torch.load"):
        monkeypatch.setattr(name, refuse)
    assert BeliefClassifier.load(folder).n_features_in_ == N_FEATURES


def test_model_may_be_moved(folder, model, tmp_path):
    moved = folder.rename(tmp_path / "elsewhere")
    assert alike(BeliefClassifier.load(str(moved)), model)


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors"])
def test_truncated_file_is_refused(folder, name):
    body = (folder / name).read_bytes()
    for length in (0, 1, len(body) // 2, len(body) - 1):
        (folder / name).write_bytes(body[:length])
        with pytest.raises(ModelError, match="go back to a copy") as refusal:
            BeliefClassifier.load(folder)
        assert name in str(refusal.value)


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors"])
def test_changed_byte_is_refused(folder, name):
    body = bytearray((folder / name).read_bytes())
    for place in np.random.default_rng(0).integers(0, len(body), 25):
        changed = body.copy()
        changed[place] ^= 1
        (folder / name).write_bytes(changed)
        with pytest.raises(ModelError, match=r"'.*'.*;"):
            BeliefClassifier.load(folder)


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors"])
def test_missing_file_is_refused(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=r"is no model|cannot be read"):
        BeliefClassifier.load(folder)


def test_edited_setting_is_refused(folder):
    path = folder / "model.json"
    path.write_text(path.read_text("utf-8").replace('"tempering": 1.0', '"tempering": 9.0'))
    with pytest.raises(ModelError, match="was changed after it was written"):
        BeliefClassifier.load(folder)


def rewritten(path, **changes):
    """Change a description as another version of tacit might write it."""
    described = json.loads(path.read_text("utf-8")) | changes
    del described["sha256"]
    plain = json.dumps(described, sort_keys=True, ensure_ascii=False)
    described["sha256"] = hashlib.sha256(plain.encode()).hexdigest()
    path.write_text(json.dumps(described), "utf-8")


@pytest.mark.parametrize("number", [2, 0, None, "1"])
def test_other_format_is_refused(folder, number):
    rewritten(folder / "model.json", format=number, tacit="9.0")
    with pytest.raises(ModelError, match=r"has format .* reads 1; use the tacit that wrote it"):
        BeliefClassifier.load(folder)


@pytest.mark.parametrize(
    "content",
    ["{}", "[]", "3", "null", '{"what": "a run of tacit"}', "[" * 100_000, "\ufeff{}", "\0"],
)
def test_file_that_describes_no_model_is_refused(folder, content):
    (folder / "model.json").write_text(content, "utf-8")
    with pytest.raises(ModelError, match=r"does not describe a model|cannot be read"):
        BeliefClassifier.load(folder)


def test_what_is_no_folder_of_a_model_is_refused(tmp_path):
    (tmp_path / "file").write_text("x", "utf-8")
    (tmp_path / "empty").mkdir()
    for name in ("file", "empty", "nowhere", "file/below"):
        with pytest.raises(ModelError, match=r"is no model: .* pass the folder that `save` wrote"):
            BeliefClassifier.load(tmp_path / name)


def test_saving_makes_the_folders_above(model, tmp_path):
    model.save(tmp_path / "a" / "b" / "model")
    assert alike(BeliefClassifier.load(tmp_path / "a" / "b" / "model"), model)


def test_saving_over_a_model_is_refused_unless_asked(folder, model):
    other = quick(random_state=1).fit(X, BELIEF)
    with pytest.raises(ModelError, match="holds a model already; pass overwrite=True"):
        other.save(folder)
    assert alike(BeliefClassifier.load(folder), model)
    other.save(folder, overwrite=True)
    assert alike(BeliefClassifier.load(folder), other)
    model.save(folder, overwrite=True)
    assert alike(BeliefClassifier.load(folder), model)
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("overwrite", [False, True])
def test_saving_over_something_else_is_refused(model, tmp_path, overwrite):
    (tmp_path / "file").write_text("x", "utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("x", "utf-8")
    for name in ("file", "full"):
        with pytest.raises(ModelError, match="is something else already; choose another name"):
            model.save(tmp_path / name, overwrite=overwrite)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "thesis.tex"]


def test_empty_folder_may_be_saved_to(model, tmp_path):
    (tmp_path / "model").mkdir()
    model.save(tmp_path / "model")
    assert alike(BeliefClassifier.load(tmp_path / "model"), model)


@pytest.mark.parametrize("overwrite", [False, True])
def test_full_disk_leaves_the_old_model_or_nothing(folder, model, overwrite, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    place = folder if overwrite else folder.parent / "new"
    with pytest.raises(
        ModelError, match=f"'{place}/weights.*' cannot be written .the disk is full"
    ):
        quick(random_state=1).fit(X, BELIEF).save(place, overwrite=overwrite)
    assert list(folder.parent.iterdir()) == [folder]
    assert len(list(folder.iterdir())) == 2
    assert alike(BeliefClassifier.load(folder), model)


def test_folder_that_cannot_be_made_is_refused(model, tmp_path):
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(ModelError, match=r"file/model' cannot be written \(.*\); choose another"):
        model.save(tmp_path / "file" / "model")


class KilledError(BaseException):
    """What nobody catches."""


def stopped_at(number, monkeypatch):
    """Let the program end before the file operation of that number."""
    count = iter(range(1000))

    def counted(operation):
        def call(*args, **kwargs):
            if next(count) == number:
                raise KilledError
            return operation(*args, **kwargs)

        return call

    for name in ("mkdir", "rename", "replace", "open", "unlink"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))
    monkeypatch.setattr(os, "fsync", counted(os.fsync))


@pytest.mark.parametrize("number", range(14))
@pytest.mark.parametrize("overwrite", [False, True])
def test_stopped_save_leaves_the_old_model_or_the_new(number, overwrite, folder, model, tmp_path):
    other = quick(random_state=1).fit(X, BELIEF)
    place = folder if overwrite else tmp_path / "new"
    with pytest.MonkeyPatch.context() as monkeypatch:
        stopped_at(number, monkeypatch)
        try:
            other.save(place, overwrite=overwrite)
        except KilledError:
            pass
        else:
            number = None
    if overwrite or place.exists():
        found = BeliefClassifier.load(place)
        assert alike(found, other) or (overwrite and number is not None and alike(found, model))
    other.save(place, overwrite=True)
    assert alike(BeliefClassifier.load(place), other)


SAVER = """
import sys
from tacit import BeliefClassifier
first, second = (BeliefClassifier.load(path) for path in sys.argv[1:3])
print("ready", flush=True)
while True:
    first.save(sys.argv[3], overwrite=True)
    second.save(sys.argv[3], overwrite=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(6))
def test_killed_save_leaves_the_old_model_or_the_new(attempt, folder, model, tmp_path):
    other = quick(random_state=1).fit(X, BELIEF)
    other.save(tmp_path / "other")
    model.save(tmp_path / "place")
    command = [sys.executable, "-c", SAVER, folder, tmp_path / "other", tmp_path / "place"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as saver:
        assert saver.stdout.readline() == b"ready\n"
        time.sleep(0.05 + 0.0137 * attempt)
        saver.send_signal(signal.SIGKILL)
    found = BeliefClassifier.load(tmp_path / "place")
    assert alike(found, model) or alike(found, other)


def test_device_that_is_not_there_is_refused(folder):
    with pytest.raises(ValueError, match="`device` must be"):
        BeliefClassifier.load(folder, device="gpu")


def test_description_can_be_read_by_people(folder):
    described = json.loads((folder / DESCRIPTION).read_text("utf-8"))
    assert described["settings"]["learning_rate"] == 0.03
    assert described["classes"]["names"] == [0, 1, 2]
    assert len((folder / DESCRIPTION).read_text("utf-8").splitlines()) > 30
