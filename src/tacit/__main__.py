"""`python -m tacit demo` runs the main job."""

from __future__ import annotations

import sys

_USAGE = "usage: python -m tacit demo"


def main(arguments: list[str]) -> int:
    """Run the command that the arguments name.

    Args:
        arguments: What follows `python -m tacit`.

    Returns:
        The exit status: 0 if all went well, 2 if the arguments were not understood.
    """
    if arguments != ["demo"]:
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    from tacit import demo

    demo.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
