"""The code that the documents show runs, and no public name goes without documentation."""

import ast
import os
import pkgutil
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"


class Block(NamedTuple):
    """A piece of a page in a language that runs."""

    language: str
    text: str


def blocks_of(text: str) -> list[Block]:
    """The Python and the commands that a text shows, in order."""
    found = re.findall(r"^```(python|sh)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [Block(*each) for each in found]


def has_python(page: Path) -> bool:
    return any(block.language == "python" for block in blocks_of(page.read_text("utf-8")))


def run(blocks: list[Block], where: str) -> dict[str, Any]:
    """Run blocks one after the other, all Python in one namespace, commands by a shell."""
    shown: dict[str, Any] = {"__name__": "shown"}
    # `tacit` is the one that belongs to this Python.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in blocks:
        if block.language == "python":
            exec(compile(block.text, where, "exec"), shown)
        else:
            command = ["bash", "-euo", "pipefail", "-c", block.text]
            done = subprocess.run(
                command, env={**os.environ, "PATH": path}, capture_output=True, encoding="utf-8"
            )
            assert done.returncode == 0, f"{block.text}{done.stderr}"
    return shown


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """What pages write stays out of the project."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small networks gain nothing by more, and threads wait for each other on a busy machine."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if has_python(page) and page not in (README, TUTORIAL)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_shown_python_runs(page: Path):
    shown = [block for block in blocks_of(page.read_text("utf-8")) if block.language == "python"]
    run(shown, str(page))


def test_quick_start_resolves_the_labels():
    section = README.read_text("utf-8").split("[start:quick-start]")[1]
    shown = run(blocks_of(section.split("[end:quick-start]")[0]), str(README))
    assert shown["correct"] > 0.95
    assert (shown["model"].posterior_.argmax(1) == shown["truth"].numpy()).mean() > 0.95
    labels = pq.read_table("runs/clouds/resolved.parquet")["label"].to_pylist()
    assert np.mean(np.array(labels, int) == shown["truth"].numpy()) > 0.95


def test_tutorial_resolves_the_wines():
    shown = run(blocks_of(TUTORIAL.read_text("utf-8")), str(TUTORIAL))
    # Over ten seeds of the draw: labels 95 to 99 % right, new bottles 92 to 100 %.
    assert shown["right"] > 0.94
    assert shown["right_later"] > 0.85
    good, bad = shown["good"], shown["bad"]
    assert good["entropy_after"] < 0.3 * good["entropy_before"]
    assert bad["entropy_after"] > 0.8 * bad["entropy_before"]
    assert bad["held_out_evidence"] < 0.5 * good["held_out_evidence"]


PAPER_TO_CODE = (ROOT / "docs" / "paper-to-code.md").read_text("utf-8")
PAPER_LABELS = (  # of its equations, all of them
    *("free_eng", "aux_p", "true_post", "KL_written_out"),
    *("QR", "pair_posterior", "QR_again", "diverse_clustering"),
)


def named_on(page: str, pattern: str) -> list[str]:
    """What a page names in code type, each once."""
    return sorted(set(re.findall(f"`({pattern})`", page)))


@pytest.mark.parametrize("name", named_on(PAPER_TO_CODE, r"tacit\.[\w.]+"))
def test_names_on_paper_to_code_exist(name: str):
    assert pkgutil.resolve_name(name) is not None


@pytest.mark.parametrize("name", named_on(PAPER_TO_CODE, r"tests/[\w/]+\.py::\w+"))
def test_tests_on_paper_to_code_exist(name: str):
    path, test = name.split("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("label", PAPER_LABELS)
def test_labelled_equations_have_function_and_test(label: str):
    (row,) = re.findall(rf"^\| `eq:{label}` \|.*$", PAPER_TO_CODE, re.MULTILINE)
    assert "`tacit." in row
    assert "`tests/" in row or "as for" in row


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_equation_labels_are_those_of_the_paper(page: Path):
    named = {label.removeprefix("eq:") for label in named_on(page.read_text("utf-8"), r"eq:\w+")}
    assert named - set(PAPER_LABELS) == set()


def test_decisions_are_listed():
    pages = [page.name for page in (ROOT / "docs" / "decisions").glob("0*.md")]
    index = (ROOT / "docs" / "decisions" / "index.md").read_text("utf-8")
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [p for p in pages if f"({p})" not in index or f"decisions/{p}" not in navigation] == []


@pytest.fixture
def hook() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "documented.py")))


class Documented:
    """A class that says what it is."""

    def told(self):
        """A method that does as well."""

    def untold(self): ...


class Heir(Documented):
    def told(self): ...


def test_members_without_docstring_are_found(hook: SimpleNamespace):
    assert list(hook.silent_members(Documented)) == ["untold"]


def test_inherited_docstring_counts(hook: SimpleNamespace):
    assert list(hook.silent_members(Heir)) == []


def test_names_without_docstring_are_found(hook: SimpleNamespace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Documented, "__doc__", None)
    monkeypatch.setattr("tacit.errors.TacitError", Documented)
    assert list(hook.undocumented("tacit.errors")) == [
        "tacit.errors.TacitError",
        "tacit.errors.TacitError.untold",
    ]


def test_names_absent_from_the_site_fail_the_build(hook: SimpleNamespace, tmp_path: Path):
    (tmp_path / "page.html").write_text('<h2 id="tacit.errors.refuse">refuse</h2>')
    with pytest.raises(Exception, match=r"tacit\.errors\.TacitError is on no page") as refusal:
        hook.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    assert "tacit.errors.refuse" not in str(refusal.value)
