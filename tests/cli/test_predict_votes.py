"""`tacit predict` with votes, and with what else beliefs are read by: the run knows its sources."""

import json

import numpy as np
import pytest
import torch

from tacit.sources import Votes, dawid_skene
from tacit.table import Reliabilities, read_reliabilities
from tests.cli.cases import CLASSES, case, refused, table, tacit
from tests.table.cases import save

RIGHT = {"ann": 0.95, "ben": 0.8, "cem": 0.4}
"""How often each source is right."""
N_NEW = 31


def said_of(truth, seed):
    """What each source says, `(instances, source)`, -1 where it abstains."""
    rng = np.random.default_rng(seed)
    n, chance = len(truth), list(RIGHT.values())
    right = rng.random((n, len(chance))) < chance
    said = np.where(right, truth[:, None], rng.integers(0, 3, (n, len(chance))))
    return np.where(rng.random(said.shape) < 0.2, -1, said)


def matrix(said, n, seed=0, names=tuple(RIGHT)):
    own = {f"lf_{name}": said[:, place] for place, name in enumerate(names)}
    return {"id": case(n, seed).ids} | own


def rows(said, n, names=tuple(RIGHT)):
    ids, places = case(n).ids, np.argwhere(said >= 0)
    return {
        "task": [ids[row] for row, _ in places],
        "worker": [names[source] for _, source in places],
        "label": [CLASSES[said[row, source]] for row, source in places],
    }


@pytest.fixture(scope="module", params=[matrix, rows])
def trained(request, tmp_path_factory):
    """Runs of 240 rows with votes in the two forms of files, and new data."""
    folder = tmp_path_factory.mktemp("voted")
    old, new = case(240), case(N_NEW, seed=1)
    save(folder / "x.parquet", old.columns)
    save(folder / "new.parquet", new.columns)
    save(folder / "votes.csv", request.param(said_of(old.truth, 0), 240))
    out = ("--out", folder / "run", "--classes", ",".join(CLASSES))
    quick = ("--epochs", 3, "--members", 1, "--votes", "dawid_skene")
    files = (folder / "x.parquet", "--beliefs", folder / "votes.csv")
    tacit("resolve", *files, *out, *quick)
    return folder, request.param


def beliefs_of(folder, name, *options):
    """The belief p that `tacit predict` reads from a file, without evidence, and its notes."""
    out = folder / f"{name}-{len(list(folder.iterdir()))}.parquet"
    files = (folder / "run", folder / "new.parquet", "--beliefs", folder / f"{name}.csv")
    done = tacit("predict", *files, "--out", out, "--tempering", 0, "--json", *options)
    p = table(out)
    return np.stack([p[f"p_{each}"] for each in CLASSES], 1), json.loads(done.stdout)["notes"]


def test_new_votes_are_weighed_by_what_the_run_has_learned(trained):
    folder, write = trained
    said = said_of(case(N_NEW, seed=1).truth, 1)
    save(folder / "new.csv", write(said, N_NEW))
    p, notes = beliefs_of(folder, "new")
    all_asked = write is matrix
    votes = Votes.from_matrix(said_of(case(240).truth, 0), n_classes=3, all_asked=all_asked)
    learned = dawid_skene(votes)
    log_p = np.tile(learned.balance.log().numpy(), (N_NEW, 1))
    tables = learned.reliability.log().numpy()
    for row, source in np.ndindex(said.shape):
        if said[row, source] >= 0 or all_asked:  # the last answer is silence
            log_p[row] += tables[source, :, said[row, source]]
    expected = torch.from_numpy(log_p).softmax(1).numpy()
    np.testing.assert_allclose(p, expected, atol=1e-5)
    assert any("by the reliabilities that the run has learned" in note for note in notes)


def test_no_row_depends_on_the_others(trained):
    folder, write = trained
    said = said_of(case(N_NEW, seed=1).truth, 1)
    save(folder / "all.csv", write(said, N_NEW))
    save(folder / "few.csv", write(np.where(np.arange(N_NEW)[:, None] < 5, said, -1), N_NEW))
    first, second = (beliefs_of(folder, name)[0] for name in ("all", "few"))
    np.testing.assert_allclose(first[:5], second[:5], atol=1e-6)


def test_sources_go_by_their_names_and_strangers_are_left_out(trained):
    folder, write = trained
    said = said_of(case(N_NEW, seed=1).truth, 1)
    save(folder / "plain.csv", write(said, N_NEW))
    stranger = np.c_[said[:, ::-1], np.zeros(N_NEW, int)]
    save(folder / "turned.csv", write(stranger, N_NEW, names=("cem", "ben", "ann", "eve")))
    first, second = (beliefs_of(folder, name) for name in ("plain", "turned"))
    np.testing.assert_allclose(first[0], second[0], atol=1e-6)
    (note,) = [note for note in second[1] if "unknown to the run" in note]
    assert note.startswith("1 of 4 sources are unknown ")
    assert note.endswith("eve.")


