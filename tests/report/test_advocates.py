"""Who spoke for what stands beside each conflict, as the run has kept it."""

import json

import pytest

from tacit.report import write_report
from tacit.runs import RunError
from tests.report.cases import make_run, page_of, tables

OF = tables(n_rows=20)


def kept(folder, **rows):
    run = make_run(folder / "run", OF)
    (run / "advocates.json").write_text(json.dumps({"rows": rows}))
    return run


def told(*first, n=None):
    return {"first": [*first], "n": len(first) if n is None else n}


def test_sides_stand_beside_their_row(tmp_path):
    plain = page_of(make_run(tmp_path / "plain", OF))
    first, *_ = plain.column("conflict-list", "id")
    sides = {"cat": told(["ann", 1.234, True], ["<b>", 0.5, False], n=5), "dog": told()}
    page = page_of(kept(tmp_path, **{first: sides}))
    said = page.column("conflict-list", "p, r, q")
    both = "for cat ann +1.23, silence of <b> +0.50, and 3 more for dog nobody"
    assert said[0].replace(" ,", ",").endswith(both)
    assert said[1:] == plain.column("conflict-list", "p, r, q")[1:]
    shown = page.column("uncertain-list", "p, r, q")
    assert shown == plain.column("uncertain-list", "p, r, q")


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        '{"rows": []}',
        '{"rows": {"x": {}}}',
        '{"rows": {"1": {"cat": {"n": 1}}}}',
        "\xff",
    ],
)
def test_damaged_file_is_refused(tmp_path, body):
    run = kept(tmp_path)
    (run / "advocates.json").write_text(body, "latin-1")
    with pytest.raises(RunError, match=r"advocates.json' is damaged; resolve again"):
        write_report(run)


def test_sources_that_are_called_by_numbers_are_called_sources(tmp_path):
    rows = {str(row): {"cat": told(["7", 1.0, True])} for row in range(len(OF.p))}
    assert "source 7 +1.00" in page_of(kept(tmp_path, **rows)).words
