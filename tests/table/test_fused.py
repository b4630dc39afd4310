import numpy as np
import pytest
import torch
from hypothesis import given, settings

from tacit.beliefs import Candidates, Categorical
from tacit.errors import InvalidInputError
from tacit.sources import Fused, Taxonomy, fuse
from tacit.table import Transition, read_beliefs, read_fused
from tests.table.ballots import cast
from tests.table.cases import save, stated

GUESS = {"id": ["u", "v"], "cat": [0.6, 0.1], "dog": [0.4, 0.9]}


def read(*paths, **options):
    return read_fused(paths, **({"ids": ["u", "v", "w"], "n_rows": 3} | options))


def refusal(*paths, **options):
    with pytest.raises(InvalidInputError) as caught:
        read(*paths, **options)
    return str(caught.value)


@given(known=stated(), votes=cast())
@settings(max_examples=20)
def test_fused_files_are_their_beliefs_fused(folder, known, votes):
    votes = votes._replace(ids=[*known.ids, *votes.ids][: len(votes.ids)], classes=known.classes)
    votes = votes._replace(said=np.minimum(votes.said, len(known.classes) - 1))
    if len(set(votes.ids)) < len(votes.ids):
        return
    paths = {
        "sets": save(folder / "sets.csv", known.columns("candidates")),
        "table": save(folder / "table.parquet", known.columns("probabilities")),
        "people": save(folder / "people.csv", votes.columns()),
    }
    options = {"ids": known.ids, "n_rows": len(known.ids), "classes": known.classes}
    beliefs = read_fused(paths, **options, abstaining=0.1, how="linear", weights={"sets": 2.0})
    alone = {name: read_beliefs(path, **options) for name, path in paths.items()}
    parts = {name: each.belief for name, each in alone.items()}
    expected = fuse(parts, abstaining=0.1, how="linear", weights={"sets": 2.0})
    rows = alone["people"].told
    assert torch.allclose(beliefs.belief.marginals()[rows], expected.marginals()[rows])
    assert (beliefs.kind, beliefs.sources) == ("fused", tuple(paths))
    assert isinstance(beliefs.belief, Fused)


def test_classes_are_joined_by_name(tmp_path):
    first = save(tmp_path / "first.csv", {"id": ["u", "v"], "cat": [3, 1], "dog": [1, 3]})
    second = save(tmp_path / "second.csv", {"id": ["v", "u"], "dog": [1, 1], "cat": [1, 4]})
    beliefs = read(first, second)
    assert beliefs.classes == ("cat", "dog")
    marginals = beliefs.belief.marginals()
    assert torch.allclose(marginals, torch.tensor([[12 / 13, 1 / 13], [0.25, 0.75], [0.5, 0.5]]))
    assert beliefs.n_informed == 2
    turned = read(first, second, classes=["dog", "cat"])
    assert torch.allclose(turned.belief.marginals(), marginals.flip(1))


def test_probabilities_say_nothing_of_classes_that_they_do_not_have(tmp_path):
    known = save(tmp_path / "known.csv", {"id": ["u", "v"], "candidates": ["cat|owl", "owl"]})
    beliefs = read(save(tmp_path / "guess.csv", GUESS), known)
    assert beliefs.classes == ("cat", "dog", "owl")
    expected = torch.tensor([[6 / 11, 0, 5 / 11], [0, 0, 1], [1 / 3] * 3])
    assert torch.allclose(beliefs.belief.marginals(), expected)
    assert "guess: The mean of the others is taken for owl, which others have." in beliefs.notes
    assert "known: Candidates leave out dog, which others have." in beliefs.notes
    assert "known: Nothing is known of 1 of 3 rows." in beliefs.notes


def test_classes_that_are_not_excluded_remain(tmp_path):
    barred = save(tmp_path / "barred.csv", {"id": ["u", "v"], "excluded": ["cat", "dog"]})
    owls = {"id": ["u", "v", "w"], "cat": [1, 1, 1], "dog": [1, 1, 1], "owl": [1, 1, 1]}
    belief = read(barred, save(tmp_path / "owls.csv", owls)).belief
    expected = torch.tensor([[0, 0.5, 0.5], [0.5, 0, 0.5], [1 / 3] * 3])
    assert torch.allclose(belief.marginals(), expected)
    assert isinstance(belief.parts["barred"], Candidates)


