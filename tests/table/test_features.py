import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInputError
from tacit.table import read_features
from tacit.table._csv import Csv
from tacit.table._numbers import floats
from tests.table.cases import IDS, TABLES, save
from tests.test_imports import loaded_by

NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw):
    """Names, numbers and ids of any kind."""
    names = st.text("abcxyz _.-%", min_size=1, max_size=5).filter(str.strip)
    names = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    kind = draw(st.sampled_from([IDS, st.integers(-(2**63), 2**63 - 1)]))
    ids = draw(st.lists(kind, min_size=1, max_size=9, unique=True))
    rows = [[draw(NUMBERS) for _ in names] for _ in ids]
    return names, ids, np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("suffix", TABLES)
@given(table=tables(), named=st.booleans())
@settings(max_examples=25)
def test_what_is_written_is_read(folder, suffix, table, named):
    names, ids, values = table
    columns = {name: values[:, place] for place, name in enumerate(names)}
    path = save(folder / f"features{suffix}", ({"id": ids} if named else {}) | columns)
    features = read_features(path)
    assert features.names == tuple(names)
    assert features.values.dtype == np.float32
    assert features.values.flags.c_contiguous
    assert np.array_equal(features.values, values)
    assert (features.source, len(features)) == (str(path), len(ids))
    if named:
        assert list(map(str, features.ids.to_pylist())) == list(map(str, ids))
    else:
        assert features.ids is None


@given(table=tables())
@settings(max_examples=25)
def test_arrays_equal_tables(folder, table):
    _, ids, values = table
    np.save(folder / "x.npy", values)
    assert np.array_equal(read_features(folder / "x.npy").values, values)
    for key in ("X", "features", "images"):
        features = read_features(save(folder / "x.npz", {key: values, "ids": ids}))
        assert np.array_equal(features.values, values)
        assert features.ids.to_pylist() == ids
        assert features.names == ()


@pytest.mark.parametrize(
    "kind",
    ["int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "bool", ">f4", ">i2"],
)
def test_every_kind_of_number_becomes_float32(tmp_path, kind):
    values = np.array([[0, 1], [1, 0], [1, 1]]).astype(kind)
    np.save(tmp_path / "x.npy", values)
    np.save(tmp_path / "f.npy", np.asfortranarray(values))
    expected = values.astype(np.float32)
    assert np.array_equal(read_features(tmp_path / "x.npy").values, expected)
    assert np.array_equal(read_features(tmp_path / "f.npy").values, expected)
    native = values.astype(np.dtype(kind).newbyteorder("="))
    columns = {"a": native[:, 0], "b": native[:, 1]}
    for suffix in (".parquet", ".csv"):
        assert np.array_equal(
            read_features(save(tmp_path / f"x{suffix}", columns)).values, expected
        )


def test_decimals_and_categories_of_numbers_are_numbers(tmp_path):
    columns = {
        "decimal": pa.array([1, 2]).cast(pa.decimal128(30, 3)),
        "category": pa.array([0.5, 3.0]).dictionary_encode(),
    }
    assert read_features(save(tmp_path / "x.parquet", columns)).values.tolist() == [
        [1, 0.5],
        [2, 3],
    ]
    assert floats(pa.array([3, 7, 3]).dictionary_encode()).tolist() == [3.0, 7.0, 3.0]


def test_whole_numbers_too_large_for_floats_are_rounded(tmp_path):
    path = save(tmp_path / "x.parquet", {"a": [2**62 + 1, 3]})
    assert read_features(path).values.tolist() == [[2.0**62], [3.0]]


def test_large_numbers_stay_exact_as_ids(tmp_path):
    ids = [2**53 + 1, 2**53, 2**24 + 1]
    for suffix in (*TABLES, ".npz"):
        columns = {"ids" if suffix == ".npz" else "id": ids, "X": [[1.0], [2.0], [3.0]]}
        columns["X"] = columns["X"] if suffix == ".npz" else [1.0, 2.0, 3.0]
        features = read_features(save(tmp_path / f"x{suffix}", columns))
        assert features.ids.to_pylist() == ids
        assert features.ids.type == pa.int64()


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (["7", "10"], pa.int64()),
        (["7", "-3"], pa.int64()),
        (["007", "10"], pa.large_string()),
        (["7", "+3"], pa.large_string()),
        (["7", "1.0"], pa.large_string()),
        (["7", "9223372036854775808"], pa.large_string()),
    ],
)
def test_ids_in_csv_are_numbers_only_if_all_are_written_so(tmp_path, ids, kind):
    features = read_features(save(tmp_path / "x.csv", {"id": ids, "a": ["1", "2"]}))
    assert features.ids.type == kind
    assert list(map(str, features.ids.to_pylist())) == ids


