"""`tacit reproduce`: the list of experiments, and what it cannot use."""

import json
from pathlib import Path

import pytest

from experiments import MODULES
from tests.cli.cases import refused, tacit


def test_list_names_each_experiment_and_what_it_needs():
    said = tacit("reproduce").stdout
    listed = json.loads(tacit("reproduce", "--json").stdout)
    assert [*listed] == [*MODULES]
    for name, each in listed.items():
        assert f"{name}: {each['about']}.\n    needs: {each['needs'] or 'no data'}\n" in said


def test_unknown_experiment_is_refused():
    assert "`NAME` must be one of crowd, " in refused("reproduce", "crowds")


@pytest.mark.parametrize("data", [(), ("--data", "nowhere")])
def test_folder_that_is_missing_is_refused(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "`--data` must be a folder that holds the folder crowd" in refused(
        "reproduce", "crowd", *data
    )
    assert [*tmp_path.iterdir()] == []


def test_settings_that_no_cell_has_are_refused(tmp_path):
    out = tmp_path / "r.json"
    arguments = ("crowd", "--data", tmp_path, "--out", out, "--only", "dogs5")
    assert "no cell has dogs5" in refused("reproduce", *arguments)
    assert not out.exists()


@pytest.mark.parametrize("name", ["r.md", "r", "."])
def test_record_that_its_page_would_replace_is_refused(tmp_path, name):
    arguments = ("crowd", "--data", tmp_path, "--out", tmp_path / name)
    assert "`--out` must name a file that ends in .json" in refused("reproduce", *arguments)


def test_file_that_is_no_record_is_refused_and_kept(tmp_path):
    out = tmp_path / "r.json"
    out.write_text('{"mine": 1}')
    arguments = ("crowd", "--data", tmp_path, "--out", out)
    assert "must be the record of an experiment" in refused("reproduce", *arguments)
    assert out.read_text() == '{"mine": 1}'


def test_installed_package_says_where_the_experiments_are(monkeypatch):
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    assert "they come with the source of tacit" in refused("reproduce")
