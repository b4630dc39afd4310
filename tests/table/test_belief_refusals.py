import numpy as np
import pyarrow as pa
import pytest

from tacit.errors import InvalidInputError
from tacit.table import read_beliefs
from tests.table.cases import save

IDS = ["u", "v", "w"]
PAIR = {"first": ["u"], "second": ["v"], "relation": [">"]}
MASK = np.eye(3, dtype=bool)


def refusal(path, **options):
    with pytest.raises(InvalidInputError) as caught:
        read_beliefs(path, **({"ids": IDS, "n_rows": 3} | options))
    return str(caught.value)


REFUSALS = {
    "no row": ({"id": [], "label": []}, "no rows"),
    "unknown class": (
        {"id": ["v"], "candidates": ["cat|dgo"]},
        "row 0 (id v), column `candidates`: names the class dgo, which is unknown (did you mean "
        "`dog`?); write one of cat, dog",
    ),
    "unknown label": ({"id": ["v"], "label": ["Dog"]}, "unknown (did you mean `dog`?)"),
    "unknown exclusion": ({"id": ["v"], "excluded": ["x"]}, "column `excluded`: names the class x"),
    "nothing left": (
        {"id": ["w", "v"], "excluded": ["cat", "cat|dog"]},
        "row 1 (id v), column `excluded`: leaves no class; allow at least one",
    ),
    "negative": ({"id": ["v"], "cat": [-1], "dog": [2]}, "row 0 (id v), column `cat`: holds -1"),
    "all zero": ({"id": ["w", "v"], "cat": [1, 0], "dog": [1, 0]}, "row 1 (id v): is all zero"),
    "missing": ({"id": ["v"], "cat": [1], "dog": [None]}, "column `dog`: is missing or NaN"),
    "infinite": ({"id": ["v"], "cat": [1.0], "dog": [np.inf]}, "column `dog`: holds inf"),
    "text": ({"id": ["v"], "cat": ["1x"], "dog": [2]}, "column `cat`: holds 1x, which is"),
    "no class of that name": (
        {"id": ["v"], "cat": [1], "dgo": [2]},
        "has numbers for `dgo`, which is no class (did you mean `dog`?)",
    ),
    "column is missing": ({"id": ["v"], "cat": [1]}, "has no column for the class `dog`"),
    "none joins": (
        {"id": ["x", "y"], "label": ["cat", "dog"]},
        "has no id that the features have: x, y here, u, v, w there",
    ),
    "id twice": ({"id": ["v", "v"], "label": ["cat", "dog"]}, "row 1 (id v), column `id`: is the"),
    "id missing": (
        {"id": ["v", ""], "label": ["cat", "dog"]},
        "row 1 (counted from 0), column `id`",
    ),
    "other number of rows": (
        {"label": ["cat", "dog"]},
        "has 2 rows, and the features have 3; give both a column of ids",
    ),
    "two kinds": (
        {"id": ["v"], "candidates": ["cat"], "label": ["cat"]},
        "can be read in more than one way: as candidates, and by label in another",
    ),
    "kind and numbers": (
        {"id": ["v"], "label": ["cat"], "dog": [1]},
        "can be read in more than one way: as labels, and by dog in another",
    ),
    "misspelt kind": ({"id": ["v"], "candidate": ["cat"]}, "(did you mean `candidates`?)"),
    "kind in capitals": ({"id": ["v"], "Label": [1], "x": [1]}, "(did you mean `label`?)"),
    "ids in capitals": ({"Id": ["v"], "label": ["cat"]}, "pass id_column='Id'"),
    "only ids": ({"id": ["v"]}, "tells no kind of belief by the columns beside its ids"),
    "only text": ({"id": ["v"], "title": ["t"]}, "tells no kind of belief by the columns title"),
    "pairs or classes": ({"first": [1], "second": [2]}, "as pairs without `relation`, and as two"),
    "pairs without second": (
        {"first": ["u"], "relation": [">"]},
        "holds pairs without `second`; save all of first, second, relation",
    ),
    "unknown relation": (
        PAIR | {"relation": ["=>"]},
        "row 0 (counted from 0), column `relation`: holds the relation => (did you mean `>`?); "
        "write one of >, >=, =, !=, <, <=",
    ),
    "no relation": (PAIR | {"relation": [""]}, "column `relation`: holds the relation ''"),
    "unknown id in a pair": (
        PAIR | {"second": ["x"]},
        "column `second`: names x, but the features do not have it",
    ),
    "no id in a pair": (PAIR | {"first": [""]}, "column `first`: has no id"),
    "pair with itself": (PAIR | {"second": ["u"]}, "row 0 (counted from 0): names u, as both of"),
    "in two pairs": (
        {"first": ["u", "w"], "second": ["v", "u"], "relation": [">", "<"]},
        "row 1 (counted from 0): names u, which is also in the pair of row 0; an instance",
    ),
    "long value": ({"id": ["v"], "label": ["x" * 999]}, "the class " + "x" * 60 + "..., which"),
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(("columns", "sentence"), REFUSALS.values(), ids=REFUSALS)
def test_bad_table_is_refused(tmp_path, columns, sentence, suffix):
    path = save(tmp_path / f"bad{suffix}", columns)
    said = refusal(path, classes=["cat", "dog"])
    assert said.startswith(f"`{path}`")
    assert sentence in said


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"candidates": [["cat"], ["cat", None], []]},
            "row 1 (id v), column `candidates`: holds an",
        ),
        ({"candidates": [["cat"], [""], []]}, "row 1 (id v), column `candidates`: holds an empty"),
        ({"candidates": [[1.5], [], []]}, "holds list<element: double>, and not lists of names"),
        ({"label": [1.0, 0.0, None]}, "column `label`: holds double, and not the name of a class"),
        ({"label": [["cat"], [], []]}, "holds list<element: string>, and not the name of a class"),
        ({"candidates": [True, None, None]}, "holds bool, and not lists of names, or text with |"),
    ],
)
def test_names_of_another_type_are_refused(tmp_path, columns, sentence):
    path = save(tmp_path / "bad.parquet", {"id": IDS} | columns)
    assert sentence in refusal(path, classes=["cat", "dog"])


