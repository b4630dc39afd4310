"""A hook of mkdocs: the build fails where a public name has no documentation.

Public is what the `__all__` of a public module names, and the public methods of such classes. Each
must have a docstring, its own or an inherited one, and each name of `__all__` a place in the site.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig

MODULES = (
    "tacit.beliefs",
    "tacit.evidence",
    "tacit.objectives",
    "tacit.sources",
    "tacit.predictors",
    "tacit.fitting",
    "tacit.diagnostics",
    "tacit.estimator",
    "tacit.table",
    "tacit.raster",
    "tacit.runs",
    "tacit.report",
    "tacit.errors",
)
DESCRIBED = (property, classmethod, staticmethod, FunctionType)


def on_post_build(config: MkDocsConfig) -> None:
    """Compare the public names with the finished site; mkdocs calls this last."""
    pages = Path(config.site_dir).rglob("*.html")
    anchors = {anchor for page in pages for anchor in anchors_of(page.read_text("utf-8"))}
    public = [f"{module}.{name}" for module in MODULES for name in import_module(module).__all__]
    absent = [f"{name} is on no page of the reference" for name in public if name not in anchors]
    silent = [f"{name} has no docstring" for module in MODULES for name in undocumented(module)]
    if absent or silent:
        raise PluginError("\n".join(["public names without documentation:", *absent, *silent]))


def anchors_of(page: str) -> list[str]:
    """The places of a page that a link can point to, as far as they are names of tacit."""
    return re.findall(r'id="(tacit\.[\w.]+)"', page)


def undocumented(module: str) -> Iterator[str]:
    """Public names of a module, and public members of its classes, without a docstring."""
    home = import_module(module)
    for name in home.__all__:
        value = getattr(home, name)
        if not inspect.getdoc(value):
            yield f"{module}.{name}"
        if inspect.isclass(value):
            yield from (f"{module}.{name}.{member}" for member in silent_members(value))


def silent_members(owner: type) -> Iterator[str]:
    """Public methods and properties that a class of tacit defines without a docstring."""
    for name in vars(owner):
        described = isinstance(inspect.getattr_static(owner, name), DESCRIBED)
        if described and not name.startswith("_") and not inspect.getdoc(getattr(owner, name)):
            yield name
