"""Run folders: what was asked for, with which versions, on what machine, and how far it came.

A run is a folder with `run.json` beside its metrics, checkpoint and outputs. Nothing of another run
is ever written over: a folder is new, or a run of the same recipe that goes on.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import re
import shutil
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from tacit._files import write_atomically
from tacit.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

__all__ = ["DESCRIPTION", "RunError", "RunFolder", "as_json", "circumstances", "recipe_of"]

DESCRIPTION: Final = "run.json"
"""The file of a run's folder that says what the run is."""
FORMAT: Final = 1
_WHAT: Final = "a run of tacit"
_PACKAGES: Final = ("tacit-learn", "torch", "numpy", "scikit-learn", "scipy", "pyarrow", "rasterio")
_LEFT_OVER: Final = re.compile(
    r"\.(run\.json|metrics\.jsonl|checkpoint\.safetensors|resolved\.parquet|advocates\.json|model|report\.html)"
    r"\.[0-9a-f]{8}\.(partial|old)"
)
"""What a process that was killed while it wrote has left behind."""
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
"""What file systems say that have no locks."""


class RunError(TacitError):
    """A run folder cannot be used for what is asked; nothing in it was changed."""


class RunFolder:
    """A run's folder, held by one process at a time.

    Args:
        path: The folder.
        described: What `run.json` says.

    Attributes:
        path: The folder.
        was_complete: Whether the run had come to its end before.
    """

    def __init__(self, path: Path, described: dict[str, Any]) -> None:
        self.path, self._described = path, described
        self.was_complete = described["status"] == "complete"

    @classmethod
    @contextmanager
    def opened(
        cls,
        path: Path,
        command: str,
        recipe: Mapping[str, Any],
        *,
        resume: bool,
        free: Collection[str] = (),
    ) -> Iterator[RunFolder]:
        """Start a run in a new folder, or go on with one of the same recipe.

        A folder that was made here goes again where the run ends before it has left anything.

        Args:
            path: The folder; it is made, with those above it.
            command: What is run.
            recipe: All settings, resolved: plain values, as JSON has them.
            resume: Whether to go on where a run of this recipe is.
            free: Settings that may be others when the run goes on.
        """
        with _held(path) as made:
            _sweep(path)
            before = _read(path)
            _check_folder(path, before, resume=resume)
            if before is not None:
                _check_recipe(path, before, command, recipe, free)
                before["recipe"] |= {name: recipe[name] for name in free if name in recipe}
            run = cls(path, before or _described(command, recipe))
            try:
                if not run.was_complete:
                    run._write()
                yield run
            except BaseException:
                if before is None:
                    _discard(path, made)
                raise

    def results(self) -> dict[str, Any] | None:
        """What the run came to, if it came to its end before."""
        return self._described.get("results") if self.was_complete else None

    def complete(self, results: Mapping[str, Any]) -> None:
        """Note that the run has come to its end, and with what.

        Args:
            results: Figures that sum it up.
        """
        self._described |= {
            "status": "complete",
            "ended": _now(),
            "results": dict(results),
        }
        self._write()

    def _write(self) -> None:
        body = as_json(self._described, indent=1).encode() + b"\n"
        write_atomically(self.path / DESCRIPTION, lambda file: file.write(body), error=RunError)


