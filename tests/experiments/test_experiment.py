"""Reproducing measures what is missing, keeps what is done, and goes on."""

import pytest

from experiments import MODULES, Means, experiment, reproduce
from experiments._experiment import Experiment
from tacit.errors import InvalidInputError


class Toy:
    """An experiment that notes what it measures, and may break before a cell."""

    def __init__(self, **options):
        self.measured, self.breaks_at = [], None
        self.experiment = Experiment(
            name="toy",
            about="nothing",
            needs="",
            seeds=2,
            cells=lambda seeds: [{"set": s, "seed": n} for s in ("a", "b") for n in seeds],
            files=lambda *_: [],
            measure=self.measure,
            page=lambda store: f"{len(store)}",
            **options,
        )

    def measure(self, wanted, _):
        for cell in wanted:
            if cell == self.breaks_at:
                raise RuntimeError
            self.measured.append((cell["set"], cell["seed"]))
            yield cell, {"figure": 1}

    def reproduce(self, folder, *, seeds=(0, 1), device="cpu", **options):
        self.measured.clear()
        means = Means(folder, device)
        return reproduce(self.experiment, means, out=folder / "r.json", seeds=seeds, **options)


def test_what_is_measured_is_not_measured_again(tmp_path):
    toy = Toy()
    toy.reproduce(tmp_path, seeds=(0,))
    assert toy.measured == [("a", 0), ("b", 0)]
    assert len(toy.reproduce(tmp_path)) == 4
    assert toy.measured == [("a", 1), ("b", 1)]
    toy.reproduce(tmp_path)
    assert toy.measured == []


def test_only_picks_cells_that_have_all_of_the_settings(tmp_path):
    toy = Toy()
    toy.reproduce(tmp_path, only=["b", "1"])
    assert toy.measured == [("b", 1)]
    toy.reproduce(tmp_path, only=["b"])
    assert toy.measured == [("b", 0)]


def test_settings_that_no_cell_has_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="no cell has a and b; the first has a, 0"):
        Toy().reproduce(tmp_path, only=["a", "b"])


def test_cells_that_are_done_survive_one_that_breaks(tmp_path):
    toy = Toy()
    toy.breaks_at = {"set": "b", "seed": 0}
    with pytest.raises(RuntimeError):
        toy.reproduce(tmp_path)
    assert toy.measured == [("a", 0), ("a", 1)]
    toy.breaks_at = None
    assert len(toy.reproduce(tmp_path)) == 4
    assert toy.measured == [("b", 0), ("b", 1)]


def test_watcher_hears_of_each_cell(tmp_path):
    toy, heard = Toy(), []
    toy.reproduce(tmp_path, seeds=(0,))
    toy.reproduce(tmp_path, watch=lambda *told: heard.append(told))
    cells = [{"set": name, "seed": 1} for name in "ab"]
    assert heard == [(2, 4, None), (3, 4, cells[0]), (4, 4, cells[1])]


def test_circumstances_name_the_machine_that_computes(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.current_device", lambda: 0)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda *_: "some GPU")
    for number, (options, device, is_gpu) in enumerate(
        [({}, "auto", True), ({}, "cpu", False), ({"cpu": True, "threads": 3}, "auto", False)]
    ):
        folder = tmp_path / str(number)
        (found,) = Toy(**options).reproduce(folder, device=device).circumstances
        assert (found["device"] == "some GPU") == is_gpu
        assert {"torch", "commit", "versions"} <= found.keys()
    assert found["threads"] == 3


@pytest.mark.parametrize("name", MODULES)
def test_each_experiment_has_cells_that_differ_and_carry_their_seed(name):
    found = experiment(name)
    cells = found.cells(range(found.seeds))
    assert found.name == name
    assert len({tuple(cell.items()) for cell in cells}) == len(cells)
    assert {cell["seed"] for cell in cells} == {*range(found.seeds)}
