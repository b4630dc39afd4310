"""Whatever the bytes of a file of votes are, it is read, or refused with a sentence."""

import functools
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.table import Cooccurrence, read_beliefs, read_cooccurrence, read_taxonomy
from tacit.table._count import own_rows
from tests.table.ballots import Cast, save_json
from tests.table.cases import save
from tests.table.test_fuzz import check

KNOWN = Cast(
    [f"row {row}" for row in range(5)],
    ["ann", "ben", "cem"],
    ["a", "b"],
    np.array([[0, 1, -1], [1, 1, 1], [0, -1, 0], [-1, 0, 0], [1, 1, 0]]),
)
TABLE = Cooccurrence(("a", "b"), ("x", "y"), torch.eye(2))
ROWS = {"name": ["s", "a", "b", "c"], "parent": [None, "s", "s", None]}

votes = functools.partial(read_beliefs, ids=KNOWN.ids, n_rows=5)
by_key = functools.partial(read_beliefs, ids=None, n_rows=5)
observed = functools.partial(votes, cooccurrence=TABLE)
SEEDS = {
    "rows.parquet": (KNOWN.columns(), votes),
    "rows.csv": (KNOWN.columns() | {"weight": np.ones(len(KNOWN.votes()))}, votes),
    "rows.npz": (KNOWN.columns(), votes),
    "matrix.parquet": (KNOWN.matrix(), votes),
    "matrix.csv": (KNOWN.named_matrix(), votes),
    "matrix.npz": ({"votes": KNOWN.said, "ids": KNOWN.ids}, votes),
    "observed.csv": ({"id": KNOWN.ids, "observed": list("ababa")}, observed),
    "wrench.json": (KNOWN.wrench(), votes),
    "wrench.jsonl.gz": (KNOWN.wrench(), votes),
    "label_studio.json": (KNOWN.label_studio(), by_key),
    "argilla.jsonl": (KNOWN.argilla(), votes),
    "tree.json": ({"s": ["a", "b"], "c": None}, read_taxonomy),
    "tree.yaml": ("s: [a, b]\nc:\n  d:\n    - e\n    - f\n", read_taxonomy),
    "tree.csv": (ROWS, read_taxonomy),
    "table.csv": ({"zone": ["a", "b"], "x": [1, 0], "y": [2, 3]}, read_cooccurrence),
}


def written(path, content):
    if isinstance(content, str):
        path.write_text(content)
    elif ".json" in path.name:
        save_json(path, content)
    else:
        save(path, content)
    return path.read_bytes()


@pytest.fixture(scope="module", params=SEEDS)
def seed(request, tmp_path_factory):
    """A sound file, what is in it, and what reads it."""
    content, read = SEEDS[request.param]
    path = tmp_path_factory.mktemp("fuzz") / request.param
    return path, written(path, content), read


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


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside),
    max_leaves=6,
)


@given(data=st.data())
@settings(max_examples=60)
@pytest.mark.parametrize("name", [name for name in SEEDS if ".json" in name])
def test_record_with_another_value_somewhere_is_read_or_refused(folder, name, data):
    content, read = SEEDS[name]
    changed = json.loads(json.dumps(content))
    inside = changed
    while data.draw(st.booleans()) and inside and isinstance(inside, dict | list):
        places = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        place = data.draw(st.sampled_from(places))
        if not isinstance(inside[place], dict | list) or data.draw(st.booleans()):
            inside[place] = data.draw(VALUES)
            break
        inside = inside[place]
    check(folder / name, save_json(folder / name, changed).read_bytes(), read)


@given(content=st.text('ab01,;|-"\n\r\t. idtaskworkerlabelvote_', max_size=80))
@settings(max_examples=150)
def test_random_text_is_read_or_refused(folder, content):
    for name in ("x.csv", "x.jsonl"):
        check(folder / name, content.encode(), votes)
        check(folder / name, content.encode(), lambda path: own_rows([str(path)], None))


def test_sound_file_is_read(seed):
    path, sound, read = seed
    path.write_bytes(sound)
    assert read(path) is not None