def test_masks_are_about_their_own_classes(tmp_path):
    mask = np.array([[True, False], [True, True], [False, True]])
    keys = {"candidates": mask, "ids": list("uvw"), "classes": ["cat", "dog"]}
    owl = save(tmp_path / "owl.csv", {"id": ["u"], "cat": [1], "dog": [1], "owl": [1]})
    part = read(save(tmp_path / "mask.npz", keys), owl).belief.parts["mask"]
    assert part.labels() == [[0], [0, 1, 2], [1]]
    keys["excluded"] = ~keys.pop("candidates")
    part = read(save(tmp_path / "mask.npz", keys), owl).belief.parts["mask"]
    assert part.labels() == [[0, 2], [0, 1, 2], [1, 2]]


def test_votes_count_against_classes_that_nobody_votes_for(tmp_path):
    votes = {"id": ["u", "u", "v"], "worker": ["a", "b", "a"], "label": ["cat", "cat", "dog"]}
    guess = {**GUESS, "owl": [0.5, 0.5]}
    path = save(tmp_path / "votes.csv", votes)
    beliefs = read(path, save(tmp_path / "guess.csv", guess))
    alone = read_beliefs(path, ids=list("uvw"), n_rows=3, classes=beliefs.classes)
    part = beliefs.belief.parts["votes"]
    assert torch.equal(part.marginals(), alone.belief.marginals())
    assert "votes: Nobody votes for owl, which others have." in beliefs.notes


def test_own_classes_of_a_file_may_be_some_of_the_callers(tmp_path):
    path = save(tmp_path / "guess.csv", GUESS)
    beliefs = read(path, classes=["owl", "dog", "cat"])
    assert isinstance(beliefs.belief.parts["guess"], Categorical)
    assert torch.allclose(beliefs.belief.marginals()[0], torch.tensor([0.5, 0.4, 0.6]) / 1.5)
    assert "names the class cat, which" in refusal(
        save(tmp_path / "labels.csv", {"id": ["u", "v"], "label": ["cat", "dog"]}),
        classes=["dog", "owl"],
    )


def test_files_of_arrays_have_no_column_of_ids(tmp_path):
    np.save(tmp_path / "b.npy", np.array([[0.6, 0.4], [0.1, 0.9], [0.5, 0.5]]))
    named = save(tmp_path / "c.csv", {"key": list("uvw"), "0": [1, 1, 1], "1": [1, 1, 2]})
    beliefs = read(tmp_path / "b.npy", named, id_column="key")
    expected = torch.tensor([[0.6, 0.4], [0.1, 0.9], [1 / 3, 2 / 3]])
    assert torch.allclose(beliefs.belief.marginals(), expected)


def test_files_that_cannot_be_fused_are_refused(tmp_path):
    guess = save(tmp_path / "guess.csv", GUESS)
    other = save(tmp_path / "other.csv", {"id": ["u"], "x": [1.0], "y": [2.0]})
    said = refusal(guess, other)
    assert (
        f"`{guess}`: has no class that another file has: its own are cat, dog, and `{other}`"
        in said
    )
    pair = {"first": ["u"], "second": ["v"], "relation": [">"]}
    pairs = save(tmp_path / "pairs.csv", pair)
    assert "compares rows, and does not name the classes" in refusal(guess, pairs)
    assert "multiply: fused.belief * pairs.belief" in refusal(guess, pairs, classes=["cat", "dog"])
    sure = [save(tmp_path / f"{n}.csv", {"id": ["u"], "cat": [n], "dog": [1 - n]}) for n in (0, 1)]
    assert "row 0 is left none; let some of each source abstain" in refusal(*sure)


