"""Beside true labels a report tells how often r and q are right, and what is taken for what."""

import pytest
import torch

from tacit.diagnostics import judged
from tacit.errors import InvalidInputError
from tacit.report import write_report
from tests.report.cases import CLASSES, make_run, page_of, tables

OF = tables(n_rows=53)
TRUTH = torch.where(torch.arange(53) % 7 == 0, -1, torch.arange(53) % 3)


@pytest.fixture
def page(tmp_path):
    return page_of(make_run(tmp_path / "run", OF), truth=TRUTH)


def test_figures_are_those_of_the_tables(page):
    for row, table in zip(page.rows["truth-list"], (OF.r, OF.q), strict=True):
        found = judged(table, TRUTH)
        (words,) = row.values()
        shown = words.split(" %")
        assert float(shown[0].split()[-1]) == pytest.approx(100 * found.accuracy, abs=0.06)
        assert float(shown[1]) == pytest.approx(100 * found.standard_error, abs=0.06)
        assert float(shown[2]) == pytest.approx(found.reliability.error, abs=0.0006)
    assert "The true label of 45 of 53 rows was told" in page.words
    assert "Calibration without labels" not in page.words


def test_confusions_are_counted(page):
    confusion = judged(OF.r, TRUTH).confusion.tolist()
    for name, counts in zip(CLASSES, confusion, strict=True):
        assert f"{name} {' '.join(str(each or '·') for each in counts)}" in page.words


def test_of_many_classes_the_commonest_confusions_are_listed(tmp_path):
    names = [f"c{number}" for number in range(15)]
    sure = torch.eye(15, dtype=torch.float64)[torch.tensor([0, 1, 1, 1, 2, 2])]
    q = 0.9 * sure + 0.1 / 15
    of = type(OF)(q, q, q)
    run = make_run(tmp_path / "run", of, classes=names)
    words = page_of(run, truth=torch.tensor([0, 1, 3, 3, 2, 4])).words
    assert "true label label found rows c3 c1 2 c4 c2 1 " in words


def test_parts_do_not_show(tmp_path, monkeypatch, page):
    monkeypatch.setattr("tacit.report._resolved._CELLS", 7 * 3)
    again = page_of(make_run(tmp_path / "again", OF), truth=TRUTH)
    assert again.rows["truth-list"] == page.rows["truth-list"]


def test_without_a_known_label_the_beliefs_stand_in(tmp_path):
    page = page_of(make_run(tmp_path / "run", OF), truth=torch.full((53,), -1))
    assert "Calibration without labels" in page.words


def test_labels_of_another_run_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="`truth` must have one label for each of the 53"):
        write_report(make_run(tmp_path / "run", OF), truth=TRUTH[:7])
