import operator

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.beliefs import Candidates, Categorical, Pairs
from tacit.table import read_beliefs
from tests.table.cases import IDS, TABLES, save, stated

KINDS = ("probabilities", "candidates", "excluded", "labels")
RELATIONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
}


def read_stated(path, known, **changed):
    options = {"ids": known.ids, "n_rows": len(known.ids), "classes": known.classes}
    return read_beliefs(path, **(options | changed))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=25)
def test_all_ways_of_stating_a_belief_agree(folder, kind, data):
    known = data.draw(stated(kind))
    paths = [save(folder / f"{kind}{suffix}", known.columns(kind)) for suffix in TABLES]
    for path in (*paths, save(folder / f"{kind}.npz", known.keys(kind))):
        beliefs = read_stated(path, known)
        mask = torch.from_numpy(known.mask())
        expected = Candidates.from_mask(mask).marginals()
        assert torch.equal(beliefs.belief.marginals(), expected)
        assert (beliefs.kind, beliefs.classes) == (kind, tuple(known.classes))
        assert len(beliefs) == len(known.ids)
        assert beliefs.n_informed == int((~mask).any(1).sum())
        assert isinstance(beliefs.belief, Categorical if kind == "probabilities" else Candidates)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@given(known=stated(), data=st.data())
@settings(max_examples=25)
def test_order_of_joined_rows_does_not_matter(folder, suffix, known, data):
    kind = data.draw(st.sampled_from(["probabilities", "candidates", "excluded"]))
    order = data.draw(st.permutations(range(len(known.rows))))
    turned = known._replace(
        rows=[known.rows[place] for place in order], sets=[known.sets[place] for place in order]
    )
    first = read_stated(save(folder / f"order{suffix}", known.columns(kind)), known)
    second = read_stated(save(folder / f"order{suffix}", turned.columns(kind)), known)
    assert torch.equal(first.belief.marginals(), second.belief.marginals())
    assert (first.n_informed, first.notes) == (second.n_informed, second.notes)


@given(known=stated(), data=st.data())
@settings(max_examples=25)
def test_order_of_the_classes_is_the_callers(folder, known, data):
    kind = data.draw(st.sampled_from(["probabilities", "candidates", "excluded"]))
    order = data.draw(st.permutations(range(len(known.classes))))
    names = [known.classes[label] for label in order]
    for path in (
        save(folder / "classes.csv", known.columns(kind)),
        save(folder / "classes.npz", known.keys(kind)),
    ):
        plain, turned = (read_stated(path, known, classes=each) for each in (known.classes, names))
        assert turned.classes == tuple(names)
        assert torch.equal(turned.belief.marginals(), plain.belief.marginals()[:, order])


@given(known=stated())
@settings(max_examples=25)
def test_rows_without_ids_are_joined_by_position(folder, known):
    known = known._replace(ids=[known.ids[row] for row in known.rows], rows=range(len(known.rows)))
    mask = known.mask()
    np.save(folder / "c.npy", mask)
    np.save(folder / "p.npy", mask / mask.sum(1, keepdims=True))
    columns = {"candidates": known.columns("candidates")["candidates"]}
    paths = [save(folder / f"position{suffix}", columns) for suffix in (".parquet", ".csv")]
    for path in (*paths, folder / "c.npy", folder / "p.npy"):
        beliefs = read_stated(path, known)
        assert beliefs.notes[0] == "Rows were joined by position, as the file has no ids."
        expected = Candidates.from_mask(torch.from_numpy(mask)).marginals()
        assert torch.allclose(beliefs.belief.marginals(), expected)


