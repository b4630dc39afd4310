"""Settings from a configuration file and from the command line, which wins."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidInputError, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["assigned", "from_file", "merged", "value_of"]


def from_file(path: Path | None) -> dict[str, Any]:
    """The settings in a TOML or YAML file; none where no file is named."""
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
    if not isinstance(settings, dict) or any(isinstance(v, dict) for v in settings.values()):
        raise refuse(
            "--config",
            "hold one flat table of settings",
            f"'{path}' does not",
            'write lines such as: epochs = 20 (TOML) or "epochs: 20" (YAML)',
        )
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
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def merged(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of all sources; later ones win, and None is no setting."""
    found: dict[str, Any] = {}
    for source in sources:
        found |= {name: value for name, value in source.items() if value is not None}
    return found


def _parsed(path: Path, text: str) -> Any:
    suffix = path.suffix.lower()
    try:
        if suffix == ".toml":
            return tomllib.loads(text)
        if suffix in (".yaml", ".yml"):
            import yaml

            return yaml.safe_load(text) or {}
    except Exception as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(
            f"'{path}' cannot be read as {suffix[1:].upper()} ({reason}); mend the line."
        ) from error
    raise refuse("--config", "end in .toml, .yaml or .yml", f"it is '{path}'", "rename the file")
