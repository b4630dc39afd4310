"""The command line: each command parses, calls one function of the library, and renders."""

from tacit.cli._app import main

__all__ = ["main"]
