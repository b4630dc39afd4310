"""The collections are read as they are meant, from files of each kind."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from experiments._data import files_of, images, people_of, task
from tacit.errors import InvalidInputError
from tests.experiments import cases

WRITERS = {"youtube": cases.wrench, "lost": cases.table, "cifar10n": cases.images}


def test_texts_have_words_and_votes(tmp_path):
    cases.wrench(tmp_path, n=(60, 30))
    found = task("youtube", tmp_path, seed=0)
    for part, n in ((found.train, 60), (found.test, 30)):
        assert part.features.shape[0] == len(part.truth) == part.votes.n_items == n
        assert part.features.dtype == np.float32
        assert (part.votes.n_sources, part.votes.n_classes) == (4, 2)
        assert part.votes.heard().tolist() == [True] * (n - 1) + [False]
    assert found.train.features.shape[1] == found.test.features.shape[1]
    assert found.n_classes == 2


def test_words_are_counted_where_training_texts_have_them(tmp_path):
    cases.wrench(tmp_path)
    first = task("youtube", tmp_path, seed=0)
    other = tmp_path / "other"
    cases.wrench(other)
    test = other / "wrench" / "youtube_test.jsonl.gz"
    cases.wrench(tmp_path / "more", seed=1)
    test.write_bytes((tmp_path / "more" / "wrench" / test.name).read_bytes())
    second = task("youtube", other, seed=0)
    assert (first.train.features != second.train.features).nnz == 0
    assert (first.test.features != second.test.features).nnz > 0


def test_table_is_split_by_the_seed(tmp_path):
    x, _, y = cases.table(tmp_path, n=50)
    found, again, other = (task("lost", tmp_path, seed=seed) for seed in (3, 3, 4))
    assert (len(found.test.truth), len(found.train.truth)) == (10, 40)
    for part in ("train", "test"):
        assert torch.equal(getattr(found, part).features, getattr(again, part).features)
        assert torch.equal(getattr(found, part).truth, getattr(again, part).truth)
    assert not torch.equal(found.test.features, other.test.features)
    # Scaling keeps the order of the first column, which tells the rows apart.
    scaled = torch.cat([found.train.features, found.test.features])
    truth = torch.cat([found.train.truth, found.test.truth])
    order, expected = scaled[:, 0].argsort(), x[:, 0].argsort()
    assert len(scaled[:, 0].unique()) == 50
    assert truth[order].tolist() == y[expected].tolist()


def test_table_is_scaled_by_what_is_learned_from(tmp_path):
    x, _, _ = cases.table(tmp_path, n=50)
    found = task("lost", tmp_path, seed=0)
    train, test = found.train.features, found.test.features
    assert_close(train.mean(0), torch.zeros(6), atol=1e-5, rtol=0)
    assert_close(train[:, :5].std(0, correction=0), torch.ones(5))
    assert_close(train[:, 5], torch.zeros(40))
    assert float(test[:, :5].mean(0).abs().max()) > 0.05
    # Undone, the first column is the one that was stored.
    column = torch.cat([train, test])[:, 0].sort().values
    assert_close(np.corrcoef(column, np.sort(x[:, 0]))[0, 1].item(), 1.0)


def test_table_has_candidates_with_the_truth_among_them(tmp_path):
    _, partial, y = cases.table(tmp_path)
    found = task("lost", tmp_path, seed=0)
    sizes = []
    for part in (found.train, found.test):
        allowed = part.candidates.marginals() > 0
        assert bool(allowed.gather(1, part.truth[:, None]).all())
        sizes += allowed.sum(1).tolist()
    assert sorted(sizes) == sorted(partial.sum(1).tolist())
    assert found.n_classes == partial.shape[1]
    assert len(y) == len(sizes)


def test_images_are_scaled_by_what_is_learned_from(tmp_path):
    x, y, _ = cases.images(tmp_path, n=(60, 40))
    found = images("cifar10", tmp_path)
    assert (found.x_train.shape, found.x_test.shape) == ((60, 3, 32, 32), (40, 3, 32, 32))
    for part, scaled in (("train", found.x_train), ("test", found.x_test)):
        mean, deviation = x["train"].mean((0, 1, 2)), x["train"].std((0, 1, 2), ddof=1)
        expected = (x[part] - mean) / deviation
        expected = torch.tensor(expected, dtype=torch.float32).permute(0, 3, 1, 2)
        assert_close(scaled, expected, atol=1e-3, rtol=0)
    assert found.y_test.tolist() == y["test"].tolist()


def test_images_come_with_what_three_people_say(tmp_path):
    _, _, said = cases.images(tmp_path)
    found = task("cifar10n", tmp_path, seed=0)
    votes = found.train.votes
    assert len(votes) == 3 * 60
    table = np.stack([*said.values()], 1)
    assert votes.answer.view(60, 3).tolist() == table.tolist()
    assert found.test.votes is None
    people = people_of(tmp_path)
    assert people.shape == (40, 10)
    assert_close(people.sum(1), torch.ones(40, dtype=torch.float64))
    assert people.argmax(1).tolist() == found.test.truth.tolist()


@pytest.mark.parametrize("name", WRITERS)
def test_file_that_is_missing_is_named(tmp_path, name):
    WRITERS[name](tmp_path)
    for path in files_of(name, tmp_path):
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(InvalidInputError, match="is not there; name the folder") as caught:
            task(name, tmp_path, seed=0)
        assert str(path) in str(caught.value)
        path.write_bytes(content)
    assert len(task(name, tmp_path, seed=0).train.truth)


@pytest.mark.parametrize("name", WRITERS)
def test_file_that_is_cut_short_is_named(tmp_path, name):
    WRITERS[name](tmp_path)
    for path in files_of(name, tmp_path)[:1]:
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(InvalidInputError, match=rf"'{path}' cannot be read .*: fetch it again"):
            task(name, tmp_path, seed=0)


def test_archive_of_something_else_is_named(tmp_path):
    path = tmp_path / "mnist" / "mnist.npz"
    cases.save(path, images=np.zeros((3, 8, 8)))
    with pytest.raises(InvalidInputError, match=rf"'{path}' cannot be read .*x_train"):
        images("mnist", tmp_path)
