import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInputError
from tacit.sources import Voted, Votes, dawid_skene, majority
from tacit.table import check, read_beliefs
from tests.table.ballots import cast, written
from tests.table.cases import save

ROWS = {
    "task": ["u", "u", "v", "u", "v", "w"],
    "worker": ["ann", "ben", "ben", "cem", "cem", "ann"],
    "label": ["cat", "cat", "dog", "dog", "dog", "cat"],
}


def read(path, **options):
    return read_beliefs(path, **({"ids": ["u", "v", "w"], "n_rows": 3} | options))


def refusal(path, **options):
    with pytest.raises(InvalidInputError) as caught:
        read(path, **options)
    return str(caught.value)


def shown(known, path, **options):
    return read_beliefs(
        path, ids=known.ids, n_rows=len(known.ids), classes=known.classes, **options
    )


@given(known=cast())
@settings(max_examples=25)
def test_all_ways_of_stating_votes_agree(folder, known):
    crowd, matrices = written(folder, known)
    for path in (*crowd, *matrices):
        beliefs = shown(known, path, votes="majority")
        assert beliefs.votes.counts().tolist() == known.counts()
        assert torch.equal(beliefs.belief.marginals(), majority(beliefs.votes).marginals())
        assert (beliefs.kind, beliefs.classes) == ("votes", tuple(known.classes))
        assert beliefs.n_informed == int((known.said >= 0).any(1).sum())
        assert beliefs.votes.all_asked == (path in matrices)


@given(known=cast(enough=True))
@settings(max_examples=15)
def test_votes_are_weighed_alike_in_all_formats(folder, known):
    for paths, all_asked in zip(written(folder, known), (False, True), strict=True):
        votes = Votes.from_matrix(known.said, n_classes=len(known.classes), all_asked=all_asked)
        expected = dawid_skene(votes).marginals()
        for path in paths:
            beliefs = shown(known, path)
            assert torch.allclose(beliefs.belief.marginals(), expected, atol=1e-4)
            assert isinstance(beliefs.belief, Voted)


@given(known=cast(), data=st.data())
@settings(max_examples=20)
def test_order_of_votes_does_not_matter(folder, known, data):
    columns = known.columns("id")
    order = data.draw(st.permutations(range(len(columns["id"]))))
    turned = {name: [values[row] for row in order] for name, values in columns.items()}
    first = shown(known, save(folder / "order.csv", columns))
    second = shown(known, save(folder / "order.csv", turned))
    assert first.sources == second.sources
    assert torch.allclose(first.belief.marginals(), second.belief.marginals(), atol=1e-5)
    assert set(first.notes) == set(second.notes)


@pytest.mark.parametrize("item", ["task", "item", "id", "picture"])
def test_column_of_instances_goes_by_several_names(tmp_path, item):
    columns = {item: ROWS["task"], "worker": ROWS["worker"], "label": ROWS["label"]}
    named = {"id_column": item} if item == "picture" else {}
    for path in (save(tmp_path / "v.csv", columns), save(tmp_path / "v.npz", columns)):
        beliefs = read(path, **named)
        assert beliefs.votes.counts().tolist() == [[2, 1], [0, 2], [1, 0]]
        assert beliefs.sources == ("ann", "ben", "cem")
        assert beliefs.classes == ("cat", "dog")