def test_relation_of_another_type_is_refused(tmp_path):
    path = save(tmp_path / "bad.parquet", PAIR | {"relation": [1]})
    assert "column `relation`: holds int64; write one of" in refusal(path, classes=2)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"labl": ["a"]}, "holds no beliefs, only labl (did you mean `label`?)"),
        (
            {"beliefs": MASK + 0.0, "candidates": MASK},
            "more than one way: as probabilities, and by",
        ),
        ({"beliefs": [["a"]]}, "holds an array of <U1 with shape (1, 1); save numbers"),
        ({"candidates": MASK + 0.0}, "holds an array of float64 with shape (3, 3)"),
        ({"excluded": [True]}, "holds an array of bool with shape (1,)"),
        ({"candidates": MASK[:2]}, "has 2 rows, and the features have 3"),
        ({"candidates": MASK, "ids": ["u"]}, "holds 3 rows and 1 ids"),
        ({"candidates": MASK & False}, "row 0 (counted from 0), column `candidates`: leaves no"),
        ({"excluded": MASK | True, "ids": IDS}, "row 0 (id u), column `excluded`: leaves no class"),
        ({"beliefs": MASK[:, :1] + 0.0}, "has 1 columns of classes; save"),
        ({"beliefs": MASK + 0.0, "classes": ["a", "b"]}, "has 3 columns of classes and 2 names"),
        ({"beliefs": MASK + 0.0, "classes": list("aab")}, "column `classes`: names a class twice"),
        ({"beliefs": MASK - 0.5, "ids": IDS}, "row 0 (id u), column `1`: holds -0.5"),
        ({"label": list("ab"), "ids": IDS}, "holds 2 rows and 3 ids"),
        ({"label": [1.5, 2, 3]}, "column `label`: holds double, and not the name of a class"),
        ({"label": np.array([], str), "ids": np.array([], str)}, "holds 0 rows and 0 ids"),
        ({"first": ["u"], "second": ["v"], "relation": [">", ">"]}, "1 first and 1 second and 2"),
    ],
)
def test_bad_keys_are_refused(tmp_path, keys, sentence):
    assert sentence in refusal(save(tmp_path / "bad.npz", keys))


def test_classes_of_the_file_must_be_those_of_the_caller(tmp_path):
    path = save(tmp_path / "b.npz", {"beliefs": MASK + 0.0, "classes": list("abc")})
    assert "has 3 classes, a, b, c, and expected were 3, a, b, x" in refusal(
        path, classes=list("abx")
    )
    assert "expected were 2, a, b" in refusal(path, classes=list("ab"))
    np.save(tmp_path / "b.npy", MASK)
    assert "has 3 classes, 0, 1, 2, and expected were 4" in refusal(tmp_path / "b.npy", classes=4)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.eye(3, dtype=np.uint8), "holds an array of uint8 with shape (3, 3); save numbers for"),
        (np.ones(3), "holds an array of float64 with shape (3,)"),
        (np.ones((0, 3)), "holds 0 rows"),
        (np.ones((2, 3)), "has 2 rows, and the features have 3"),
        (MASK & False, "column `candidates`: leaves no class"),
        (
            np.array([[1.0, np.nan], [1, 1], [1, 1]]),
            "row 0 (counted from 0), column `1`: is missing",
        ),
    ],
)
def test_bad_array_is_refused(tmp_path, array, sentence):
    np.save(tmp_path / "bad.npy", array)
    assert sentence in refusal(tmp_path / "bad.npy")


