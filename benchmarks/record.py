"""What every recorded figure carries: machine, versions, commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import torch

__all__ = ["circumstances", "memory_of", "write"]


def circumstances(device: str) -> dict[str, Any]:
    """Machine, versions and commit of this run."""
    return {
        "device": torch.cuda.get_device_name() if device == "cuda" else _processor(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "commit": _commit(),
    }


def write(result: dict[str, Any], path: Path | None) -> None:
    """Keep a result as a file, written whole or not at all."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=1) + "\n")
    partial.replace(path)


def memory_of(process: int | str = "self") -> dict[str, int]:
    """What Linux says of the memory of a process, in bytes: "VmHWM" is its peak, and more.

    Empty where there is no such process, or no such system.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    sizes = (line.split() for line in lines if line.endswith(" kB"))
    return {name.rstrip(":"): 1024 * int(kibibytes) for name, kibibytes, _ in sizes}


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _commit() -> str:
    if "COMMIT" in os.environ:
        return os.environ["COMMIT"]
    command = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"