def test_instances_go_by_their_rows_where_the_features_have_no_ids(tmp_path):
    columns = {"task": [2, 0, 2], "worker": [10, 9, 9], "label": [1, 0, 1]}
    for path in (save(tmp_path / "v.csv", columns), save(tmp_path / "v.parquet", columns)):
        beliefs = read(path, ids=None)
        assert beliefs.votes.counts().tolist() == [[1, 0], [0, 0], [0, 2]]
        assert beliefs.sources == ("9", "10")
        assert "Nothing is known of 1 of 3 rows." in beliefs.notes


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ([[0, 1, 1], [1, 1, 0], [0, 0, 1]], "dawid_skene"),
        ([[0, 1, 1], [1, 1, 0], [0, -1, -1]], "majority"),  # asked, and silent
        ([[0, 1, -1], [1, 1, -1], [0, 0, -1]], "majority"),  # two sources
    ],
)
def test_sources_are_weighed_where_votes_tell_of_them(tmp_path, said, way):
    np.save(tmp_path / "v.npy", np.array(said))
    beliefs = read(tmp_path / "v.npy", ids=None)
    assert any(note.endswith(f"were combined by {way}.") for note in beliefs.notes)
    assert isinstance(beliefs.belief, Voted) == (way == "dawid_skene")
    assert isinstance(read(tmp_path / "v.npy", ids=None, votes="dawid_skene").belief, Voted)


def test_weights_of_votes_count(tmp_path):
    columns = {**ROWS, "weight": [0.5, 1, 1, 0.25, 2, 1]}
    for suffix in (".csv", ".parquet", ".npz"):
        beliefs = read(save(tmp_path / f"v{suffix}", columns))
        assert beliefs.votes.counts().tolist() == [[1.5, 0.25], [0, 3], [1, 0]]


def test_empty_labels_abstain(tmp_path):
    columns = {**ROWS, "label": ["cat", None, "", "dog", "dog", " "]}
    beliefs = read(save(tmp_path / "v.csv", columns))
    assert beliefs.votes.counts().tolist() == [[1, 1], [0, 1], [0, 0]]
    assert "1 of 3 sources abstain everywhere: ben." in beliefs.notes


def test_silence_tells_nothing_of_rows_that_nobody_was_asked_about(tmp_path):
    said = {f"vote_{place}": [0, 1, 1, 0, -1] for place in range(3)}
    path = save(tmp_path / "v.csv", {"id": list("abcde"), **said})
    weighed = {"votes": "dawid_skene"}
    all_rows = read(path, ids=list("abcde"), n_rows=5, **weighed).belief.marginals()
    beliefs = read(path, ids=list("xbadcey"), n_rows=7, **weighed)
    marginals = beliefs.belief.marginals()
    assert marginals[[0, 6]].tolist() == [[0.5, 0.5]] * 2
    assert torch.allclose(marginals[[2, 1, 4, 3, 5]], all_rows, atol=1e-5)
    assert "1 rows have no votes, and go by the silence of all sources." in beliefs.notes
    assert "Nothing is known of 2 of 7 rows." in beliefs.notes


def test_odd_votes_are_noted(tmp_path):
    columns = {name: [*values, values[0]] for name, values in ROWS.items()}
    notes = read(save(tmp_path / "v.csv", columns), classes=["cat", "dog", "yak"]).notes
    again = "1 votes are a further one of the same worker on the same instance; all count."
    assert again in notes
    assert "Nobody votes for yak." in notes
    np.save(tmp_path / "v.npy", np.eye(3, dtype=int))
    assert read(tmp_path / "v.npy", ids=None).notes[0].startswith("No source abstains anywhere")


def test_votes_on_other_instances_are_passed_over_and_noted(tmp_path):
    columns = {name: [*values, values[0]] for name, values in ROWS.items()}
    columns["task"][2:4] = "x", "x"
    beliefs = read(save(tmp_path / "v.csv", columns))
    assert len(beliefs.votes) == 5
    assert "2 of 7 rows were passed over, as no features have their ids: x." in beliefs.notes


def test_sources_that_all_abstain_say_nothing(tmp_path):
    np.save(tmp_path / "v.npy", np.full((3, 4), -1))
    for way in (None, "dawid_skene", "majority"):
        beliefs = read(tmp_path / "v.npy", ids=None, classes=["a", "b"], votes=way)
        assert beliefs.n_informed == 0
        assert beliefs.belief.marginals().tolist() == [[0.5, 0.5]] * 3