def test_ids_in_csv_turn_to_text_where_a_later_block_holds_text(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.table._csv._BLOCK", 64)
    ids = [str(row) for row in range(99)] + ["x"]
    features = read_features(save(tmp_path / "x.csv", {"id": ids, "a": list(range(100))}))
    assert features.ids.to_pylist() == ids


def test_ids_of_parquet_keep_their_kind(tmp_path):
    for ids, kind in (
        (["7", "8"], pa.large_string()),
        (pa.array([7, 8], pa.uint8()), pa.int64()),
        (pa.array([7, 2**64 - 1], pa.uint64()), pa.large_string()),
        (pa.array(["b", "a"]).dictionary_encode(), pa.large_string()),
        (pa.array(["b", "a"], pa.string_view()), pa.large_string()),
    ):
        features = read_features(save(tmp_path / "x.parquet", {"id": ids, "a": [1.0, 2.0]}))
        assert features.ids.type == kind


def test_column_of_ids_and_features_are_chosen_by_name(tmp_path):
    path = save(tmp_path / "x.csv", {"name": ["u", "v"], "a": [1, 2], "t": ["x", "y"], "b": [3, 4]})
    features = read_features(path, id_column="name", columns=["b", "a"])
    assert features.ids.to_pylist() == ["u", "v"]
    assert features.names == ("b", "a")
    assert features.values.tolist() == [[3, 1], [4, 2]]


def test_npy_of_float32_is_a_map_that_never_reaches_the_file(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2), np.float32))
    features = read_features(tmp_path / "x.npy")
    assert isinstance(features.values, np.memmap)
    features.values[:] = 7
    assert np.array_equal(np.load(tmp_path / "x.npy"), np.ones((3, 2)))


@pytest.mark.parametrize(("kind", "most"), [("uint8", 255), ("uint16", 65535), (">u2", 65535)])
def test_arrays_of_images_are_scaled_and_get_a_channel(tmp_path, kind, most):
    images = np.array([[[0, 1, most]], [[3, most, 2]]]).astype(kind)
    np.save(tmp_path / "x.npy", images)
    values = read_features(tmp_path / "x.npy").values
    assert values.shape == (2, 1, 1, 3)
    assert np.allclose(values[:, 0], images.astype(float) / most)
    assert values.max() == 1.0


def test_images_of_floats_stay_as_they_are(tmp_path):
    images = np.linspace(-3, 400, 24, dtype=np.float32).reshape(2, 3, 2, 2)
    path = save(tmp_path / "x.npz", {"images": images})
    assert np.array_equal(read_features(path).values, images)


def test_slabs_do_not_show(tmp_path, monkeypatch):
    values = np.random.default_rng(0).random((40, 3))
    columns = {"id": list(range(40, 0, -1))} | {f"f{place}": values[:, place] for place in range(3)}
    for name, value in (("parquet._FEWEST", 7), ("parquet._MOST", 7), ("csv._BLOCK", 200)):
        monkeypatch.setattr(f"tacit.table._{name}", value)
    monkeypatch.setattr("tacit.table._memory._CELLS", 10)
    np.save(tmp_path / "x.npy", values)
    paths = [save(tmp_path / f"x{suffix}", columns) for suffix in TABLES]
    for path in (*paths, tmp_path / "x.npy"):
        features = read_features(path)
        assert np.array_equal(features.values, values.astype(np.float32))
        assert features.ids is None or features.ids.to_pylist() == columns["id"]


