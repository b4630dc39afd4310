"""Taxonomies from YAML, JSON, Parquet and CSV files."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from tacit.errors import InvalidInputError
from tacit.sources import Taxonomy
from tacit.table._errors import did_you_mean, reading, refused, shown
from tacit.table._json import unique_names
from tacit.table._numbers import floats
from tacit.table._paths import format_of, located
from tacit.table._tables import checked_column, ids_of, open_table

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tacit.table._sheet import Sheet

__all__ = ["read"]

_DEEPEST: Final = 100
"""Levels of a tree; more are a mistake."""


def read(path: str | os.PathLike[str]) -> Taxonomy:
    """Read a taxonomy; see `tacit.table.read_taxonomy`."""
    place = located(path)
    name = place.name.lower()
    if name.endswith((".yaml", ".yml")):
        return _of_tree(place, _yaml(place), "YAML")
    if name.endswith(".json"):
        return _of_tree(place, unique_names(place), "JSON")
    kind = format_of(place)
    if kind not in ("parquet", "csv"):
        raise refused(place, "is no taxonomy", "write it as YAML, JSON or CSV")
    return _of_table(place, kind)


class _Names(yaml.SafeLoader):  # type: ignore[misc]
    """Takes what is written for a name: `no` is one, and so is 7. Only nothing is nothing."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for number, (key, _) in enumerate(node.value):
            if not isinstance(key, yaml.ScalarNode) or key.value in names[:number]:
                line = key.start_mark.line + 1
                raise ValueError(f"line {line}: a name that comes twice, or is none")
        return super().construct_mapping(node, deep)


_NULL: Final = "tag:yaml.org,2002:null"
_Names.yaml_implicit_resolvers = {
    first: [each for each in resolvers if each[0] == _NULL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(path: Path) -> Any:
    with reading(path, "YAML"):
        text = path.read_bytes().decode("utf-8-sig")
        # A few aliases can stand for more names than there is memory, or for themselves.
        alias = next((e for e in yaml.parse(text) if isinstance(e, yaml.AliasEvent)), None)
        if alias is not None:
            raise ValueError(f"line {alias.start_mark.line + 1}: an alias, *{alias.anchor[:40]}")
        return yaml.load(text, Loader=_Names)  # a SafeLoader


def _of_tree(path: Path, tree: Any, kind: str) -> Taxonomy:
    """A taxonomy from nested names; looks for names that come twice, to say where."""
    weights = None
    if isinstance(tree, dict) and {*tree} == {"tree", "weights"}:
        weights, tree = _weights_of(path, tree["weights"]), tree["tree"]
    above: dict[str, tuple[str, ...]] = {}
    for name, where in _named(path, tree, ()):
        if name in above:
            raise refused(
                path,
                f"holds {shown(name)} twice, {_below(above[name])} and {_below(where)}",
                "give the two different names, such as with what is above them in front",
            )
        above[name] = where
    if not above:
        raise refused(path, f"holds no names in its {kind}", "write a tree of names")
    parents = {name: where[-1] if where else None for name, where in above.items()}
    with _told(path):
        return Taxonomy(parents, weights=weights)


def _named(path: Path, tree: Any, where: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each name with those above it."""
    if len(where) > _DEEPEST:
        raise refused(path, f"is nested more than {_DEEPEST} deep", "look for a mistake in it")
    if isinstance(tree, dict):
        for name, below in tree.items():
            own = _name(path, name, where)
            yield own, where
            if below is not None:
                yield from _named(path, below, (*where, own))
        return
    for each in tree if isinstance(tree, list) else [tree]:
        if isinstance(each, list):
            raise refused(
                path, f"holds a list in a list {_below(where)}", "write names, or names with lists"
            )
        if isinstance(each, dict):
            yield from _named(path, each, where)
        else:
            yield _name(path, each, where), where


def _name(path: Path, name: Any, where: tuple[str, ...]) -> str:
    good = isinstance(name, str | int) and not isinstance(name, bool) and str(name).strip()
    if not good:
        raise refused(
            path, f"holds {shown(name)} {_below(where)}, which is no name", "write a name, as text"
        )
    return str(name)


def _below(where: Sequence[str]) -> str:
    return f"below {' > '.join(map(shown, where[-3:]))}" if where else "at the top"


def _of_table(path: Path, kind: str) -> Taxonomy:
    sheet = open_table(path, kind)
    checked_column(sheet, "name")
    checked_column(sheet, "parent")
    names = ids_of(sheet, "name").cast(pa.large_string())
    parts = [columns["parent"] for _, columns in sheet.parts(texts=["parent"])]
    with reading(path, "a taxonomy"):
        column = pa.chunked_array(parts).combine_chunks().cast(pa.large_string())
        above = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    parents = dict(
        zip(names.to_pylist(), (each or None for each in above.to_pylist()), strict=True)
    )
    _check_orphans(path, parents)
    _check_cycles(path, parents)
    with _told(path):
        return Taxonomy.from_edges(parents.items(), weights=_weights_in(sheet, names))


def _weights_of(path: Path, weights: Any) -> dict[str, float]:
    """Weights by the names of classes; numbers of YAML come as they are written."""
    if not isinstance(weights, dict):
        raise refused(
            path, f"holds {shown(weights)} for weights", "write a number for each class, by name"
        )
    found = {}
    for name, weight in weights.items():
        try:
            found[_name(path, name, ("weights",))] = float(weight)
        except (TypeError, ValueError) as error:
            raise refused(
                path, f"gives {shown(name)} the weight {shown(weight)}", "write a number above 0"
            ) from error
    return found


def _weights_in(sheet: Sheet, names: pa.Array) -> dict[str, float] | None:
    """The weights in a table, where there are any; what is no leaf has none."""
    if "weight" not in sheet.names:
        return None
    parts = [floats(columns["weight"]) for _, columns in sheet.parts(numbers=["weight"])]
    found = zip(names.to_pylist(), np.concatenate(parts).tolist(), strict=True)
    return {name: weight for name, weight in found if not math.isnan(weight)} or None


def _check_orphans(path: Path, parents: dict[str, str | None]) -> None:
    """Refuse a parent that has no row, where the file says what is at the top."""
    if None not in parents.values():
        return
    for row, (name, above) in enumerate(parents.items()):
        if above is not None and above not in parents:
            raise refused(
                path,
                f"puts {shown(name)} below {shown(above)}, which has no row"
                f"{did_you_mean(above, parents)}",
                "mend it, or add a row for it",
                row=row,
                column="parent",
            )


def _check_cycles(path: Path, parents: dict[str, str | None]) -> None:
    sound: set[str] = set()
    for row, start in enumerate(parents):
        seen: set[str] = set()
        name: str | None = start
        while name is not None and name not in sound:
            if name in seen:
                raise refused(
                    path,
                    f"puts {shown(start)} below {shown(name)}, which is below itself",
                    "take the circle apart",
                    row=row,
                    column="parent",
                )
            seen.add(name)
            name = parents.get(name)
        sound |= seen


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Name the file in what a taxonomy refuses."""
    try:
        yield
    except InvalidInputError as error:
        reason = shown(str(error).rstrip("."), 160)
        raise refused(path, f"holds no taxonomy ({reason})", "mend it") from error