@st.composite
def paired(draw):
    """Ids, and pairs of some of them with a relation each."""
    ids = draw(st.lists(IDS, min_size=2, max_size=9, unique=True))
    order = draw(st.permutations(range(len(ids))))
    n_pairs = draw(st.integers(1, len(ids) // 2))
    pairs = [tuple(order[2 * number : 2 * number + 2]) for number in range(n_pairs)]
    return ids, pairs, [draw(st.sampled_from(sorted(RELATIONS))) for _ in pairs]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
@given(case=paired(), n_classes=st.integers(2, 4))
@settings(max_examples=20)
def test_pairs_are_those_of_their_tables(folder, suffix, case, n_classes):
    ids, pairs, relations = case
    sides = {
        side: [ids[pair[place]] for pair in pairs] for place, side in enumerate(("first", "second"))
    }
    path = save(folder / f"pairs{suffix}", sides | {"relation": relations})
    beliefs = read_beliefs(path, ids=ids, n_rows=len(ids), classes=n_classes)
    labels = range(n_classes)
    tables = [
        [[float(RELATIONS[each](a, b)) for b in labels] for a in labels] for each in relations
    ]
    expected = Pairs.from_table(pairs, torch.tensor(tables), n_instances=len(ids))
    evidence = torch.linspace(-1, 2, len(ids) * n_classes).view(len(ids), n_classes)
    posterior, wanted = beliefs.belief.posterior(evidence), expected.posterior(evidence)
    assert torch.allclose(posterior.log_marginals, wanted.log_marginals, atol=1e-5)
    assert (beliefs.kind, beliefs.n_informed) == ("pairs", 2 * len(pairs))


def test_pairs_name_rows_where_the_features_have_no_ids(tmp_path):
    path = save(tmp_path / "p.csv", {"first": ["2"], "second": ["0"], "relation": [" > "]})
    beliefs = read_beliefs(path, ids=None, n_rows=3, classes=["low", "high"])
    assert beliefs.belief.marginals().tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
    assert beliefs.classes == ("low", "high")
    assert beliefs.notes == ("Nothing is known of 1 of 3 rows.",)


@pytest.mark.parametrize(
    ("ids", "file_ids", "order"),
    [
        ([7, 8, 9], ["9", "8", "7"], [2, 1, 0]),
        (["7", "8", "9"], [9, 8, 7], [2, 1, 0]),
        (["7", "8", "x"], ["x", "8", "7"], [2, 1, 0]),
        (np.array([7, 8, 9], np.int16), [9, 7, 8], [1, 2, 0]),
        (pa.array(["a", "b", "c"]).dictionary_encode(), ["c", "b", "a"], [2, 1, 0]),
        (pa.chunked_array([["a"], ["b", "c"]]), ["b", "c", "a"], [2, 0, 1]),
        (None, [2, 0, 1], [1, 2, 0]),
    ],
)
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_numbers_join_their_text(tmp_path, ids, file_ids, order, suffix):
    label = np.array(["x", "y", "z"])
    path = save(tmp_path / f"b{suffix}", {"id": file_ids, "label": list(label)})
    belief = read_beliefs(path, ids=ids, n_rows=3).belief
    assert belief.labels() == [[place] for place in order]


def test_text_as_ids_of_features_without_any_is_joined_by_position(tmp_path):
    path = save(tmp_path / "b.csv", {"id": ["u", "v"], "label": ["x", "y"]})
    beliefs = read_beliefs(path, ids=None, n_rows=2)
    assert beliefs.belief.labels() == [[0], [1]]
    assert beliefs.notes == ("Rows were joined by position, as the features have no ids.",)


def test_rows_that_no_features_have_are_noted(tmp_path):
    columns = {"id": ["u", "v", "w"], "label": ["x", "y", "y"]}
    beliefs = read_beliefs(save(tmp_path / "b.csv", columns), ids=["w", "a", "u"], n_rows=3)
    assert beliefs.belief.labels() == [[1], [0, 1], [0]]
    assert beliefs.notes == (
        "1 of 3 rows were passed over, as no features have their ids: v.",
        "Nothing is known of 1 of 3 rows.",
    )


@pytest.mark.parametrize(
    ("columns", "classes"),
    [
        ({"label": ["b", "a", "b"]}, ("a", "b")),
        ({"label": ["10", "9", ""]}, ("9", "10")),
        ({"label": ["10", "9", "x"]}, ("10", "9", "x")),
        ({"candidates": ["c|a", "b", ""]}, ("a", "b", "c")),
        ({"zebra": [1.0, 1, 0], "ant": [0.0, 1, 1]}, ("zebra", "ant")),
    ],
)
def test_classes_are_gathered_from_the_file(tmp_path, columns, classes):
    for suffix in (".csv", ".parquet"):
        path = save(tmp_path / f"b{suffix}", columns)
        assert read_beliefs(path, ids=None, n_rows=3).classes == classes


def test_classes_that_are_never_excluded_are_noted(tmp_path):
    path = save(tmp_path / "b.csv", {"excluded": ["a", "b", ""]})
    notes = read_beliefs(path, ids=None, n_rows=3).notes
    assert notes[0] == "Classes that are never excluded remain unknown; known are a, b."
    assert read_beliefs(path, ids=None, n_rows=3, classes=["a", "b"]).notes == notes[1:]


def test_number_of_classes_names_them(tmp_path):
    path = save(tmp_path / "b.parquet", {"label": pa.array([0, 2, None], pa.int8())})
    beliefs = read_beliefs(path, ids=None, n_rows=3, classes=np.int64(4))
    assert beliefs.classes == ("0", "1", "2", "3")
    assert beliefs.belief.labels() == [[0], [2], [0, 1, 2, 3]]
    np.savez(tmp_path / "b.npz", label=np.array([0, 2, 1]))
    assert read_beliefs(tmp_path / "b.npz", ids=None, n_rows=3, classes=4).belief.sizes().sum() == 3


@pytest.mark.parametrize(
    "lists",
    [
        pa.array([["a", "b"], [], None, ["c"]]),
        pa.array([["a", "b"], [], None, ["c"]], pa.large_list(pa.large_string())),
        pa.array([["a", "b"], [], None, ["c"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        pa.array(["a|b", "", None, "c"]),
        pa.array([" b ;a;", ";", " ", "c|c"]),
        pa.array(["a|b", "", None, "c"]).dictionary_encode(),
    ],
)
def test_lists_may_be_stored_in_any_way(tmp_path, lists):
    path = save(tmp_path / "b.parquet", {"candidates": lists})
    belief = read_beliefs(path, ids=None, n_rows=4, classes=["a", "b", "c"]).belief
    assert belief.labels() == [[0, 1], [0, 1, 2], [0, 1, 2], [2]]


def test_lists_of_numbers_name_classes_called_so(tmp_path):
    for lists in ([[0, 1], [2]], pa.array([[0, 1], [2, 2]], pa.list_(pa.int32(), 2))):
        path = save(tmp_path / "b.parquet", {"candidates": lists})
        belief = read_beliefs(path, ids=None, n_rows=2, classes=3).belief
        assert belief.labels() == [[0, 1], [2]]


def test_columns_that_say_nothing_of_labels_are_passed_over(tmp_path):
    columns = {"title": ["t", "u"], "a": [1.0, 0.0], "b": [0.0, 1.0]}
    path = save(tmp_path / "b.parquet", columns)
    beliefs = read_beliefs(path, ids=None, n_rows=2, classes=["a", "b"])
    assert beliefs.notes == ("Columns that say nothing of labels were passed over: title.",)
    path = save(tmp_path / "b.csv", {"title": ["t", "u"], "label": ["a", "b"]})
    assert read_beliefs(path, ids=None, n_rows=2).notes == beliefs.notes


def test_numbers_of_any_size_and_kind_are_probabilities(tmp_path):
    columns = {"a": [3e-300, 1e300, 4.0], "b": [1e-300, 1e300, 1e-200], "c": [0.0, 0.0, 0.0]}
    marginals = read_beliefs(
        save(tmp_path / "b.parquet", columns), ids=None, n_rows=3
    ).belief.marginals()
    assert torch.allclose(marginals[:2], torch.tensor([[0.75, 0.25, 0], [0.5, 0.5, 0]]))
    assert marginals[2, 1] > 0  # what is possible stays so
    halves = {"a": np.array([3, 1], np.float16), "b": np.array([1, 3], np.float16)}
    belief = read_beliefs(save(tmp_path / "b.parquet", halves), ids=None, n_rows=2).belief
    assert torch.equal(belief.marginals(), torch.tensor([[0.75, 0.25], [0.25, 0.75]]))
    counts = {"a": np.array([3, 0], np.int16), "b": np.array([True, True])}
    belief = read_beliefs(save(tmp_path / "b.parquet", counts), ids=None, n_rows=2).belief
    assert torch.equal(belief.marginals(), torch.tensor([[0.75, 0.25], [0.0, 1.0]]))
    np.savez(tmp_path / "b.npz", beliefs=np.array([[3, 1], [0, 2]], ">i8"))
    belief = read_beliefs(tmp_path / "b.npz", ids=None, n_rows=2).belief
    assert torch.equal(belief.marginals(), torch.tensor([[0.75, 0.25], [0.0, 1.0]]))


def test_slabs_do_not_show(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    mask = rng.random((40, 9)) < 0.4
    mask[:, 3] = True
    names = list("abcdefghi")
    lists = [[names[label] for label in row.nonzero()[0]] for row in mask]
    ids = rng.permutation(40)
    tables = {name: mask[:, label] + 0.0 for label, name in enumerate(names)}
    expected = Candidates.from_mask(torch.from_numpy(mask[ids.argsort()])).marginals()

    def read():
        return {
            (kind, suffix): read_beliefs(
                save(tmp_path / f"b{suffix}", {"id": list(ids)} | columns),
                ids=np.arange(40),
                n_rows=40,
            ).belief.marginals()
            for kind, columns in (("sets", {"candidates": lists}), ("table", tables))
            for suffix in TABLES
        }

    whole = read()
    for name, value in (("parquet._FEWEST", 7), ("parquet._MOST", 7), ("csv._BLOCK", 200)):
        monkeypatch.setattr(f"tacit.table._{name}", value)
    monkeypatch.setattr("tacit.table._memory._CELLS", 25)
    for key, marginals in read().items():
        assert torch.equal(marginals, whole[key])
        assert torch.allclose(marginals, expected, rtol=1e-6)


def test_source_is_the_path_as_given(tmp_path):
    path = save(tmp_path / "b.csv", {"label": ["a", "b"]})
    assert read_beliefs(str(path), ids=None, n_rows=2).source == str(path)
