"""Options of the commands about maps, from text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.raster import LayerFile

__all__ = ["layer_of", "merging"]

_NUMBERS: Final = ("weight", "sigma")
_WORDS: Final = ("how", "layer")


def merging(pairs: Sequence[str] | None) -> dict[str, str]:
    """Classes that count as others, from `from=into`.

    Example:
        >>> merging(["barren=impervious surface", "road=impervious surface"])
        {'barren': 'impervious surface', 'road': 'impervious surface'}
    """
    found = {}
    for pair in pairs or ():
        name, equals, into = (part.strip() for part in pair.partition("="))
        if not (equals and name and into):
            got = f"it is {pair!r}"
            raise refuse("--merge", "be FROM=INTO", got, "write --merge barren=impervious")
        found[name] = into
    return found


def layer_of(text: str) -> LayerFile:
    """A layer from `FILE=CLASS,weight=20,sigma=2`.

    Example:
        >>> layer_of("roads.gpkg=road,weight=20,how=sum")[:5]
        ('roads.gpkg', 'road', 20.0, 2.0, 'sum')
    """
    from tacit.raster import LayerFile

    head, *rest = text.split(",")
    path, equals, supports = head.rpartition("=")
    settings: dict[str, Any] = dict(part.strip().partition("=")[::2] for part in rest)
    strange = {*settings} - {*_NUMBERS, *_WORDS}
    if not equals or not path or not supports or strange:
        raise refuse(
            "--layer",
            "be FILE=CLASS, and perhaps ,weight=20,sigma=2,how=sum,layer=NAME",
            f"it is {text!r}",
            "write --layer roads.gpkg=road,weight=20",
        )
    for name in {*settings} & {*_NUMBERS}:
        settings[name] = _number(settings[name], name)
    return LayerFile(path, supports, **settings)


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        got = f"its {name} is {text!r}"
        raise refuse("--layer", "have numbers", got, f"write {name}=20") from error
