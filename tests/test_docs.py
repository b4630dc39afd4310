"""The code that the documents show runs, and no public name goes without documentation."""

import ast
import pkgutil
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def code_of(page: Path) -> str:
    """The Python that a page shows, all blocks as one script."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return "\n".join(blocks)


def run(page: Path) -> dict[str, Any]:
    shown: dict[str, Any] = {"__name__": "shown"}
    exec(compile(code_of(page), str(page), "exec"), shown)
    return shown


@pytest.mark.parametrize(
    "page", [page for page in PAGES if code_of(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_shown_code_runs(page: Path):
    run(page)


def test_quick_start_resolves_the_labels():
    assert run(ROOT / "README.md")["correct"] > 0.95


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
