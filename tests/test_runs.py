"""Run folders: new or of the same recipe, held by one process, taken back if they hold nothing."""

import fcntl
import json
import os

import pytest

from tacit.runs import RunError, RunFolder, as_json, recipe_of

RECIPE = {"data": "x.npy", "seed": 0, "device": "cpu", "columns": ("a", "b")}


class StoppedError(Exception):
    """Whatever ends a run."""


def opened(path, recipe=RECIPE, *, resume=False, command="resolve"):
    return RunFolder.opened(path, command, recipe, resume=resume, free=("device",))


def started(path):
    """An unfinished run that has left something."""
    with opened(path) as run:
        (path / "metrics.jsonl").write_text("{}\n")
    return run


def stopped(path, metrics):
    """A run that was stopped when it had left these metrics."""

    def run():
        with opened(path):
            (path / "metrics.jsonl").write_text(metrics)
            raise StoppedError

    with pytest.raises(StoppedError):
        run()


def said(path):
    return json.loads((path / "run.json").read_text("utf-8"))


def test_new_run_says_what_was_asked_for_with_what_and_where(tmp_path):
    with opened(tmp_path / "a" / "run") as run:
        assert run.results() is None
        assert not run.was_complete
    found = said(tmp_path / "a" / "run")
    assert (found["command"], found["status"]) == ("resolve", "running")
    assert found["recipe"] == RECIPE | {"columns": ["a", "b"]}
    assert {"python", "torch"} <= found["versions"].keys()
    assert found["machine"]["processes"] == 1
    assert "ended" not in found


def test_finished_run_tells_its_results_when_it_is_opened_again(tmp_path):
    with opened(tmp_path) as run:
        run.complete({"score": 0.5})
    before = (tmp_path / "run.json").read_bytes()
    with opened(tmp_path, resume=True) as run:
        assert run.was_complete
        assert run.results() == {"score": 0.5}
    assert (tmp_path / "run.json").read_bytes() == before


def test_unfinished_run_goes_on_only_if_asked(tmp_path):
    started(tmp_path)
    with (
        pytest.raises(RunError, match=r"an unfinished run started .* pass --resume"),
        opened(tmp_path),
    ):
        pass
    with opened(tmp_path, resume=True) as run:
        assert run.results() is None


@pytest.mark.parametrize(
    ("changed", "command", "sentence"),
    [
        ({"seed": 1}, "resolve", "with seed = 0, not 1"),
        ({"columns": None}, "resolve", r"with columns = \['a', 'b'\], not None"),
        ({"more": 1}, "resolve", "with more = None, not 1"),
        ({}, "map", "with command = 'resolve', not 'map'"),
    ],
)
def test_run_goes_on_with_the_same_recipe_only(tmp_path, changed, command, sentence):
    started(tmp_path)
    again = opened(tmp_path, RECIPE | changed, resume=True, command=command)
    with pytest.raises(RunError, match=sentence), again:
        pass
    assert said(tmp_path)["recipe"]["seed"] == 0


def test_free_settings_may_change_and_are_noted(tmp_path):
    started(tmp_path)
    with opened(tmp_path, RECIPE | {"device": "cuda"}, resume=True):
        pass
    assert recipe_of(tmp_path)["device"] == "cuda"


def test_folder_with_other_files_is_refused_and_stays(tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(RunError, match=r"holds other files \(thesis.tex\)"), opened(tmp_path):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["file", "file/run", "r" * 300, "link"])
def test_path_that_cannot_be_a_folder_is_refused(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with (
        pytest.raises(RunError, match=r"name (a|another) folder with --out"),
        opened(tmp_path / name),
    ):
        pass


def test_folder_is_held_by_one_at_a_time(tmp_path):
    with (
        opened(tmp_path / "run"),
        pytest.raises(RunError, match="is in use by another process"),
        opened(tmp_path / "run", resume=True),
    ):
        pass
    with opened(tmp_path / "run", resume=True) as run:
        assert run.results() is None


def test_file_system_without_locks_will_do(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with opened(tmp_path) as run:
        assert run.path == tmp_path


def test_run_that_left_nothing_goes_with_the_folders_made_for_it(tmp_path):
    (tmp_path / "a").mkdir()
    stopped(tmp_path / "a" / "b" / "run", "")
    assert [*(tmp_path / "a").iterdir()] == []


def test_run_that_left_something_stays(tmp_path):
    stopped(tmp_path / "run", "{}\n")
    assert said(tmp_path / "run")["status"] == "running"


def test_run_that_goes_on_stays_whatever_happens(tmp_path):
    with opened(tmp_path):
        pass
    with pytest.raises(StoppedError), opened(tmp_path, resume=True):
        raise StoppedError
    assert said(tmp_path)["status"] == "running"


def test_what_was_being_written_is_cleared_away_and_nothing_else(tmp_path):
    started(tmp_path)
    (tmp_path / ".checkpoint.safetensors.0123abcd.partial").touch()
    (tmp_path / ".model.0123abcd.old").mkdir()
    (tmp_path / ".model.0123abcd.old" / "model.json").touch()
    (tmp_path / ".mine.0123abcd.partial").touch()
    with opened(tmp_path, resume=True):
        hidden = [each.name for each in tmp_path.glob(".*")]
    assert hidden == [".mine.0123abcd.partial"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "cannot be read"),
        ("[]", "that is not of tacit"),
        ("{}", "that is not of tacit"),
        ('{"what": "a run of tacit", "format": 9}', "has format 9 and this tacit reads 1"),
        ('{"what": "a run of tacit", "format": 1}', "was changed after it was written"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_description_that_is_none_is_refused_and_stays(tmp_path, text, sentence):
    (tmp_path / "run.json").write_text(text)
    for resume in (False, True):
        with pytest.raises(RunError, match=sentence), opened(tmp_path, resume=resume):
            pass
    assert (tmp_path / "run.json").read_text() == text


def test_description_without_results_is_no_finished_run(tmp_path):
    with opened(tmp_path) as run:
        run.complete({})
    described = said(tmp_path)
    del described["results"]
    (tmp_path / "run.json").write_text(json.dumps(described))
    with pytest.raises(RunError, match="was changed after"), opened(tmp_path, resume=True):
        pass


def test_names_of_any_bytes_are_written(tmp_path):
    odd = os.fsdecode(b"gar\xe7on.npy")
    with opened(tmp_path, RECIPE | {"data": odd}):
        pass
    assert recipe_of(tmp_path)["data"] == odd
    assert as_json({"name": "é"}) == '{"name": "é"}'


def test_folder_without_a_run_has_no_recipe(tmp_path):
    assert recipe_of(tmp_path) is None
    assert recipe_of(tmp_path / "none") is None
