"""Checkpoints: one file, written whole or not at all, without pickle.

A state is a tree of dictionaries, lists, numbers, texts and tensors. The tensors go into the body
of a safetensors file and the rest, as JSON, into its header, with a checksum over both.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Final

from torch import Tensor

from tacit._files import write_atomically
from tacit.errors import TacitError
from tacit.fitting._fingerprint import checksum

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CheckpointError", "load_state", "save_state"]

VERSION: Final = 1
_TENSOR: Final = "$tensor"


class CheckpointError(TacitError):
    """A stored state cannot be written, read, or used for what is asked."""


def save_state(path: Path, state: dict[str, Any], *, kind: str) -> None:
    """Store a state; whatever happens, the file is either the old or the new one.

    Args:
        path: The file.
        state: A tree of dictionaries, lists, numbers, texts and tensors.
        kind: What it is a state of, checked when it is read.
    """
    from safetensors.torch import save

    tensors: dict[str, Tensor] = {}
    skeleton = _without_tensors(state, "", tensors)
    words = json.dumps({"version": VERSION, "kind": kind, "state": skeleton})
    header = {"tacit": words, "checksum": _checksum(words, tensors)}
    body = save({name: tensor.contiguous() for name, tensor in tensors.items()}, metadata=header)
    write_atomically(path, lambda file: file.write(body), error=CheckpointError)


def load_state(path: Path, *, kind: str) -> dict[str, Any]:
    """Read a state that `save_state` has stored, onto the CPU.

    Args:
        path: The file.
        kind: What it must be a state of.

    Raises:
        CheckpointError: If the file is missing, truncated, tampered with, of another kind, or from
            a newer version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        words = header.get("tacit", "null")
        stored = json.loads(words)
    except FileNotFoundError as error:
        raise CheckpointError(f"'{path}' is not there; look for a misspelt name.") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"'{path}' cannot be read ({error}); it is truncated or no file of tacit's: go back to "
            "a copy, or train again."
        ) from error
    _check_header(path, stored, kind)
    if header.get("checksum") != _checksum(words, tensors):
        raise CheckpointError(
            f"'{path}' is not as it was written; go back to a copy, or train again."
        )
    state: dict[str, Any] = _with_tensors(stored["state"], tensors)
    return state


def _checksum(words: str, tensors: dict[str, Tensor]) -> str:
    found = zlib.crc32(words.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        found = zlib.crc32(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode(), found)
        found = checksum(tensor, found)
    return f"{found:08x}"


def _check_header(path: Path, stored: Any, kind: str) -> None:
    if not isinstance(stored, dict) or not isinstance(stored.get("state"), dict):
        raise CheckpointError(f"'{path}' was not written by tacit; pass a file that was.")
    if stored.get("version") != VERSION:
        raise CheckpointError(
            f"'{path}' has version {stored.get('version')} and this tacit reads {VERSION}; "
            "use the tacit that wrote it."
        )
    if stored.get("kind") != kind:
        raise CheckpointError(
            f"'{path}' holds a {stored.get('kind')} where a {kind} was expected; pass another file."
        )


def _without_tensors(tree: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    if isinstance(tree, Tensor):
        tensors[name] = tree.detach().cpu().clone()
        return {_TENSOR: name}
    if isinstance(tree, dict):
        # Names of keys may be numbers, as in an optimizer's state: kept beside the value.
        return {
            "$items": [
                [key, _without_tensors(value, f"{name}/{key}", tensors)]
                for key, value in tree.items()
            ]
        }
    if isinstance(tree, list | tuple):
        return [_without_tensors(value, f"{name}/{i}", tensors) for i, value in enumerate(tree)]
    return tree


def _with_tensors(tree: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(tree, dict):
        if _TENSOR in tree:
            return tensors[tree[_TENSOR]]
        return {key: _with_tensors(value, tensors) for key, value in tree["$items"]}
    if isinstance(tree, list):
        return [_with_tensors(value, tensors) for value in tree]
    return tree