def test_hopeless_workers_leave_sound_beliefs(tmp_path):
    rows = [(item, worker, "cat") for item in "uvw" for worker in ("always", "too")]
    rows += [("u", "once", "dog")]
    columns = dict(zip(("task", "worker", "label"), zip(*rows, strict=True), strict=True))
    beliefs = read(save(tmp_path / "v.csv", {name: [*each] for name, each in columns.items()}))
    assert torch.isfinite(beliefs.belief.marginals()).all()
    assert beliefs.belief.marginals()[1:].argmax(1).tolist() == [0, 0]


def test_places_in_a_matrix_are_those_of_the_classes(tmp_path):
    keys = {"votes": np.array([[0, 1], [2, -1], [1, 1]]), "classes": ["a", "b", "c"]}
    path = save(tmp_path / "v.npz", keys)
    assert read(path, ids=None).classes == ("a", "b", "c")
    turned = read(path, ids=None, classes=["c", "a", "b"])
    assert turned.votes.counts().tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 2]]


def test_check_counts_the_instances_that_votes_name(tmp_path):
    for suffix in (".csv", ".npz"):
        found = check(str(save(tmp_path / f"v{suffix}", ROWS)))
        assert (found.kind, found.n_instances, found.classes) == ("votes", 3, ("cat", "dog"))


MATRIX = {"id": ["u", "v"], "vote_a": [0, -1], "vote_b": [1, 1]}
REFUSALS = {
    "no label": ({"task": ["u"], "worker": ["a"]}, "holds votes without `label`; save all of"),
    "no instances": ({"worker": ["a"], "label": ["cat"]}, "has no column `task`, `item` or `id`"),
    "two instances": (ROWS | {"id": list("uvwuvw")}, "may name its instances by `task` or by `id`"),
    "nameless worker": (ROWS | {"worker": [*"abcde", ""]}, "row 5 (counted from 0), column `work"),
    "nameless instance": (ROWS | {"task": ["", *"uvwuv"]}, "column `task`: has no id"),
    "unknown class": (
        ROWS | {"label": ["cat", "cta", *["dog"] * 4]},
        "row 1 (id u), column `label`: names the class cta, which is unknown (did you mean `cat`?)",
    ),
    "unknown instances": (
        ROWS | {"task": list("xyzxyz")},
        "has no id that the features have: x, y",
    ),
    "two kinds": (ROWS | {"candidates": ["cat"] * 6}, "as votes, and by candidates in another"),
    "kinds and matrix": (MATRIX | {"label": ["cat", "dog"]}, "as votes, and by label in another"),
    "no weight": (
        ROWS | {"weight": [1, 0, 1, 1, 1, 1]},
        "row 1 (id u), column `weight`: holds 0.0",
    ),
    "missing weight": (ROWS | {"weight": [None, 1, 1, 1, 1, 1]}, "column `weight`: holds nan"),
    "fraction": (
        MATRIX | {"vote_a": [0.5, -1]},
        "row 0 (id u), column `vote_a`: holds 0.5, which is no vote; write the number of a class",
    ),
    "below -1": (MATRIX | {"vote_b": [1, -2]}, "row 1 (id v), column `vote_b`: holds -2.0, which"),
    "beyond the classes": (
        MATRIX | {"vote_b": [1, 2]},
        "row 1 (id v), column `vote_b`: votes for class 2, and there are 2, from 0 to 1",
    ),
    "truths": (MATRIX | {"vote_a": [True, False]}, "column `vote_a`: holds true and false"),
    "unknown name": (
        {"id": ["u", "v"], "lf_a": ["cat", "-1"], "lf_b": ["", "cow"]},
        "row 1 (id v), column `lf_b`: names the class cow, which is unknown",
    ),
    "capitals": ({"Worker": ["a"], "x": [1]}, "(did you mean `worker`?)"),
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(("columns", "sentence"), REFUSALS.values(), ids=REFUSALS)
def test_bad_table_of_votes_is_refused(tmp_path, columns, sentence, suffix):
    path = save(tmp_path / f"bad{suffix}", columns)
    said = refusal(path, classes=["cat", "dog"])
    assert said.startswith(f"`{path}`")
    assert sentence in said


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            {"votes": np.zeros((3, 2))},
            "holds votes of float64 with shape (3, 2); save signed whole",
        ),
        ({"votes": np.zeros((3, 2), np.uint8)}, "holds votes of uint8"),
        ({"votes": np.zeros((3, 0), int)}, "with shape (3, 0)"),
        ({"votes": np.zeros(3, int)}, "with shape (3,)"),
        ({"votes": np.zeros((2, 2), int)}, "has 2 rows, and the features have 3"),
        ({"votes": np.zeros((3, 2), int)}, "names one class only, 0; with fewer than two"),
        ({"votes": np.full((3, 2), -1)}, "names no class"),
        ({"votes": np.full((3, 2), 1 << 40)}, "column `0`: holds 1099511627776, which is no vote"),
        ({"votes": np.eye(3, dtype=int), "sources": ["a", "b"]}, "of 3 sources and 2 different"),
        ({"votes": np.eye(3, dtype=int), "sources": list("aab")}, "column `sources`: holds votes"),
        ({"votes": np.eye(3, dtype=int), "classes": ["a"]}, "votes for class 1, and there are 1"),
        ({"votes": np.eye(3, dtype=int), "label": [0, 1, 2]}, "more than one way"),
        ({"votes": -np.ones((3, 2, 2))}, "row 0 (counted from 0), column `0`: holds -1.0 for the"),
        ({"votes": np.ones((3, 2, 1))}, "has 1 columns of classes"),
        ({"worker": [1], "label": [0, 1], "task": [0]}, "holds 1 task and 1 worker and 2 label"),
        ({"worker": [1], "label": ["a"], "task": [0], "weight": [1, 2]}, "1 label and 2 weight"),
        (
            {"worker": [1], "label": ["a"], "task": [0], "weight": ["x"]},
            "column `weight`: holds <U",
        ),
        ({"worker": [1], "label": ["a"]}, "has no column `task`, `item` or `id`"),
    ],
)
def test_bad_keys_of_votes_are_refused(tmp_path, keys, sentence):
    assert sentence in refusal(save(tmp_path / "bad.npz", keys), ids=None)