def test_constant_features_are_noted(tmp_path):
    columns = {"a": [1, 1, 1], "b": [1, 2, 1], "c": [0.5, 0.5, 0.5]}
    features = read_features(save(tmp_path / "x.csv", columns))
    assert features.notes == ("2 of 3 features are the same in all rows: a, c.",)
    np.save(tmp_path / "x.npy", np.ones((2, 1)))
    assert read_features(tmp_path / "x.npy").notes[0].endswith("in all rows: 0.")
    assert read_features(save(tmp_path / "x.csv", {"a": [1]})).notes == ()


def test_single_column_counts_its_empty_lines(tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n\n3\n")
    with pytest.raises(InvalidInputError, match=r"row 1 \(counted from 0\), column `a`.* missing"):
        read_features(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("a,b\n1,2\n\n3,4\n")
    assert read_features(tmp_path / "x.csv").values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_show(tmp_path, newline, mark):
    (tmp_path / "x.csv").write_bytes((mark + newline.join(["id,a", "é,1", '"b,c",2'])).encode())
    features = read_features(tmp_path / "x.csv")
    assert features.ids.to_pylist() == ["é", "b,c"]
    assert features.values.tolist() == [[1], [2]]


def test_suffix_may_be_in_capitals(tmp_path):
    save(tmp_path / "x.csv", {"a": [1, 2]}).rename(tmp_path / "X.CSV")
    assert len(read_features(str(tmp_path / "X.CSV"))) == 2


def test_package_loads_nothing_before_it_is_used():
    assert loaded_by("import tacit.table") == {"tacit"}


def test_features_are_read_without_torch(tmp_path):
    path = save(tmp_path / "x.csv", {"a": [1, 2]})
    assert "torch" not in loaded_by(f"import tacit.table; tacit.table.read_features({str(path)!r})")


CSV_REFUSALS = {
    "header only": ("id,a\n", "no rows; write at least one row"),
    "header without line end": ("id,a", "has no rows"),
    "nothing": ("", "is empty"),
    "blank lines": ("\n\n", "has no rows"),
    "text": ("id,a\n1,2\n2,x\n", "row 1 .*, column `a`: holds x, which is not a number"),
    "long text": ("id,a\n1," + "x" * 999, r"holds x{60}\.\.\., which"),
    "text behind numbers": ("a\n1\n2\n3,5\n", "row 2 .*: has 2 columns, and the first line has 1"),
    "truth among numbers": ("a,b\ntrue,1\n2,1\n", "row 0 .*column `a`: holds true, which is not"),
    "missing": ("id,a\nu,1\nv,\n", r"row 1 \(id v\), column `a`: is missing or NaN; fill"),
    "NA": ("id,a\nu,1\nv,NA\n", r"row 1 \(id v\), column `a`: is missing or NaN"),
    "infinite": ("id,a\nu,-inf\n", r"row 0 \(id u\), column `a`: is infinite"),
    "too large": ("a\n1\n1e39\n", "row 1 .* is 1e.39, beyond the range of float32"),
    "ragged": ("id,a\n1,2\n\n3\n", "row 1 .*: has 1 columns, and the first line has 2"),
    "column twice": ("id,a,b,a\n1,2,3,4\n", "has 2 columns called `a`"),
    "index of pandas": (",a\n0,1\n", r"a column without a name.*index=False"),
    "ids alone": ("id\n1\n", "has no column beside `id`"),
    "capital ids": ("ID,a\n1,2\n", "a column `ID`, which seems to hold ids; pass id_column='ID'"),
    "id twice": ("id,a\nu,1\nv,2\nu,3\n", r"row 2 \(id u\), .*the second .*, after row 0"),
    "id missing": ("id,a\nu,1\n,2\n", "row 1 .*column `id`: has no id; give the row one"),
    "semicolons": ("id;a\n1;2\n", "has one column only, called id;a; write commas .*not ';'"),
    "null byte": ("id,a\nu\0,1\n", r"row 0 .*column `id`: holds a null byte \('u\\x00'\)"),
    "null byte in a number": ("id,a\nu,1\0\n", r"row 0 .*column `a`: holds '1\\x00', which"),
}


@pytest.mark.parametrize(("text", "sentence"), CSV_REFUSALS.values(), ids=CSV_REFUSALS)
def test_bad_csv_is_refused(tmp_path, text, sentence):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(InvalidInputError, match=rf"^`\S*bad\.csv`.*{sentence}"):
        read_features(tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["true,1"] * 40 + ["2,1"], "row 40 .*`a`: holds 2, which is not true or false like those"),
        (["1,2"] * 40 + ["x,2"], "row 40 .*column `a`: holds x, which is not a number"),
        (["1,2"] * 40 + ["1"], "row 40 .*has 1 columns, and the first line has 2"),
        (["1,2"] * 40 + ['1,"3'] + ["1,2"] * 200, "has a row of more than .*quotation mark"),
        (["1,2"] * 40 + ["1,\u00e9"], "row 40 .*column `id`: holds text that is not UTF-8; save"),
    ],
)
def test_bad_row_is_named_beyond_the_first_block(tmp_path, monkeypatch, rows, sentence):
    monkeypatch.setattr("tacit.table._csv._BLOCK", 64)
    (tmp_path / "bad.csv").write_text("\n".join(["a,id", *rows]), encoding="latin-1")
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "id,a\né,1\n".encode("latin-1"),
            "row 0 .*column `id`: holds text that is not UTF-8; save",
        ),
        ("é,a\n1,1\n".encode("latin-1"), "`: holds text that is not UTF-8; save it as UTF-8"),
        ("id,a\n1,1\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
    ],
)
def test_csv_in_another_encoding_is_refused(tmp_path, content, sentence):
    (tmp_path / "bad.csv").write_bytes(content)
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"a": [1.0, None]}, r"row 1 \(counted from 0\), column `a`: is missing or NaN"),
        ({"id": ["u", "v"], "a": [1, None]}, r"row 1 \(id v\), column `a`: is missing"),
        ({"id": [7, 9], "a": [1.0, np.nan]}, r"row 1 \(id 9\), column `a`: is missing or NaN"),
        ({"a": [True, None]}, "row 1 .*column `a`: is missing"),
        ({"a": [1.0, 1e300]}, r"row 1 .*column `a`: is 1e\+300, beyond the range of float32"),
        ({"a": [1.0, np.inf]}, "row 1 .*column `a`: is infinite"),
        ({"a": [None, "x" * 99]}, r"row 1 .*column `a`: holds x{60}\.\.\., .*but string; store"),
        ({"a": [[1.0], [2.0]]}, r"row 0 .*column `a`: holds \[1.0\], .*but list"),
        ({"id": [None, 1], "a": [1, 2]}, "row 0 .*column `id`: has no id"),
        ({"id": ["", "x"], "a": [1, 2]}, "row 0 .*column `id`: has no id"),
        (
            {"id": [1.0, 2.0], "a": [1, 2]},
            "column `id`: holds double, and ids are whole numbers or",
        ),
        ({"id": [5, 5], "a": [1, 2]}, r"row 1 \(id 5\), column `id`: is the second .*after row 0"),
        ({"a": []}, "has the names of columns but no rows"),
        ({"__index_level_0__": [1, 2], "a": [1, 2]}, "`__index_level_0__`, which seems to hold"),
    ],
)
def test_bad_parquet_is_refused(tmp_path, columns, sentence):
    path = save(tmp_path / "bad.parquet", columns)
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(path)


