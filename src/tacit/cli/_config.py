"""Settings from a configuration file and from the command line, which wins."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import InvalidInputError, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["assigned", "from_file", "merged", "value_of"]

_SUFFIXES: Final = {".toml": "TOML", ".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}


def from_file(path: Path | None) -> dict[str, Any]:
    """The settings in a file of TOML, YAML or JSON, or in a run's `run.json`.

    Args:
        path: The file; no settings where none is named.
    """
    if path is None:
        return {}
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise InvalidInputError(
            f"'{path}' cannot be read ({reason}); name another file."
        ) from error
    settings = _parsed(path, text)
    if isinstance(settings, dict) and "recipe" in settings and "what" in settings:
        settings = settings["recipe"]  # of a run
    _check_flat(path, settings)
    return {str(name).replace("-", "_"): value for name, value in settings.items()}


def assigned(pairs: Iterable[str]) -> dict[str, Any]:
    """Settings given as `name=value`.

    Example:
        >>> assigned(["weight_decay=0.01", "schedule=plateau"])
        {'weight_decay': 0.01, 'schedule': 'plateau'}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise refuse("--set", "be name=value", f"it is {pair!r}", "write --set epochs=20")
        found[name.strip().replace("-", "_")] = value_of(text.strip())
    return found


def value_of(text: str) -> Any:
    """A number, a truth value or a list as TOML writes it; anything else is text.

    Example:
        >>> value_of("20"), value_of("0.5"), value_of("true"), value_of("auto")
        (20, 0.5, True, 'auto')
    """
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return text
    return parsed["value"] if parsed.keys() == {"value"} else text


def merged(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of all sources; later ones win, and None is no setting."""
    found: dict[str, Any] = {}
    for source in sources:
        found |= {name: value for name, value in source.items() if value is not None}
    return found


def _check_flat(path: Path, settings: Any) -> None:
    nested = None
    if isinstance(settings, dict):
        nested = next((name for name, each in settings.items() if isinstance(each, dict)), None)
    if nested is None and isinstance(settings, dict):
        return
    raise refuse(
        "--config",
        "hold one flat table of settings",
        f"'{path}' has a table `{nested}` in it" if nested is not None else f"'{path}' does not",
        'write lines such as: epochs = 20 (TOML) or "epochs: 20" (YAML)',
    )


def _parsed(path: Path, text: str) -> Any:
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise refuse(
            "--config", "end in .toml, .yaml, .yml or .json", f"it is '{path}'", "rename the file"
        )
    try:
        return _read(kind, text)
    except Exception as error:  # the libraries have many kinds
        reason = " ".join(str(error).split())
        raise InvalidInputError(
            f"'{path}' cannot be read as {kind} ({reason}); mend the line."
        ) from error


def _read(kind: str, text: str) -> Any:
    if kind == "TOML":
        return tomllib.loads(text)
    if kind == "JSON":
        import json

        return json.loads(text)
    import yaml

    found = yaml.safe_load(text)
    return {} if found is None else found