def test_votes_of_strangers_alone_are_refused(trained):
    folder, write = trained
    said = said_of(case(N_NEW, seed=1).truth, 1)[:, :1]
    path = save(folder / "strange.csv", write(said, N_NEW, names=("eve",)))
    files = (folder / "run", folder / "new.parquet", "--beliefs", path)
    sentence = refused("predict", *files, "--out", folder / "strange.parquet")
    assert "has votes of " in sentence
    assert "the run has learned of " in sentence


def test_majority_is_taken_if_asked_for(trained):
    folder, write = trained
    said = said_of(case(N_NEW, seed=1).truth, 1)
    save(folder / "count.csv", write(said, N_NEW))
    p, notes = beliefs_of(folder, "count", "--votes", "majority")
    counts = np.stack([(said == label).sum(1) for label in range(3)], 1)
    expected = (counts + 1 / 3) / (counts.sum(1, keepdims=True) + 1)
    told = counts.sum(1) > 0
    assert 0 < (~told).sum() < N_NEW
    np.testing.assert_allclose(p[told], expected[told], atol=1e-6)
    assert any("combined by majority" in note for note in notes)


def test_what_is_predicted_is_all_that_is_known_of_rows_without_votes(trained):
    folder, write = trained
    said = said_of(case(N_NEW, seed=1).truth, 1)
    save(folder / "some.csv", write(said, N_NEW))
    out, told = folder / "some.parquet", (said >= 0).any(1)
    files = (folder / "run", folder / "new.parquet", "--beliefs", folder / "some.csv")
    tacit("predict", *files, "--out", out, "--votes", "majority")
    found = table(out)
    r, q = (np.stack([found[f"{what}_{c}"] for c in CLASSES], 1) for what in ("r", "q"))
    np.testing.assert_allclose(r[~told], q[~told], atol=1e-5)
    assert np.abs(r[told] - q[told]).max() > 0.05


def test_silence_says_nothing_where_nobody_says_who_was_asked():
    votes = Votes.from_matrix([[0, -1], [1, 1], [0, 0], [-1, 1]], n_classes=2)
    learned = dawid_skene(votes)
    known = Reliabilities(("a", "b"), ("x", "y"), learned.reliability, learned.balance)
    one = Votes.from_lists([0], [0], [1], n_items=1, n_sources=2, n_classes=2)
    odds = learned.reliability[0, :, 1] / learned.reliability[0, :, :2].sum(1)
    expected = odds * learned.balance / (odds @ learned.balance)
    found = known.belief(one, ["a", "b"], ["x", "y"]).marginals(torch.float64)[0]
    assert torch.allclose(found, expected, atol=1e-6)
    turned = Votes.from_lists([0], [0], [0], n_items=1, n_sources=2, n_classes=2)
    other = known.belief(turned, ["a", "b"], ["y", "x"]).marginals(torch.float64)[0]
    assert torch.allclose(found, other.flip(0), atol=1e-6)


def test_damaged_reliabilities_are_refused(trained, tmp_path):
    folder, write = trained
    assert read_reliabilities(folder / "run" / "model").classes == CLASSES
    path = folder / "run" / "model" / "sources.safetensors"
    before = path.read_bytes()
    save(folder / "damaged.csv", write(said_of(case(N_NEW, seed=1).truth, 1), N_NEW))
    files = (folder / "run", folder / "new.parquet", "--beliefs", folder / "damaged.csv")
    try:
        path.write_bytes(before[:-8] + bytes(8))
        assert "not as it was written" in refused(
            "predict", *files, "--out", tmp_path / "r.parquet"
        )
    finally:
        path.write_bytes(before)


def test_new_labels_are_names_of_a_taxonomy(trained):
    folder, _ = trained
    (folder / "tree.yaml").write_text("pets: [cat, dog]\nbirds: [owl]\n")
    pets = ["pets" if label < 2 else "owl" for label in case(N_NEW, seed=1).truth]
    save(folder / "labels.csv", {"id": case(N_NEW).ids, "label": pets})
    p, _ = beliefs_of(folder, "labels", "--taxonomy", folder / "tree.yaml")
    expected = [[0.5, 0.5, 0] if name == "pets" else [0, 0, 1] for name in pets]
    np.testing.assert_allclose(p, expected, atol=1e-6)
