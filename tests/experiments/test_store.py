"""Records keep each cell as soon as it is added, and are not taken for others."""

import json

import numpy as np
import pytest

from experiments._store import Store
from tacit.errors import InvalidInputError

HERE = {"device": "some", "commit": "abc"}
CELLS = [
    ({"set": name, "step": step, "seed": seed}, {"test": seed + step, "list": [1, None]})
    for seed in (1, 0)
    for name in ("b", "a")
    for step in (0.002, 0.01)
]


def filled(path, cells=CELLS):
    store = Store(path, "some")
    store.begin(HERE, data={})
    for cell, figures in cells:
        store.add(cell, figures)
    return store


def refused(call, *arguments, **named):
    """The one sentence by which something is refused."""
    with pytest.raises(InvalidInputError) as caught:
        call(*arguments, **named)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


def test_record_says_what_was_put_in(tmp_path):
    filled(tmp_path / "new" / "r.json")
    again = Store(tmp_path / "new" / "r.json", "some")
    assert len(again) == len(CELLS)
    for cell, figures in CELLS:
        assert cell in again
        assert again[dict(reversed(cell.items()))] == figures
    assert {"set": "a", "step": 0.002, "seed": 7} not in again
    assert again.circumstances == [HERE]


def test_each_cell_has_a_line(tmp_path):
    path = tmp_path / "r.json"
    filled(path)
    lines = path.read_text().splitlines()
    for cell, figures in CELLS:
        (line,) = (line for line in lines if json.dumps(cell)[:-1] in line)
        assert json.loads(line.rstrip(",")) == cell | {"circumstances": 0, "figures": figures}


def test_cells_that_are_added_later_join_those_that_are_there(tmp_path):
    path = tmp_path / "r.json"
    filled(path, CELLS[:3])
    other = HERE | {"commit": "def"}
    store = Store(path, "some")
    store.begin(other, data={})
    for cell, figures in CELLS[2:]:
        store.add(cell, figures)
    filled(path, CELLS[:1])
    again = Store(path, "some")
    assert [cell in again for cell, _ in CELLS] == [True] * len(CELLS)
    assert again.circumstances == [HERE, other]
    lines = json.loads(path.read_text())["cells"]
    assert [line["circumstances"] for line in lines] == [0, 0] + [1] * (len(CELLS) - 2)


def test_circumstances_and_data_are_those_of_cells(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.arange(3))
    store = filled(tmp_path / "r.json", CELLS[:1])
    store.begin(HERE | {"commit": "def"}, data={"x.npz": tmp_path / "x.npz"})
    assert (store.circumstances, store.data) == ([HERE], {})
    store.add(*CELLS[1])
    assert len(store.circumstances) == 2
    assert [*Store(store.path, "some").data] == ["x.npz"]


def test_record_is_whole_after_each_cell_and_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    store = filled(path, [])
    for number, (cell, figures) in enumerate(CELLS[:4]):
        store.add(cell, figures)
        assert len(Store(path, "some")) == number + 1

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit._files.os.fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        store.add(*CELLS[4])
    assert len(Store(path, "some")) == 4
    assert [*tmp_path.iterdir()] == [path]


def test_matching_cells_come_by_seed_and_settings_as_measured(tmp_path):
    store = filled(tmp_path / "r.json")
    found = [(cell["seed"], cell["step"]) for cell, _ in store.matching(set="a")]
    assert found == [(0, 0.002), (0, 0.01), (1, 0.002), (1, 0.01)]
    assert [*store.matching(set="a", step=0.5)] == []
    assert store.settings("set") == ["b", "a"]
    assert store.settings("seed") == [1, 0]
    assert store.settings("nothing") == []


def test_record_of_another_experiment_is_refused(tmp_path):
    filled(tmp_path / "r.json")
    said = refused(Store, tmp_path / "r.json", "other")
    assert "is the record of 'some', not of 'other'" in said


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"experiment": "some"}', '{"experiment": "some", "data": {}, "cells": {', 300],
)
def test_file_that_is_no_record_is_refused(tmp_path, text):
    path = tmp_path / "r.json"
    filled(path)
    path.write_text(path.read_text()[:text] if isinstance(text, int) else text)
    assert "must be the record of an experiment" in refused(Store, path, "some")


def begun(record, file):
    store = Store(record, "some")
    store.begin(HERE, data={"x": file})
    store.add(*CELLS[0])
    return store.data["x"]


def test_checksum_is_of_arrays_and_not_of_their_packing(tmp_path):
    arrays = {"x": np.arange(12.0).reshape(3, 4), "y": np.arange(3)}
    np.savez(tmp_path / "plain.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **dict(reversed(arrays.items())))
    record = tmp_path / "r.json"
    assert begun(record, tmp_path / "plain.npz") == begun(record, tmp_path / "packed.npz")


@pytest.mark.parametrize(
    "changed",
    [
        {"x": np.arange(12.0).reshape(4, 3)},
        {"x": np.arange(12).reshape(3, 4)},
        {"z": np.arange(12.0).reshape(3, 4)},
        {"x": np.arange(12.0)[::-1].reshape(3, 4)},
    ],
)
def test_other_arrays_are_refused(tmp_path, changed):
    np.savez(tmp_path / "one.npz", x=np.arange(12.0).reshape(3, 4))
    np.savez(tmp_path / "other.npz", **changed)
    begun(tmp_path / "r.json", tmp_path / "one.npz")
    said = refused(begun, tmp_path / "r.json", tmp_path / "other.npz")
    assert "is not the file that" in said
    assert "--out" in said


def test_file_that_is_no_archive_is_told_by_its_bytes(tmp_path):
    file = tmp_path / "x.gz"
    file.write_bytes(b"one")
    begun(tmp_path / "r.json", file)
    file.write_bytes(b"two")
    assert "is not the file that" in refused(begun, tmp_path / "r.json", file)


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 and no more", b"text"])
def test_data_that_cannot_be_read_is_refused(tmp_path, content):
    file = tmp_path / "x.npz"
    if content is not None:
        file.write_bytes(content)
    said = refused(begun, tmp_path / "r.json", file)
    assert f"'{file}' cannot be read" in said
    assert not (tmp_path / "r.json").exists()
