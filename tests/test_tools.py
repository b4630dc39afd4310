"""The project's own scripts do what they are for."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from experiments._store import Store

ROOT = Path(__file__).parents[1]


def test_large_files_are_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    large, small = tmp_path / "large", tmp_path / "small"
    large.write_bytes(bytes(300_001))
    small.write_bytes(bytes(300_000))
    main = runpy.run_path(str(ROOT / "tools" / "large_files.py"))["main"]
    assert main([str(small)]) == 0
    assert main([str(large), str(small)]) == 1
    assert capsys.readouterr().err == f"{large} has 300,001 bytes; the limit is 300,000\n"


@pytest.mark.parametrize("written", ["picture", "table"])
def test_picture_and_table_are_drawn_from_the_record(written: str):
    tool = runpy.run_path(str(ROOT / "tools" / "readme_picture.py"))
    store = Store(tool["RECORD"], "digits")
    path = tool[written.upper()]
    assert path.read_text("utf-8") == tool[written](store), "run tools/readme_picture.py"
    assert path.stat().st_size < 100_000


def test_result_pages_are_written_from_the_records():
    tool = runpy.run_path(str(ROOT / "tools" / "result_pages.py"))
    files = tool["written"]()
    assert {"crowd.md", "digits.md", "real-beliefs.md"} <= {path.name for path in files}
    for path, text in files.items():
        assert path.read_text("utf-8") == text, "run tools/result_pages.py"


def test_benchmark_page_is_written_from_the_records():
    tool = runpy.run_path(str(ROOT / "tools" / "benchmark_page.py"))
    absent = [device for device in tool["DEVICES"] if not tool["record_of"](device).exists()]
    assert absent == [], "record it with benchmarks/objectives.py --device ... --out ..."
    assert tool["PAGE"].read_text("utf-8") == tool["page"](), "run tools/benchmark_page.py"


@pytest.fixture
def benchmark_page(tmp_path: Path) -> dict[str, Any]:
    """The tool, with a record of a CPU alone in a place of its own."""
    tool = runpy.run_path(str(ROOT / "tools" / "benchmark_page.py"))
    row = {"ms": 2.0, "ratio": 4.0, "memory": None}
    record = {
        **dict.fromkeys(("device", "python", "torch", "commit"), "some"),
        "threads": 2,
        "rounds": 9,
        "validate": False,
        "missed": ["RQ"],
        "time_target": 3.5,
        "memory_target": 2.0,
        "shapes": {"(2, 3)": {"RQ": row}},
    }
    (tmp_path / "objectives-cpu.json").write_text(json.dumps(record))
    # The functions of the tool look names up in their own module.
    tool["main"].__globals__.update(ROOT=tmp_path, RECORDS=tmp_path, PAGE=tmp_path / "page.md")
    return tool


def test_absent_record_is_left_out_of_the_page_and_said_so(
    benchmark_page: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    benchmark_page["main"]()
    absent = ["objectives-cuda", "fitting-cuda", "fitting-cpu", "resolve-memory"]
    told = "".join(f"{name}.json is not there: left out\n" for name in absent)
    assert capsys.readouterr().err == told
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "## On a CPU" in page
    assert "## On a GPU" not in page


def test_figure_above_the_aim_is_in_bold(benchmark_page: dict[str, Any]):
    assert "| RQ | 2.000 | **4.00** | – |" in benchmark_page["page"]()
