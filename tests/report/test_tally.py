"""What is gathered part by part is what all rows say together."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from tacit.beliefs import Categorical
from tacit.diagnostics import reliability
from tacit.report._resolved import parts_of
from tacit.report._tally import gathered, merged
from tacit.runs import RunError
from tests.report.cases import CLASSES, make_run, tables

OF = tables(n_rows=53)


def tally(run):
    return gathered(parts_of(run / "resolved.parquet", CLASSES, 53), CLASSES)


def test_parts_do_not_show(tmp_path, monkeypatch):
    run = make_run(tmp_path / "run", OF)
    whole = tally(run)
    monkeypatch.setattr("tacit.report._resolved._CELLS", 7 * 3)
    assert len([*parts_of(run / "resolved.parquet", CLASSES, 53)]) == 8
    split = tally(run)
    for kind in "prq":
        assert torch.allclose(split.balance[kind], whole.balance[kind])
        assert split.entropy[kind] == pytest.approx(whole.entropy[kind])
    assert split.agreement[1:] == pytest.approx(whole.agreement[1:])
    assert [each.row for each in split.conflicts] == [each.row for each in whole.conflicts]
    assert [each.row for each in split.uncertain] == [each.row for each in whole.uncertain]
    assert split.counts.tolist() == whole.counts.tolist()


def test_merged_diagrams_are_that_of_all_rows():
    belief = Categorical(OF.p)
    parts = [
        reliability(OF.q[rows], belief[rows]) for rows in (slice(0, 9), slice(9, 30), slice(30, 53))
    ]
    found, whole = merged(parts), reliability(OF.q, belief)
    assert found.error == pytest.approx(whole.error)
    for name in ("confidence", "accuracy", "size"):
        assert torch.allclose(getattr(found, name), getattr(whole, name), equal_nan=True)


def test_histogram_counts_each_row_once(tmp_path):
    found = tally(make_run(tmp_path / "run", OF))
    for kind, table in (("p", OF.p), ("r", OF.r)):
        expected = torch.histc(table.amax(1), 20, 0, 1)
        assert found.confidence[kind].tolist() == expected.tolist()


def test_of_rows_alike_the_first_are_listed(tmp_path):
    of = tables(n_rows=300)
    same = type(of)(*(table[:1].expand(300, 3) for table in of))
    run = make_run(tmp_path / "run", same)
    found = gathered(parts_of(run / "resolved.parquet", CLASSES, 300), CLASSES)
    assert [each.row for each in found.uncertain] == [*range(200)]


def test_rows_that_nobody_tells_of_contradict_nothing(tmp_path):
    told = torch.arange(53) % 3 > 0
    run = make_run(tmp_path / "run", OF, told=told)
    found = tally(run)
    assert all(told[each.row] for each in found.conflicts)
    known = type(OF)(*(table[told] for table in OF))
    alone = make_run(tmp_path / "alone", known)
    parts = parts_of(alone / "resolved.parquet", CLASSES, int(told.sum()))
    expected = gathered(parts, CLASSES).agreement
    assert found.agreement[1:] == pytest.approx(expected[1:])
    assert found.agreement.reliability.error == pytest.approx(expected.reliability.error)


def test_what_beliefs_tell_is_of_rows_that_sources_tell_of(tmp_path):
    told = torch.arange(53) % 3 > 0
    found = tally(make_run(tmp_path / "run", OF, told=told)).agreement
    p = OF.p[told].float().double()
    expected = torch.special.entr(p.mean(0)).sum() - torch.special.entr(p).sum(1).mean()
    assert found.told == pytest.approx(float(expected), abs=1e-6)
    assert found.n_rows == int(told.sum())


def test_table_whose_rows_told_are_no_truths_is_refused(tmp_path):
    run = make_run(tmp_path / "run", OF)
    table = pq.read_table(run / "resolved.parquet")
    pq.write_table(table.append_column("told", pa.array(range(53))), run / "resolved.parquet")
    with pytest.raises(RunError, match="is not the table of this run"):
        tally(run)
