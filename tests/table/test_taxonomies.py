import json

import pytest
import torch
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.beliefs import Candidates
from tacit.errors import InvalidInputError
from tacit.sources import Taxonomy
from tacit.table import read_beliefs, read_taxonomy
from tests.table.cases import save

DEEP = "".join(f'{{"a{level}":' for level in range(200)) + "1" + "}" * 200
BELOW = {"sports": ["tennis", "golf"], "arts": ["music", "film"], "music": ["opera", "jazz"]}
TREE = {"sports": ["tennis", "golf"], "arts": {"music": ["opera", "jazz"], "film": None}}


def refusal(path, **options):
    with pytest.raises(InvalidInputError) as caught:
        read_taxonomy(path) if not options else read_beliefs(path, **options)
    return str(caught.value)


def text(path, content):
    path.write_text(content, "utf-8")
    return path


@st.composite
def parents(draw):
    """A tree, as the name above each name."""
    names = draw(st.lists(st.text("abcdefgh", min_size=1, max_size=3), min_size=4, unique=True))
    above = dict.fromkeys(names[:2])
    for place, name in enumerate(names[2:], 2):
        above[name] = draw(st.sampled_from([None, *names[:place]]))
    if len(set(above) - set(above.values())) < 2:
        above[names[-1]] = above[names[-2]] = None
    return above


def nested(above, top=None):
    return {name: nested(above, name) or None for name in above if above[name] == top}


@given(above=parents())
@settings(max_examples=30)
def test_all_ways_of_stating_a_taxonomy_agree(folder, above):
    expected = Taxonomy(above)
    columns = {"name": list(above), "parent": list(above.values())}
    paths = [save(folder / f"tree{suffix}", columns) for suffix in (".csv", ".tsv", ".parquet")]
    paths.append(text(folder / "tree.json", json.dumps(nested(above))))
    paths.append(text(folder / "tree.yaml", yaml.safe_dump(nested(above))))
    for path in paths:
        tree = read_taxonomy(path)
        assert set(tree.names) == set(above)
        assert set(tree.classes) == set(expected.classes)
        for name in above:
            assert set(tree.leaves_below(name)) == set(expected.leaves_below(name))


@given(above=parents(), data=st.data())
@settings(max_examples=30)
def test_labels_of_any_level_stand_for_their_leaves(folder, above, data):
    tree = Taxonomy(above)
    labels = data.draw(st.lists(st.sampled_from([None, *above]), min_size=1, max_size=6))
    order = data.draw(st.permutations(tree.classes))
    path = save(folder / "labels.csv", {"id": range(len(labels)), "label": labels})
    beliefs = read_beliefs(path, ids=None, n_rows=len(labels), taxonomy=tree, classes=order)
    expected = tree.belief(labels).mask()[:, [tree.classes.index(name) for name in order]]
    assert torch.equal(beliefs.belief.mask(), expected)
    assert beliefs.classes == tuple(order)


def test_candidates_and_excluded_labels_may_be_of_any_level(tmp_path):
    tree = Taxonomy.from_tree(TREE)
    for name, mask in (("candidates", [1, 1, 1, 0, 0]), ("excluded", [0, 0, 0, 1, 1])):
        path = save(tmp_path / "b.parquet", {name: [["sports", "opera"]]})
        belief = read_beliefs(path, ids=None, n_rows=1, taxonomy=tree).belief
        assert belief.mask().int().tolist() == [mask]
        assert isinstance(belief, Candidates)


def test_names_are_taken_as_they_are_written(tmp_path):
    path = text(tmp_path / "t.yaml", "no: [7, 1.50, yes]\n2020-01-01:\n'null': [null_, ~x]\n")
    assert read_taxonomy(path).classes == ("7", "1.50", "yes", "2020-01-01", "null_", "~x")