def test_column_twice_in_parquet_is_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    pq.write_table(table, tmp_path / "bad.parquet")
    with pytest.raises(InvalidInputError, match="has 2 columns called `a`; give each"):
        read_features(tmp_path / "bad.parquet")


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.array([1.0, 2.0]), r"holds an array of shape \(2,\); save one of \(rows, features\)"),
        (np.ones((1, 1, 1, 1, 1)), "holds an array of shape"),
        (np.ones((0, 3), np.float32), r"an empty array: its shape \(rows, features\) is \(0, 3\)"),
        (np.ones((3, 0)), r"an empty array: .* is \(3, 0\)"),
        (np.array([["a"]]), "holds <U1, and features are numbers; convert it to float32"),
        (np.ones((2, 2), complex), "holds complex128"),
        (np.zeros((2, 2), "M8[s]"), "holds datetime64"),
        (np.zeros((2, 2), [("a", float)]), "features are numbers"),
        (np.ones((2, 2, 2), int), "holds images of int64, whose scale nobody knows; save bytes"),
        (np.array([[1.0], [np.nan]]), r"row 1 \(counted from 0\), column `0`: is missing or NaN"),
        (np.array([[1.0, np.inf]], np.float32), "row 0 .*column `1`: is infinite"),
        (np.array([[[1.0, np.nan]]]), r"row 0 .*: at \(0, 1\) is missing or NaN"),
        (np.array([[None]]), "holds Python objects, which are not loaded"),
    ],
)
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_bad_array_is_refused(tmp_path, array, sentence, suffix):
    path = tmp_path / f"bad{suffix}"
    np.save(path, array) if suffix == ".npy" else np.savez(path, X=array)
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(path)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"Y": [[1]]}, "holds no features, only Y; save exactly one of X, features, images"),
        ({"X": [[1]], "images": [[1]]}, "holds X and images; save exactly one of"),
        ({"X": [[1], [2]], "ids": ["a"]}, "holds 2 rows under `X`, and 1 ids"),
        ({"X": [[1], [2]], "ids": ["a", "a"]}, r"row 1 \(id a\), column `ids`: is the second"),
        ({"X": [[1], [2]], "ids": [1.5, 2]}, "column `ids`: holds double"),
        ({"X": [[1], [2]], "ids": [[1], [2]]}, r"column `ids`: has shape \(2, 1\); save one entry"),
        ({"X": [[1], [2]], "ids": [None, "a"]}, "holds Python objects"),
    ],
)
def test_bad_keys_are_refused(tmp_path, keys, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(save(tmp_path / "bad.npz", keys))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.npy", b"hello", "is no .npy file; write it by numpy.save"),
        ("x.npz", b"hello", "is no .npz file; write it by numpy.save"),
        ("x.npy", b"PK\3\4", "is no .npy file; let its name end in .npz"),
        ("x.npz", b"\x93NUMPY", "is no .npz file; let its name end in .npy"),
        ("x.npz", b"PK\3\4", "cannot be read as .npz"),
        ("x.npy", b"\x93NUMPY\1\0", "cannot be read as .npy"),
        ("x.parquet", b"PAR1" * 9, r"cannot be read as Parquet \(.*\); write the file anew"),
        ("x.csv.gz", b"\x1f\x8b" + b"x" * 9, "cannot be read as CSV"),
        (
            "x.txt",
            b"a",
            "is of no kind that can be read, which its suffix `.txt` .* one of .parquet",
        ),
        ("x", b"a", "is of no kind that can be read"),
    ],
)
def test_file_of_another_kind_is_refused(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(tmp_path / name)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("feature.csv", r"`\S*/feature.csv`: is not there \(did you mean `features.csv`\?\); look"),
        ("gone/features.csv", "is not there, nor is its folder `.*gone`"),
        ("x" * 300 + ".csv", r"cannot be looked at \(File name too long\)"),
        ("features.csv/x.csv", "is not there|cannot be looked at"),
        ("empty", "is a folder without images; name a file"),
    ],
)
def test_path_that_leads_nowhere_is_refused(tmp_path, path, sentence):
    save(tmp_path / "features.csv", {"a": [1]})
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(tmp_path / path)


