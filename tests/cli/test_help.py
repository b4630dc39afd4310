"""Help that is quick and teaches by example, and statuses of what is not understood."""

import re
import resource
import subprocess
import sys

import pytest

from tests.cli.cases import command, environment, tacit
from tests.test_imports import loaded_by

COMMANDS = (
    *("demo", "resolve", "predict", "check", "report", "reproduce", "learn-belief"),
    *("cooccurrence", "belief", "evaluate"),
)


def plain(text):
    """Text without colours, frames and the breaks of lines."""
    return " ".join(re.sub(r"\x1b\[[\d;]*m|[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("arguments", [("--help",), ("reproduce", "--help")])
def test_help_answers_in_half_a_second(arguments):
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command(*arguments), env=environment(), capture_output=True, check=True, timeout=120
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time, not the clock's, so that a busy machine does not matter.
    assert after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime < 0.5


@pytest.mark.parametrize("arguments", [["--help"], ["reproduce", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    statement = f"import sys; sys.argv = {['tacit', *arguments]}; import contextlib, io\n"
    statement += "from tacit.cli import main\n"
    statement += "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):"
    found = loaded_by(statement + " main()")
    assert "typer" in found
    assert not found & {"torch", "numpy", "pyarrow", "scipy", "sklearn", "yaml", "PIL", "rasterio"}


def test_help_names_the_commands_and_the_exit_statuses():
    said = plain(tacit("--help").stdout)
    for name in COMMANDS:
        assert f" {name} " in said
    for words in ("0 done", "1 something cannot be used", "2 the command line", "130 interrupted"):
        assert words in said


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_teaches_by_example(name):
    said = plain(tacit(name, "--help").stdout)
    assert "Examples" in said
    assert said.count(f"tacit {name}") >= 2
    assert "--json" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("resolv",),
        ("resolve", "x.npy", "--belief", "b.csv"),
        ("resolve", "x.npy", "--members", "two"),
        ("predict", "run"),
        ("check", "a.csv", "--weight", "1"),
    ],
)
def test_command_line_that_is_not_understood_ends_with_status_two(arguments):
    done = tacit(*arguments, code=2)
    assert done.stdout == ""
    assert "Error" in done.stderr


def test_misspelt_option_is_answered_with_the_one_meant():
    done = tacit("resolve", "x.npy", "--belief", "b.csv", code=2)
    assert "--beliefs" in plain(done.stderr)


def test_version_is_that_of_the_package():
    from importlib.metadata import version

    assert tacit("--version").stdout == version("tacit-learn") + "\n"


def test_module_and_command_are_one():
    for head in ([f"{sys.prefix}/bin/tacit"], [sys.executable, "-m", "tacit"]):
        said = subprocess.run([*head, "--version"], capture_output=True, text=True, check=True)
        assert said.stdout == tacit("--version").stdout