def test_parents_without_a_row_are_at_the_top_where_no_other_is(tmp_path):
    columns = {"name": ["golf", "opera"], "parent": ["sports", "arts"]}
    assert read_taxonomy(save(tmp_path / "t.csv", columns)).names == (
        *("golf", "opera", "sports", "arts"),
    )


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "t.csv",
            "name,parent\na,\nb,x\n",
            "row 1 (counted from 0), column `parent`: puts b below x",
        ),
        (
            "t.csv",
            "name,parent\nsport,\nb,sprot\n",
            "which has no row (did you mean `sport`?); mend",
        ),
        (
            "t.csv",
            "name,parent\na,\nb,c\nc,b\n",
            "row 1 (counted from 0), column `parent`: puts b b",
        ),
        ("t.csv", "name,parent\na,a\n", "puts a below a, which is below itself; take the circle"),
        ("t.csv", "name,parent\na,\na,\n", "row 1 (id a), column `name`: is the second"),
        ("t.csv", "name,parent\n,a\n", "row 0 (counted from 0), column `name`: has no id"),
        ("t.csv", "name,above\na,b\n", "has no column `parent`; choose from name, above"),
        ("t.csv", "name,parent\na,\n", "holds no taxonomy (`taxonomy` must have at least 2 leaves"),
        ("t.yaml", "a: [b, c]\nd: [b]", "holds b twice, below a and below d; give the two"),
        ("t.yaml", "a: [b, a]", "holds a twice, at the top and below a"),
        ("t.yaml", "a: [b]\na: [c]", "cannot be read as YAML (line 2: a name that comes twice"),
        ("t.yaml", "a: &x [b]\nc: *x", "cannot be read as YAML (line 2: an alias, *x"),
        ("t.yaml", "a: &x [b, *x]", "an alias, *x"),
        ("t.yaml", "- a: b\n - c", "cannot be read as YAML ("),
        ("t.yaml", "- [a, b]", "holds a list in a list at the top"),
        ("t.yaml", "a: ['', b]", "holds '' below a, which is no name"),
        ("t.yaml", "a: [!!python/name:os.system , b]", "cannot be read as YAML ("),
        ("t.json", '{"a": ["b"], "a": ["c"]}', "cannot be read as JSON ('a' comes twice at one pl"),
        ("t.json", '{"a": ["b", 1.5]}', "holds 1.5 below a, which is no name; write a name"),
        ("t.json", '{"a": [null, "b"]}', "holds None below a, which is no name"),
        ("t.json", "[]", "holds no names in its JSON"),
        ("t.json", DEEP, "is nested more than 100 deep; look for a mistake in it"),
        ("t.json", "[" * 100_000, "cannot be read as JSON ("),
        ("t.npy", "x", "is no taxonomy; write it as YAML, JSON or CSV"),
    ],
)
def test_bad_taxonomy_is_refused(tmp_path, name, content, sentence):
    path = text(tmp_path / name, content)
    said = refusal(path)
    assert said.startswith(f"`{path}`")
    assert sentence in said


def test_label_that_the_taxonomy_does_not_have_is_refused(tmp_path):
    path = save(tmp_path / "b.csv", {"label": ["sprots"]})
    options = {"ids": None, "n_rows": 1, "taxonomy": Taxonomy.from_tree(TREE)}
    said = refusal(path, **options)
    assert "row 0 (counted from 0), column `label`: names the class sprots, which is unk" in said
    assert "(did you mean `sports`?)" in said
    said = refusal(path, **options, classes=["tennis", "golf"])
    assert (
        "`taxonomy` must have the classes that are named elsewhere, tennis, golf, but its" in said
    )


WEIGHTS = {"tennis": 3, "golf": 1, "opera": 2, "jazz": 2, "film": 4}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".yaml", ".json"])
def test_weights_of_classes_are_read(tmp_path, suffix):
    tree = Taxonomy.from_tree(TREE)
    path = tmp_path / f"tree{suffix}"
    if suffix in (".csv", ".parquet"):
        parent = {
            name: next((a for a in ("sports", "arts", "music") if name in BELOW[a]), None)
            for name in tree.names
        }
        weight = [WEIGHTS.get(name) for name in tree.names]
        save(path, {"name": tree.names, "parent": list(parent.values()), "weight": weight})
    else:
        body = {"tree": TREE, "weights": WEIGHTS}
        text(path, json.dumps(body) if suffix == ".json" else yaml.safe_dump(body))
    found = read_taxonomy(path)
    assert found.weights == WEIGHTS
    labels, order = ["sports", "arts", "opera", None], sorted(tree.classes)
    said = save(tmp_path / "labels.csv", {"id": range(4), "label": labels})
    beliefs = read_beliefs(said, ids=None, n_rows=4, taxonomy=found, classes=order)
    expected = tree.belief(labels, weights=WEIGHTS).marginals()
    places = [tree.classes.index(name) for name in order]
    assert torch.allclose(beliefs.belief.marginals(), expected[:, places])
    assert beliefs.n_informed == 3


def test_weights_are_those_of_the_taxonomy_unless_others_are_passed():
    tree = Taxonomy.from_tree(TREE, weights=WEIGHTS)
    assert torch.allclose(tree.belief(["sports"]).marginals()[0, :2], torch.tensor([0.75, 0.25]))
    other = tree.belief(["sports"], weights=dict.fromkeys(WEIGHTS, 1.0))
    assert torch.allclose(other.marginals()[0, :2], torch.tensor([0.5, 0.5]))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv", "name,parent,weight\na,s,1\nb,s,\n", "'b' has none"),
        ("t.csv", "name,parent,weight\ns,,3\na,s,1\nb,s,1\n", "'s' is no class"),
        ("t.csv", "name,parent,weight\na,s,1\nb,s,-1\n", "'b' has none"),
        ("t.csv", "name,parent,weight\na,s,1\nb,s,high\n", "high"),
        ("t.yaml", "tree: [a, b]\nweights: {a: 1, b: much}", "gives b the weight much"),
        ("t.yaml", "tree: [a, b]\nweights: {a: 1, b: }", "gives b the weight None"),
        ("t.yaml", "tree: [a, b]\nweights: [1, 2]", "write a number for each class, by name"),
        ("t.json", '{"tree": ["a", "b"], "weights": {"a": 1, "b": 0}}', "'b' has none"),
    ],
)
def test_bad_weights_are_refused(tmp_path, name, content, sentence):
    said = refusal(text(tmp_path / name, content))
    assert str(tmp_path / name) in said
    assert sentence in said
