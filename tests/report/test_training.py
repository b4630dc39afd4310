"""Curves of the members, and how they ended."""

import re

import pytest

from tacit.report._training import best_epoch, curves, members, thinned
from tests.report.cases import alarm, make_run, page_of, record


def marks(svg, kind):
    return re.findall(rf'class="{kind} m(\d)"><title>(.*?)</title>', svg)


def chart(found, name):
    return next(str(curve.svg) for curve in curves(found) if curve.name == name)


def test_best_epoch_is_the_last_that_was_best():
    history = [record(epoch, best=epoch in (1, 2, 4)) for epoch in range(1, 7)]
    assert best_epoch(history) == 4
    assert marks(chart([history], "Loss"), "best") == [("0", "member 1: best in epoch 4")]


def test_best_epoch_is_of_the_last_beginning():
    history = [record(epoch) for epoch in (1, 2, 3)]
    again = [record(epoch, best=epoch == 2) for epoch in (1, 2, 3)]
    assert best_epoch(history + again) == 5
    assert best_epoch([*history, record(1, best=False)]) is None
    (found,) = members([history + again], ["all epochs"])
    assert (found.epochs, found.restarts, found.best) == (6, 1, 5)
    assert found.kept is again[1]
    assert marks(chart([history + again], "Drift of the class mass"), "restart") == [
        ("0", "member 1 began anew")
    ]


def test_first_epoch_of_each_stretch_of_alarms_is_marked():
    history = [
        record(epoch, alarms=(alarm(message="flat"),) if epoch in (2, 3, 5) else ())
        for epoch in range(1, 7)
    ]
    assert marks(chart([history], "Information"), "alarm") == [
        ("0", "member 1, epoch 2: flat"),
        ("0", "member 1, epoch 5: flat"),
    ]
    assert marks(chart([history], "Drift of the class mass"), "alarm") == []


def test_warm_up_is_shaded():
    history = [record(epoch, warming_up=epoch < 3) for epoch in range(1, 5)]
    assert chart([history], "Loss").count('class="shade"') == 1
    assert chart([[record(1), record(2)]], "Loss").count('class="shade"') == 0


def test_curve_without_figures_is_left_out():
    history = [record(epoch, held_out_evidence=None, best=False) for epoch in (1, 2)]
    assert [curve.name for curve in curves([history])] == [
        *("Loss", "Information", "Drift of the class mass")
    ]


def test_members_are_told_apart(tmp_path):
    records = [
        record(epoch, member, loss=epoch + member) for epoch in (1, 2) for member in (0, 1, 2)
    ]
    ended = ["all epochs", "no better for long", "collapsed"]
    page = page_of(make_run(tmp_path / "run", records=records, ended=ended))
    assert page.column("member-list", "ended") == ended
    assert page.column("member-list", "epochs") == ["2", "2", "2"]
    lines = [found["class"] for tag, found in page.tags if tag == "polyline"]
    assert lines == [f"line m{number}" for _ in range(4) for number in range(3)]


@pytest.mark.parametrize("n_epochs", [1, 2, 5000])
def test_lines_have_few_points(n_epochs):
    svg = chart([[record(epoch) for epoch in range(1, n_epochs + 1)]] * 3, "Loss")
    points = [line.split() for line in re.findall(r'points="(.*?)"', svg)]
    assert [len(line) for line in points] == [min(n_epochs, 1000)] * 3
    assert "nan" not in svg


def test_thinning_keeps_both_ends():
    kept = thinned([(float(x), 0.0) for x in range(1001)], 7)
    assert len(kept) == 7
    assert (kept[0][0], kept[-1][0]) == (0.0, 1000.0)
