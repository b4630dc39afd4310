"""The project's own scripts do what they are for."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_large_files_are_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    large, small = tmp_path / "large", tmp_path / "small"
    large.write_bytes(bytes(300_001))
    small.write_bytes(bytes(300_000))
    main = runpy.run_path(str(ROOT / "tools" / "large_files.py"))["main"]
    assert main([str(small)]) == 0
    assert main([str(large), str(small)]) == 1
    assert capsys.readouterr().err == f"{large} has 300,001 bytes; the limit is 300,000\n"


@pytest.mark.parametrize("arguments", [[], ["dmeo"], ["demo", "now"]])
def test_command_line_refuses_what_it_does_not_know(arguments: list[str]):
    done = subprocess.run(
        [sys.executable, "-m", "tacit", *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "usage: python -m tacit demo\n")