def test_too_few_classes_are_refused(tmp_path):
    for columns, sentence in (
        ({"label": ["a", "a", ""]}, "names one class only, a; with fewer than two"),
        ({"candidates": ["", "", ""]}, "names no class"),
        ({"a": [1.0, 1, 1]}, "names one class only, a"),
    ):
        assert sentence in refusal(save(tmp_path / "bad.csv", columns))


def test_pairs_without_classes_are_refused(tmp_path):
    path = save(tmp_path / "bad.csv", PAIR)
    assert "does not name the classes; pass them, the lowest first" in refusal(path)


def test_ids_that_are_no_rows_are_refused(tmp_path):
    path = save(tmp_path / "bad.csv", {"id": [1, 3], "label": ["a", "b"]})
    said = refusal(path, ids=None)
    assert "row 1 (id 3): has an id that is no row of the features" in said
    assert "from 0 to 2; write those numbers, or leave the ids out" in said
    path = save(tmp_path / "bad.csv", {"first": [0], "second": [3], "relation": [">"]})
    assert "names 3, but the features go by their numbers, from 0 to 2" in refusal(
        path, ids=None, classes=2
    )
    path = save(tmp_path / "bad.csv", {"first": ["u"], "second": ["v"], "relation": [">"]})
    assert "names u, but the features go by their numbers" in refusal(path, ids=None, classes=2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ids": ["u"]}, "`ids` must name 3 rows, but it names 1"),
        ({"ids": ["u", "v", "u"]}, "`ids` must be different, but rows 0 and 2 are both called u"),
        ({"ids": ["u", "v", None]}, "`ids` must name each row, but row 2 has none"),
        ({"ids": [1.5, 2, 3]}, "`ids` must be whole numbers or text, but it holds 1.5"),
        ({"ids": [1, "u", 3]}, "`ids` must be whole numbers or text, but pyarrow says: "),
        (
            {"ids": pa.array([b"u", b"v", b"w"])},
            "`ids` must be whole numbers or text, but it holds",
        ),
        ({"n_rows": 0, "ids": None}, "`n_rows` must be at least 1, but it is 0"),
        ({"classes": 1}, "`classes` must name at least 2 classes, each once, but it is 1"),
        ({"classes": -1}, "`classes` must name at least 2 classes"),
        ({"classes": 10**12}, "`classes` must name at least 2 classes"),
        ({"classes": True}, "`classes` must name at least 2 classes"),
        ({"classes": "ab"}, "`classes` must name at least 2 classes, each once, but it is ab"),
        ({"classes": ["a", "a"]}, "`classes` must name at least 2 classes, each once"),
        ({"classes": ["a", ""]}, "`classes` must name at least 2 classes"),
        ({"classes": ["a", 1.5]}, "`classes` must name at least 2 classes"),
        ({"classes": ["a", "\ud800"]}, "`classes` must name at least 2 classes"),
        ({"id_column": "idd"}, "has no column `idd` (did you mean `id`?); choose from id, label"),
    ],
)
def test_bad_argument_is_refused(tmp_path, options, sentence):
    path = save(tmp_path / "b.csv", {"id": IDS, "label": ["a", "b", "a"]})
    assert sentence in refusal(path, **options)


def test_column_of_ids_of_an_npy_is_refused(tmp_path):
    np.save(tmp_path / "b.npy", MASK)
    said = refusal(tmp_path / "b.npy", id_column="id")
    assert "`id_column` must be left out for .npy, but it is 'id'" in said


def test_folder_is_refused(tmp_path):
    assert "is a folder; name a file of beliefs" in refusal(tmp_path)


def test_sets_larger_than_the_machine_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": 300}.get)
    path = save(tmp_path / "b.csv", {"id": IDS, "label": ["1", "2", "3"]})
    assert "GB of memory, and this machine has" in refusal(path, classes=1000)
    assert read_beliefs(path, ids=IDS, n_rows=3, classes=10).n_informed == 3
