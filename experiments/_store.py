"""The record of an experiment: a cell for each setting and seed, kept as soon as it is measured."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, TypeAlias
from zipfile import BadZipFile

import numpy as np

from tacit._files import write_atomically
from tacit.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Cell", "Figures", "Store"]

Cell: TypeAlias = "dict[str, str | int | float]"
"""Settings by name; one of them is usually the seed."""
Figures: TypeAlias = "dict[str, Any]"
"""What was measured: numbers, texts, lists, as JSON has them."""


class Store:
    """A record, in memory and as a file.

    The file is JSON with a line for each cell, and is replaced as a whole: at any moment it is the
    old one or the new one.

    Args:
        path: The file; it need not be there yet.
        experiment: Whose record it is.
    """

    def __init__(self, path: Path, experiment: str) -> None:
        self.path, self.experiment = path, experiment
        self.data: dict[str, str] = {}
        self.circumstances: list[dict[str, Any]] = []
        self._cells: dict[str, tuple[Cell, int, Figures]] = {}
        self._begun: tuple[dict[str, Any], dict[str, str]] = {}, {}
        if path.exists():
            self._read()

    def __contains__(self, cell: Cell) -> bool:
        return _key(cell) in self._cells

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, cell: Cell) -> Figures:
        return self._cells[_key(cell)][2]

    def matching(self, **settings: str | float) -> Iterator[tuple[Cell, Figures]]:
        """The cells that have these settings, in order of their seeds."""
        found = [
            (cell, figures)
            for cell, _, figures in self._cells.values()
            if settings.items() <= cell.items()
        ]
        return iter(sorted(found, key=lambda each: int(each[0].get("seed", 0))))

    def settings(self, name: str) -> list[str | int | float]:
        """The values that a setting takes, in the order in which they were measured."""
        return list(
            dict.fromkeys(cell[name] for cell, _, _ in self._cells.values() if name in cell)
        )

    def begin(self, circumstances: Mapping[str, Any], *, data: Mapping[str, Path]) -> None:
        """Say under which circumstances the next cells are measured, and on which files.

        Both are kept with the first of these cells.

        Raises:
            InvalidInputError: If a file is not the one that the record was measured on.
        """
        found = {name: _checksum(path) for name, path in data.items()}
        for name, path in data.items():
            if self.data.get(name, found[name]) != found[name]:
                raise InvalidInputError(
                    f"'{path}' is not the file that '{self.path}' was measured on (sha256 "
                    f"{found[name]}, not {self.data[name]}); measure into another file with --out."
                )
        self._begun = dict(circumstances), found

    def add(self, cell: Cell, figures: Figures) -> None:
        """Keep a cell."""
        now, data = self._begun
        self.data |= data
        if now not in self.circumstances:
            self.circumstances.append(now)
        self._cells[_key(cell)] = (cell, self.circumstances.index(now), figures)
        self._write()

    def _write(self) -> None:
        head = {
            "experiment": self.experiment,
            "data": dict(sorted(self.data.items())),
            "circumstances": self.circumstances,
        }
        opened = json.dumps(head, indent=1).removesuffix("\n}")
        lines = ",\n  ".join(
            json.dumps({**cell, "circumstances": number, "figures": figures})
            for cell, number, figures in self._cells.values()
        )
        text = f'{opened},\n "cells": [\n  {lines}\n ]\n}}\n'
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, lambda file: file.write(text.encode()), error=InvalidInputError)

    def _read(self) -> None:
        try:
            stored = json.loads(self.path.read_text("utf-8"))
            whose = stored["experiment"]
            self.data, self.circumstances = stored["data"], stored["circumstances"]
            for line in stored["cells"]:
                number, figures = line.pop("circumstances"), line.pop("figures")
                self._cells[_key(line)] = (line, number, figures)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInputError(
                f"'{self.path}' must be the record of an experiment, but it cannot be read "
                f"({type(error).__name__}: {error}); name another file with --out."
            ) from error
        if whose != self.experiment:
            raise InvalidInputError(
                f"'{self.path}' is the record of '{whose}', not of '{self.experiment}'; name "
                "another file with --out."
            )


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)


def _checksum(path: Path) -> str:
    """SHA-256 of what a file says: of the arrays of an archive, however it is packed."""
    found = hashlib.sha256()
    try:
        if path.suffix == ".npz":
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                for name in sorted(file.files):
                    array = file[name]
                    found.update(f"{name} {array.dtype} {array.shape}".encode())
                    found.update(array.tobytes())
        else:
            found.update(path.read_bytes())
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}".rstrip(".")
        raise InvalidInputError(
            f"'{path}' cannot be read ({why}); name the folder that holds the data with --data."
        ) from error
    return found.hexdigest()[:16]