def test_numbers_that_would_become_other_classes_are_refused(tmp_path):
    np.save(tmp_path / "v.npy", np.array([[0, 1], [1, -1], [0, 0]]))
    turned = {"id": list("uvw"), "1": [1, 1, 1], "2": [1, 1, 1], "0": [1, 1, 1]}
    said = refusal(save(tmp_path / "t.csv", turned), tmp_path / "v.npy")
    assert "numbers its classes, 0, 1, and others name them; pass the names" in said


@pytest.mark.parametrize(
    ("paths", "sentence"),
    [
        ("b.csv", "`paths` must be several files, but it is 'b.csv'; pass a list of paths"),
        (7, "`paths` must be several files, but it is 7"),
        ([], "`paths` must name at least one file"),
        (["x/b.csv", "y/b.csv"], "`paths` must have names that differ before their suffix, but"),
        ([7], "`path` must name a file, but it is 7"),
    ],
)
def test_bad_paths_are_refused(paths, sentence):
    with pytest.raises(InvalidInputError) as caught:
        read_fused(paths, ids=None, n_rows=3)
    assert sentence in str(caught.value)


def test_votes_say_nothing_of_rows_without_votes_that_others_tell_of(tmp_path):
    # Votes for a alone: what is known of rows without votes is a balance that leans towards a.
    votes = save(tmp_path / "v.csv", {"id": list("uvw"), "lf_x": [0, -1, -1], "lf_y": [0, 0, -1]})
    other = save(tmp_path / "o.csv", {"id": list("uvw"), "lf_x": [-1, -1, -1], "lf_z": [-1, 0, 1]})
    beliefs = read(votes, other, classes=["a", "b"], ids=list("uvwx"), n_rows=4)
    alone = read_beliefs(votes, ids=list("uvwx"), n_rows=4, classes=["a", "b"])
    p = beliefs.belief.marginals()
    assert torch.allclose(p[2], torch.tensor([0.25, 0.75]))
    assert torch.allclose(p[0], alone.belief.marginals()[0])
    assert torch.allclose(p[3], alone.belief.marginals()[3])
    assert beliefs.told.tolist() == [True, True, True, False]
    assert beliefs.weight().tolist() == [1, 1, 1, 0]
    assert beliefs.n_informed == 3
    (note,) = [note for note in beliefs.notes if "not learned from" in note]
    assert note.startswith("1 rows of which nobody")


def test_fused_files_without_votes_are_all_learned_from(tmp_path):
    sets = save(tmp_path / "s.csv", {"id": list("uvw"), "candidates": ["cat", "cat|dog", None]})
    assert read(save(tmp_path / "g.csv", GUESS), sets).weight() is None


def test_label_that_is_unknown_is_refused_with_a_tree_or_a_transition(tmp_path):
    tree = Taxonomy.from_tree({"pets": ["cat", "dog"], "birds": ["owl"]})
    first = save(tmp_path / "first.csv", {"id": ["u", "v"], "label": ["cat", "dog"]})
    names = {"id": list("uvw"), "label": ["cat", "dog", "olw"]}
    second = save(tmp_path / "second.csv", names)
    transition = Transition(("cat", "dog", "owl"), torch.full((3, 3), 1 / 3))
    for options in ({"taxonomy": tree}, {"transition": transition}):
        assert "names the class olw, which is unknown" in refusal(first, second, **options)


def test_weights_of_a_taxonomy_count_once_in_a_product(tmp_path):
    tree = Taxonomy.from_tree(["cat", "dog", "owl"], weights={"cat": 4, "dog": 2, "owl": 1})
    first = save(tmp_path / "first.csv", {"id": ["u"], "candidates": ["cat|dog"]})
    second = save(tmp_path / "second.csv", {"id": ["u"], "excluded": ["cat"]})
    options = {"ids": ["u", "v"], "n_rows": 2, "taxonomy": tree}
    p = read(first, second, **options).belief.marginals()
    assert torch.allclose(p, torch.tensor([[0, 1, 0], [4 / 7, 2 / 7, 1 / 7]]))
    mixed = read(first, second, **options, how="linear").belief.marginals()
    assert torch.allclose(mixed[1], p[1])
