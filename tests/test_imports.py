"""Imports point towards the core, heavy ones wait until they are needed, and `__all__` is true."""

import ast
import json
import pkgutil
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

import pytest

import tacit

ROOT = Path(tacit.__file__).parent

# The layers, from the core outwards. A module may import from its own package and from the layers
# before its own, never from a neighbour in the same layer. `tacit/__init__.py` stands above all.
LAYERS = (
    ("errors",),
    ("_processes", "_files"),
    ("evidence",),
    ("beliefs",),
    ("objectives",),
    ("predictors", "diagnostics"),
    ("fitting",),
    ("sources",),
    ("estimator",),
    ("runs",),
    ("report",),
    ("table",),
    ("raster", "text", "video", "picture"),
    ("demo",),
    ("cli", "studio"),
    ("__main__",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

MODULES = sorted(ROOT.rglob("*.py"))


def package_of(path: Path) -> str:
    """The child of tacit that a file belongs to; empty for `tacit/__init__.py`."""
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imported_packages(source: str, path: Path) -> set[tuple[str, int]]:
    """Children of tacit that a file imports, wherever in it, each with a line that does so.

    An empty name stands for tacit itself.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, path)
            names = [f"{base}.{alias.name}" for alias in node.names] if base == "tacit" else [base]
        else:
            continue
        parts = [[*name.split("."), ""] for name in names]
        children = {part[1] for part in parts if part[0] == "tacit"}
        found |= {(child if is_child(child) else "", node.lineno) for child in children}
    return found


def absolute(node: ast.ImportFrom, path: Path) -> str:
    """The module that `from ... import` names, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    above = ["tacit", *path.relative_to(ROOT).parts[: -node.level]]
    return ".".join([*above, node.module] if node.module else above)


def is_child(name: str) -> bool:
    return name in RANK or (ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file()


def wrong_arrows(source: str, path: Path) -> list[str]:
    """Imports that do not point towards the core, each in words."""
    own = package_of(path)
    return [
        f"{path.relative_to(ROOT)}:{line} imports tacit{'.' if name else ''}{name}"
        for name, line in sorted(imported_packages(source, path))
        if own and name != own and (not name or RANK[name] >= RANK[own])
    ]


def loaded_by(statement: str) -> set[str]:
    """Packages outside the standard library that a statement loads in a fresh interpreter."""
    code = f"import json, sys\nbefore = {{*sys.modules}}\n{statement}\n"
    code += "print(json.dumps([*({*sys.modules} - before)]))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)} - set(sys.stdlib_module_names)


def public_modules() -> list[str]:
    """Names of all modules of tacit without a leading underscore in their path."""
    found = pkgutil.walk_packages([str(ROOT)], prefix="tacit.")
    return ["tacit", *(m.name for m in found if "._" not in m.name)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_imports_towards_the_core(path: Path):
    assert package_of(path) in RANK or not package_of(path), "name the module in LAYERS"
    assert wrong_arrows(path.read_text(encoding="utf-8"), path) == []


@pytest.mark.parametrize(
    "statement",
    [
        "import tacit.objectives",
        "import tacit",
        "from tacit import objectives",
        "from tacit import RQ",
        "from ..objectives import RQ",
        "from .. import objectives",
        "if TYPE_CHECKING:\n    from tacit.objectives import RQ",
        "def late():\n    from tacit.objectives import RQ",
    ],
)
def test_outward_import_is_found(statement: str):
    assert len(wrong_arrows(statement, ROOT / "beliefs" / "categorical.py")) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "from tacit.errors import refuse",
        "from tacit import evidence",
        "from ._base import Belief",
        "import torch",
    ],
)
def test_inward_import_is_allowed(statement: str):
    assert wrong_arrows(statement, ROOT / "beliefs" / "categorical.py") == []


def test_neighbours_in_a_layer_do_not_import_each_other():
    assert wrong_arrows("import tacit.predictors", ROOT / "diagnostics" / "alarms.py")


def test_tacit_itself_loads_nothing_else():
    assert loaded_by("import tacit; tacit.__version__; dir(tacit)") == {"tacit"}


def test_core_loads_what_torch_loads_only():
    core = loaded_by("import tacit.evidence, tacit.beliefs, tacit.objectives")
    assert "torch" in core
    assert core - loaded_by("import torch, torch.distributed") == {"tacit"}


def test_version_is_that_of_the_distribution():
    assert tacit.__version__ == metadata.version("tacit-learn")


def test_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="'tacit' has no attribute 'RR'"):
        _ = tacit.RR


def test_dir_lists_the_public_names():
    assert dir(tacit) == sorted(tacit.__all__)


def test_names_for_type_checkers_are_the_lazy_ones():
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    declared = {alias.name for node in imports for alias in node.names}
    assert {*declared, "__version__"} == set(tacit.__all__)


@pytest.mark.parametrize("name", tacit.__all__)
def test_lazy_name_loads(name: str):
    assert getattr(tacit, name) is not None


@pytest.mark.parametrize("name", public_modules())
def test_public_names_hide_no_module(name: str):
    module = import_module(name)
    inside = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", []))}
    twice = inside & set(module.__all__)
    assert [child for child in twice if not isinstance(getattr(module, child), ModuleType)] == []


@pytest.mark.parametrize("name", public_modules())
def test_all_names_exist_and_are_unique(name: str):
    module = import_module(name)
    names = getattr(module, "__all__", None)
    assert names is not None, "state what is public in __all__"
    assert len(set(names)) == len(names)
    assert [missing for missing in names if not hasattr(module, missing)] == []