@pytest.mark.parametrize("path", [None, 5, "", "a\0b", b"x.csv"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InvalidInputError, match="`path` must name a file, but it is"):
        read_features(path)


def test_device_is_refused():
    with pytest.raises(InvalidInputError, match="is neither a file nor a folder"):
        read_features("/dev/null")


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (
            {"id_column": "names"},
            r"has no column `names` \(did you mean `name`\?\); choose from name",
        ),
        ({"columns": ["a", "B"]}, r"has no column `B` \(did you mean `b`\?\)"),
        ({"columns": ["a", "a"]}, "`columns` must name each feature once, .* it is a, a"),
        ({"columns": ["a", "name"], "id_column": "name"}, "`columns` .* and not the ids"),
        ({"columns": []}, r"`columns` must be a list of names, but it is \[\]"),
        ({"columns": "a"}, "`columns` must be a list of names, but it is 'a'"),
        ({"columns": 3}, "`columns` must be a list of names, but it is 3"),
    ],
)
def test_wrong_choice_of_columns_is_refused(tmp_path, choice, sentence):
    path = save(tmp_path / "x.csv", {"name": [1, 2], "a": [1, 2], "b": [3, 4]})
    with pytest.raises(InvalidInputError, match=sentence):
        read_features(path, **choice)


