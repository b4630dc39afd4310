"""The benchmarks run, small, and their results hold what the page of benchmarks shows."""

import json
import os
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LOOPS = ("straightforward loop", "lean loop")


@cache
def result_of(script: str, *options: str) -> dict[str, Any]:
    """What a benchmark prints on its last line."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
    return json.loads(told.stdout.splitlines()[-1])


def fitted() -> dict[str, Any]:
    options = ("--device", "cpu", "--rounds", "1", "--rows", "256", "512", "--runs", "2")
    return result_of("fitting.py", *options, "--networks", "perceptron", "--steps", "1")


def resolved() -> dict[str, Any]:
    return result_of("resolve_memory.py", "--rows", "3000")


@pytest.mark.slow
def test_fitting_takes_all_contenders_through_all_cases():
    cases = fitted()["cases"]
    assert [(case["rows"], case["runs"]) for case in cases] == [(256, 1), (512, 1), (512, 2)]
    for case in cases:
        in_turn = ("engine, in turn",) if case["runs"] > 1 else ()
        assert tuple(case["contenders"]) == (*LOOPS, "engine", *in_turn)
        assert all(row["epoch_ms"] > 0 for row in case["contenders"].values())


@pytest.mark.slow
def test_fitting_says_what_it_scales():
    cases = fitted()["cases"]
    assert [case["steps_per_epoch"] for case in cases] == [1, 2, 2]
    assert [case["steps_measured"] for case in cases] == [1, 1, 1]
    counted = [case["contenders"]["lean loop"]["counted_times"] for case in cases]
    assert counted == [1, 1, 2]


@pytest.mark.slow
def test_memory_of_resolve_holds_the_mapped_file_and_what_is_computed():
    measured = {each["kind"]: each for each in resolved()["measured"]}
    assert list(measured) == ["npy", "parquet"]
    for each in measured.values():
        assert each["rows"] == 3000
        assert each["processor_s"] > 0
        assert 0 < each["anonymous_gib"] < each["peak_gib"] < 8


@pytest.mark.slow
def test_both_kinds_of_files_hold_the_same_collection():
    evidence = {each["held_out_evidence"] for each in resolved()["measured"]}
    assert len(evidence) == 1
    assert evidence.pop() > 0


@pytest.fixture
def page() -> dict[str, Any]:
    """The tool that writes the page."""
    return runpy.run_path(str(ROOT / "tools" / "benchmark_page.py"))


@pytest.fixture
def machine() -> dict[str, Any]:
    return {**dict.fromkeys(("device", "python", "torch", "commit"), "some"), "threads": 1}


@pytest.fixture
def fits(machine: dict[str, Any]) -> dict[str, Any]:
    """A record of two cases, in one of which the engine is slower."""
    cases = [
        {
            "network": "perceptron",
            "rows": 5120,
            "runs": runs,
            "steps_per_epoch": 20,
            "steps_measured": 10 * runs,
            "contenders": {
                name: {"epoch_ms": ms, "start_ms": 7.0, "memory_mib": 0.5}
                for name, ms in {"straightforward loop": 3.0, "engine": 2.0 * runs}.items()
            },
        }
        for runs in (1, 2)
    ]
    cases[1]["contenders"]["engine, in turn"] = cases[1]["contenders"]["engine"]
    return {**machine, "rounds": 3, "batch": 256, "cases": cases}


@pytest.mark.parametrize(("device", "named"), [("cpu", "CPU"), ("cuda", "GPU")])
def test_page_has_a_table_each_of_speed_memory_and_start(
    page: dict[str, Any], fits: dict[str, Any], device: str, named: str
):
    shown = page["fitting_section"](device, fits)
    assert shown.startswith(f"### Fitting on a {named}\n")
    assert shown.count("| perceptron | 5,120 | 1 |") == 3
    assert "some, 1 thread, torch some" in shown


def test_page_marks_epochs_that_are_scaled_and_engines_that_are_slower(
    page: dict[str, Any], fits: dict[str, Any]
):
    shown = page["fitting_section"]("cpu", fits)
    assert "| perceptron | 5,120 | 1 | 3.0* | 1.50 | – |" in shown
    assert "| perceptron | 5,120 | 2 | 3.0 | **0.75** | 0.75 |" in shown


def test_page_shows_the_memory_of_resolve_and_what_is_above_the_aim(
    page: dict[str, Any], machine: dict[str, Any]
):
    small = {"kind": "npy", "rows": 3000, "members": 1, "files_gib": 0.5, "processor_s": 6.0}
    small |= {"peak_gib": 1.5, "anonymous_gib": 1.0}
    large = small | {"kind": "parquet", "rows": 7_000_000, "peak_gib": 8.5}
    sizes = {"features": 64, "classes": 10, "candidates": 5, "epochs": 1, "target_gib": 8.0}
    shown = page["resolve_section"]({**machine, **sizes, "measured": [small, large]})
    assert "| 3,000 | 0.50 | 1.50 | 1.00 | 6 |" in shown
    assert "| 7,000,000 | 0.50 | **8.50** | 1.00 | 6 |" in shown