def as_json(plain: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Plain values as JSON that can be written as UTF-8; odd names of files cannot as they are.

    Args:
        plain: The values.
        indent: Spaces of each level; all stands on one line unless given.
    """
    text = json.dumps(plain, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain, indent=indent)
    return text


def recipe_of(path: Path) -> dict[str, Any] | None:
    """The recipe of the run in a folder; None where there is none.

    Args:
        path: The folder.
    """
    described = _read(path)
    return None if described is None else dict(described["recipe"])


def circumstances() -> dict[str, Any]:
    """Versions and machine of this process."""
    import torch

    from tacit._processes import n_processes

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {
        "versions": {"python": platform.python_version()}
        | {name: found for name in _PACKAGES if (found := _version(name))},
        "machine": {
            "system": platform.platform(),
            "processors": os.cpu_count(),
            "processes": n_processes("world"),
            "threads": torch.get_num_threads(),
            "gpu": gpu,
        },
    }


def _described(command: str, recipe: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "what": _WHAT,
        "format": FORMAT,
        "command": command,
        "recipe": dict(recipe),
        "status": "running",
        "started": _now(),
        **circumstances(),
    }


def _read(path: Path) -> dict[str, Any] | None:
    """What a folder says of itself, or None where it holds no run."""
    try:
        described = json.loads((path / DESCRIPTION).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(
            f"'{path / DESCRIPTION}' cannot be read ({error}); choose another folder with --out."
        ) from error
    if not isinstance(described, dict) or described.get("what") != _WHAT:
        raise RunError(
            f"'{path}' has a {DESCRIPTION} that is not of tacit; choose another folder with --out."
        )
    if described.get("format") != FORMAT:
        raise RunError(
            f"'{path}' has format {described.get('format')} and this tacit reads {FORMAT}; use the "
            "tacit that wrote it."
        )
    if not _is_whole(described):
        raise RunError(
            f"'{path / DESCRIPTION}' was changed after it was written; choose another folder with "
            "--out."
        )
    return described


def _is_whole(described: Mapping[str, Any]) -> bool:
    """Whether a description has what every description has."""
    complete = described.get("status") == "complete"
    return (
        isinstance(described.get("recipe"), dict)
        and described.get("status") in ("running", "complete")
        and (not complete or isinstance(described.get("results"), dict))
    )


def _check_folder(path: Path, before: dict[str, Any] | None, *, resume: bool) -> None:
    if before is None:
        others = sorted(each.name for each in path.iterdir())
        if others:
            raise RunError(
                f"'{path}' holds other files ({', '.join(others[:3])}); name a new folder with "
                "--out."
            )
    elif not resume:
        done = before.get("status") == "complete"
        raise RunError(
            f"'{path}' holds {'a finished' if done else 'an unfinished'} run"
            f" started {before.get('started')}; "
            + ("" if done else "pass --resume to go on with it, or ")
            + "name a new folder with --out."
        )


def _check_recipe(
    path: Path,
    before: dict[str, Any],
    command: str,
    recipe: Mapping[str, Any],
    free: Collection[str],
) -> None:
    now = {"command": command, **json.loads(json.dumps(dict(recipe)))}
    then = {"command": before.get("command"), **before["recipe"]}
    for name in sorted({*now, *then} - {*free}):
        if now.get(name) != then.get(name):
            raise RunError(
                f"'{path}' holds a run with {name} = {then.get(name)!r}, not {now.get(name)!r}; "
                "resume with the same settings, or name a new folder with --out."
            )


@contextmanager
def _held(path: Path) -> Iterator[list[Path]]:
    """Keep other processes out of a folder; the system forgets the lock of one that died.

    Yields:
        The folders that were made for it, the innermost first.
    """
    try:
        made = [each for each in (path, *path.parents) if not each.exists()]
        path.mkdir(parents=True, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except (FileExistsError, NotADirectoryError) as error:
        raise RunError(f"'{path}' is or lies in a file; name a folder with --out.") from error
    except OSError as error:
        raise RunError(
            f"'{path}' cannot be made ({error.strerror}); name another folder with --out."
        ) from error
    try:
        _lock(folder, path)
        yield made
    finally:
        os.close(folder)


def _lock(folder: int, path: Path) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return
        raise RunError(
            f"'{path}' is in use by another process; wait for it, or name another folder with "
            "--out."
        ) from error


def _sweep(path: Path) -> None:
    """Clear away what was being written when a process was killed."""
    for each in path.iterdir():
        if _LEFT_OVER.fullmatch(each.name):
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            else:
                with suppress(OSError):
                    each.unlink()


def _discard(path: Path, made: list[Path]) -> None:
    """Take back a run that has left nothing, and the folders that were made for it."""
    with suppress(OSError):
        _sweep(path)
        entries = [*path.iterdir()]
        if any(
            each.name != DESCRIPTION and (each.stat().st_size or each.is_dir()) for each in entries
        ):
            return
        for each in entries:
            each.unlink()
        for folder in made:
            folder.rmdir()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
