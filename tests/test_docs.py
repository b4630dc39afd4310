"""The code that the documents show runs, and no public name goes without documentation."""

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
