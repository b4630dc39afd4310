"""Refuse files above 300 kB: large ones belong in a download with a checksum, not in the history.

Takes the paths to look at as its arguments, as pre-commit hands them over.
"""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT = 300_000


def main(paths: list[str]) -> int:
    """Name every file above the limit and return the exit status."""
    sizes = {path: Path(path).stat().st_size for path in paths}
    too_large = {path: size for path, size in sizes.items() if size > LIMIT}
    for path, size in too_large.items():
        print(f"{path} has {size:,} bytes; the limit is {LIMIT:,}", file=sys.stderr)
    return int(bool(too_large))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
