"""Whatever the bytes of a file are, it is read, or refused with a sentence."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tacit.errors import InvalidInputError
from tacit.table import read_beliefs, read_features
from tests.table.cases import save

IDS = [f"row {row}" for row in range(7)]
NUMBERS = np.random.default_rng(0).random((7, 3)).astype(np.float32)
LISTS = [["a", "b"], ["c"], [], ["a"], ["b", "c"], ["a", "c"], ["b"]]

beliefs = functools.partial(read_beliefs, ids=IDS, n_rows=7)
pairs = functools.partial(beliefs, classes=3)


def images(path):
    return read_features(path.parent)


COLUMNS = {"id": IDS} | {f"f{place}": NUMBERS[:, place] for place in range(3)}
PAIRS = {"first": IDS[:2], "second": IDS[2:4], "relation": [">", "!="]}
SEEDS = {
    "features.parquet": (COLUMNS, read_features),
    "features.csv": (COLUMNS, read_features),
    "features.csv.gz": (COLUMNS, read_features),
    "features.npz": ({"X": NUMBERS, "ids": IDS}, read_features),
    "features.npy": (NUMBERS, read_features),
    "beliefs.parquet": (COLUMNS, beliefs),
    "beliefs.csv": (COLUMNS, beliefs),
    "beliefs.npy": (NUMBERS, beliefs),
    "candidates.parquet": ({"id": IDS, "candidates": LISTS}, beliefs),
    "candidates.csv": ({"id": IDS, "candidates": LISTS}, beliefs),
    "labels.npz": ({"label": list("abcabca"), "ids": IDS, "classes": list("abc")}, beliefs),
    "excluded.npz": ({"excluded": NUMBERS > 0.9, "ids": IDS}, beliefs),
    "pairs.parquet": (PAIRS, pairs),
    "pairs.csv": (PAIRS, pairs),
} | {f"x.{suffix}": (NUMBERS, images) for suffix in ("png", "jpg", "tif", "webp", "bmp")}


def written(path, content):
    if path.suffix == ".npy":
        np.save(path, content)
    elif isinstance(content, dict):
        save(path, content)
    else:
        Image.fromarray((255 * content).astype(np.uint8)).save(path)
    return path.read_bytes()


@pytest.fixture(scope="module", params=SEEDS)
def seed(request, tmp_path_factory):
    """A sound file, what is in it, and what reads it."""
    content, read = SEEDS[request.param]
    path = tmp_path_factory.mktemp("fuzz") / request.param
    return path, written(path, content), read


def check(path, content, read):
    """Read a file or see it refused in one line that names it."""
    path.write_bytes(content)
    try:
        read(path)
    except InvalidInputError as error:
        said = str(error)
        assert str(path.parent) in said
        assert "\n" not in said
        assert said.endswith(".")
        assert len(said) < 300 + 3 * len(str(path))


@given(data=st.data())
@settings(max_examples=30)
def test_damaged_file_is_read_or_refused(seed, data):
    path, sound, read = seed
    content = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    check(path, bytes(content), read)


@given(data=st.data())
@settings(max_examples=20)
def test_cut_or_stretched_file_is_read_or_refused(seed, data):
    path, sound, read = seed
    start = data.draw(st.integers(0, len(sound)))
    stop = data.draw(st.integers(start, min(len(sound), start + 40)) | st.just(len(sound)))
    check(path, sound[:start] + data.draw(st.binary(max_size=20)) + sound[stop:], read)


@given(content=st.binary(max_size=200))
@settings(max_examples=15)
def test_random_bytes_are_read_or_refused(seed, content):
    path, _, read = seed
    check(path, content, read)


@given(content=st.text('ab01,;|"\n\r\t. -eidcandidateslabel', max_size=80))
@settings(max_examples=200)
def test_random_text_is_read_or_refused(folder, content):
    for read in (read_features, beliefs):
        check(folder / "x.csv", content.encode(), read)


def test_sound_file_is_read(seed):
    path, sound, read = seed
    path.write_bytes(sound)
    assert len(read(path)) in (1, 7)
