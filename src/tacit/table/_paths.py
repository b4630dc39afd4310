"""Where a path leads, and what its suffix says of the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tacit.errors import refuse
from tacit.table._errors import did_you_mean, reading, refused

__all__ = ["as_path", "format_of", "located"]

_FORMATS: Final = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".npy": "npy",
    ".npz": "npz",
    ".json": "json",
    ".jsonl": "json",
    ".json.gz": "json",
    ".jsonl.gz": "json",
}


def as_path(path: str | os.PathLike[str]) -> Path:
    """A path as it was given; refuses what is none."""
    if isinstance(path, str | Path) and str(path) and "\0" not in str(path):
        return Path(path)
    if isinstance(path, os.PathLike):
        return as_path(os.fspath(path))
    raise refuse("path", "name a file", f"it is {path!r}", 'pass text or a Path, as in "b.csv"')


def located(path: str | os.PathLike[str]) -> Path:
    """The file or folder that a path names; refuses what is not there, or empty."""
    place = as_path(path)
    try:
        there, regular, folder = place.exists(), place.is_file(), place.is_dir()
        n_bytes = place.stat().st_size if there else 0
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise refused(place, f"cannot be looked at ({reason})", "choose another path") from error
    if not there:
        raise _missing(place)
    if not regular and not folder:
        raise refused(place, "is neither a file nor a folder", "save it as a file first")
    if regular and n_bytes == 0:
        raise refused(place, "is empty", "write it anew")
    return place


def format_of(path: Path) -> str:
    """What a file or folder is: "parquet", "csv", "npy", "npz", "json" or "folder"."""
    if path.is_dir():
        return "folder"
    name = path.name.lower()
    for suffix, kind in _FORMATS.items():
        if name.endswith(suffix):
            return kind
    raise refused(
        path,
        f"is of no kind that can be read, which its suffix `{path.suffix}` should tell",
        f"write it as one of {', '.join(_FORMATS)}",
    )


def _missing(path: Path) -> Exception:
    folder = path.parent
    if not folder.is_dir():
        return refused(
            path, f"is not there, nor is its folder `{folder}`", "look for a misspelling"
        )
    with reading(folder, "a folder"):
        near = did_you_mean(path.name, (each.name for each in folder.iterdir()))
    return refused(path, f"is not there{near}", "look for a misspelling")