def test_instances_by_text_need_ids_of_the_features(tmp_path):
    said = refusal(save(tmp_path / "v.csv", ROWS), ids=None)
    assert "names instances by text, and the features have no ids and go by their numbers" in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"votes": "majorty"},
            "`votes` must be one of dawid_skene, majority, but it is 'majorty' (",
        ),
        ({"votes": "snorkel"}, "but it is 'snorkel'; pick one"),
        ({"taxonomy": "tree.yaml"}, "`taxonomy` must be a Taxonomy, but it is 'tree.yaml'; pass"),
        (
            {"cooccurrence": {}},
            "`cooccurrence` must be a Cooccurrence, but it is {}; pass read_coo",
        ),
        ({"question": 7}, "`question` must be a str, but it is 7; pass its name"),
    ],
)
def test_bad_option_is_refused(tmp_path, options, sentence):
    assert sentence in refusal(save(tmp_path / "v.csv", ROWS), **options)


def test_reliabilities_beyond_the_memory_are_refused(tmp_path, monkeypatch):
    path = save(tmp_path / "v.parquet", {**ROWS, "label": pa.array(range(6))})
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": 99_000}.get)
    assert "try votes='majority', split it" in refusal(path, classes=40, votes="dawid_skene")
    assert read(path, classes=40, votes="majority").n_informed == 3


def test_one_large_number_makes_no_classes(tmp_path):
    columns = {"id": list("uvw"), "lf_x": [0, 1, 1 << 20], "lf_y": [0, 1, 1]}
    path = save(tmp_path / "v.csv", columns)
    with pytest.raises(InvalidInputError, match=r"\(id w\), column `lf_x`: votes for class 10"):
        read_beliefs(path, ids=list("uvw"), n_rows=3)
    assert len(read_beliefs(path, ids=list("uvw"), n_rows=3, classes=(1 << 20) + 1).classes) > 1e6