def test_columns_of_arrays_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 1)))
    save(tmp_path / "x.npz", {"X": [[1.0]], "name": ["a"]})
    for name, choice in (("npy", {"columns": ["a"]}), ("npz", {"columns": ["a"]})):
        with pytest.raises(
            InvalidInputError, match="`columns` must be left out where columns have"
        ):
            read_features(tmp_path / f"x.{name}", **choice)
    with pytest.raises(InvalidInputError, match="`id_column` must be left out"):
        read_features(tmp_path / "x.npy", id_column="name")
    with pytest.raises(InvalidInputError, match=r"has no key `names` .*did you mean `name`"):
        read_features(tmp_path / "x.npz", id_column="names")
    assert read_features(tmp_path / "x.npz", id_column="name").ids.to_pylist() == ["a"]


def test_table_larger_than_the_machine_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": 15}.get)
    path = save(tmp_path / "x.parquet", {"a": [1.0] * 4})
    with pytest.raises(InvalidInputError, match="GB of memory, and this machine has"):
        read_features(path)


def test_rows_that_change_while_they_are_read_are_refused(tmp_path):
    path = save(tmp_path / "x.csv", {"a": [1.0] * 4})
    sheet = Csv(path)
    for other in (3, 5):
        save(path, {"a": [1.0] * other})
        with pytest.raises(InvalidInputError, match="has other rows than the 4 that it announces"):
            list(sheet.parts(numbers=["a"]))


def test_path_may_be_anything_that_is_one(tmp_path):
    class Path:
        def __fspath__(self):
            return str(tmp_path / "x.csv")

    save(tmp_path / "x.csv", {"a": [1, 2]})
    assert read_features(Path()).source == str(tmp_path / "x.csv")


def test_key_that_is_no_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("X", b"text")
    with pytest.raises(InvalidInputError, match="column `X`: holds no array; save it by numpy"):
        read_features(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (pa.ArrowInvalid("odd\nand long."), r"cannot be read as CSV \(odd\); write the file anew"),
        (PermissionError(13, "no"), "may not be read; grant permission"),
        (MemoryError(), "does not fit into memory; split it"),
        (KeyError(), r"cannot be read as CSV \(KeyError\)"),
    ],
)
def test_whatever_a_library_raises_is_refused(tmp_path, monkeypatch, error, sentence):
    def refuse(*_, **__):
        raise error

    path = save(tmp_path / "x.csv", {"a": [1, 2]})
    monkeypatch.setattr("pyarrow.csv.open_csv", refuse)
    with pytest.raises(InvalidInputError, match=rf"x.csv`: {sentence}"):
        read_features(path)


def test_error_that_comes_but_once_is_told_all_the_same(tmp_path, monkeypatch):
    real = pyarrow.csv.open_csv

    def once(*arguments, read_options, **options):
        if read_options.use_threads:
            raise pa.ArrowInvalid("odd")
        return real(*arguments, read_options=read_options, **options)

    path = save(tmp_path / "x.csv", {"a": [1, 2]})
    monkeypatch.setattr("pyarrow.csv.open_csv", once)
    with pytest.raises(InvalidInputError, match=r"cannot be read as CSV \(odd\)"):
        read_features(path)
