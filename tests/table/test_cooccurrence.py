import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInputError
from tacit.sources import cooccurrence
from tacit.table import Cooccurrence, check, read_beliefs, read_cooccurrence
from tests.table.ballots import NAMES
from tests.table.cases import save

TABLE = {"zone": ["forest", "lake", "moon"], "tree": [9, 0, 0], "water": [1, 5, 0]}


def refusal(read, path, **options):
    with pytest.raises(InvalidInputError) as caught:
        read(path, **options)
    return str(caught.value)


@given(data=st.data())
@settings(max_examples=30)
def test_observed_classes_follow_the_table(folder, data):
    observed = data.draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    classes = data.draw(st.lists(NAMES.map(str.upper), min_size=2, max_size=4, unique=True))
    count = st.integers(0, 9)
    rows = [
        data.draw(st.lists(count, min_size=len(classes), max_size=len(classes))) for _ in observed
    ]
    seen = data.draw(st.lists(st.integers(-1, len(observed) - 1), min_size=1, max_size=7))
    named = [observed[place] if place >= 0 else None for place in seen]
    columns = {"zone": observed} | dict(
        zip(classes, map(list, zip(*rows, strict=True)), strict=True)
    )
    for suffix in (".csv", ".parquet"):
        table = read_cooccurrence(save(folder / f"table{suffix}", columns))
        assert (table.observed, table.classes) == (tuple(observed), tuple(classes))
        assert table.table.tolist() == rows
        path = save(folder / f"seen{suffix}", {"observed": named})
        beliefs = read_beliefs(path, ids=None, n_rows=len(seen), cooccurrence=table)
        expected = cooccurrence(torch.tensor(seen), torch.tensor(rows)).marginals()
        assert torch.allclose(beliefs.belief.marginals(), expected)
        says = [place >= 0 and len(set(rows[place])) > 1 for place in seen]
        assert (beliefs.kind, beliefs.n_informed) == ("observed", sum(says))


def test_classes_may_be_in_the_order_of_the_caller(tmp_path):
    table = read_cooccurrence(save(tmp_path / "t.csv", TABLE))
    keys = {"observed": ["lake", "forest", "moon"], "ids": ["v", "u", "x"]}
    for path in (
        save(tmp_path / "b.npz", keys),
        save(tmp_path / "b.csv", {"id": keys["ids"], "observed": keys["observed"]}),
    ):
        beliefs = read_beliefs(
            path, ids=list("uvw"), n_rows=3, cooccurrence=table, classes=["water", "tree"]
        )
        expected = torch.tensor([[0.1, 0.9], [1, 0], [0.5, 0.5]])
        assert torch.allclose(beliefs.belief.marginals(), expected)
        assert "The table says nothing of moon." in beliefs.notes
        assert beliefs.n_informed == 2


def test_counts_may_be_huge(tmp_path):
    path = save(tmp_path / "t.csv", {"zone": [1], "a": [1e300], "b": [3e300]})
    table = read_cooccurrence(path)
    path = save(tmp_path / "b.parquet", {"observed": [1]})
    belief = read_beliefs(path, ids=None, n_rows=1, cooccurrence=table).belief
    assert belief.marginals().tolist() == [[0.25, 0.75]]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"zone": ["forest", "forest", "moon"]}, "row 1 (id forest), column `zone`: is the second"),
        ({"zone": ["forest", "", "moon"]}, "row 1 (counted from 0), column `zone`: has no id"),
        ({"tree": [9, -1, 0]}, "row 1 (id lake), column `tree`: holds -1.0; write a finite number"),
        ({"tree": [9, None, 0]}, "row 1 (id lake), column `tree`: is missing"),
        ({"tree": [np.inf, 1, 0]}, "row 0 (id forest), column `tree`: holds inf"),
        ({"tree": ["x", "y", "z"]}, "column `tree`: holds x, which is"),
    ],
)
def test_bad_table_is_refused(tmp_path, changed, sentence):
    for suffix in (".csv", ".parquet"):
        path = save(tmp_path / f"bad{suffix}", TABLE | changed)
        said = refusal(read_cooccurrence, path)
        assert said.startswith(f"`{path}`")
        assert sentence in said


def test_table_of_another_shape_is_refused(tmp_path):
    path = save(tmp_path / "t.csv", {"zone": ["a"], "tree": [1]})
    assert "names one class only, tree" in refusal(read_cooccurrence, path)
    np.save(tmp_path / "t.npy", np.eye(2))
    assert "is no table of named columns" in refusal(read_cooccurrence, tmp_path / "t.npy")


def test_observed_classes_need_a_table_that_has_them(tmp_path):
    path = save(tmp_path / "b.csv", {"id": ["u"], "observed": ["laek"]})
    options = {"ids": ["u"], "n_rows": 1}
    said = refusal(read_beliefs, path, **options)
    assert "column `observed`: holds observed classes, and no table says with which classes" in said
    table = read_cooccurrence(save(tmp_path / "t.csv", TABLE))
    said = refusal(read_beliefs, path, **options, cooccurrence=table)
    assert (
        "row 0 (id u), column `observed`: names the class laek, which is unknown (did you" in said
    )
    other = Cooccurrence(("lake",), ("a", "b"), torch.eye(2))
    said = refusal(read_beliefs, path, **options, cooccurrence=other, classes=["a", "c"])
    assert (
        "`cooccurrence` must have the classes that are named elsewhere, a, c, but its own" in said
    )
    both = save(tmp_path / "b.csv", {"observed": ["lake"], "label": ["tree"]})
    assert "as observed classes, and by label in another" in refusal(check, str(both))
