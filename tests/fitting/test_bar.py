from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from tacit.diagnostics import Alarm
from tacit.fitting import Progress, progress_bar
from tests.fitting.cases import plan, train

GONE = Alarm("vanished", True, "class 2 has all but vanished")


def shown(progresses, terminal=False):
    text = io.StringIO()
    with progress_bar("digits", Console(file=text, force_terminal=terminal, width=120)) as watch:
        for progress in progresses:
            watch(progress)
    return text.getvalue()


def records(*alarms):
    """The record of an epoch again and again, with these alarms."""
    (fitted,) = train(plan(epochs=1))
    return [
        Progress(float(epoch), 9, replace(fitted.history[0], epoch=epoch, alarms=tuple(found)))
        for epoch, found in enumerate(alarms, start=1)
    ]


def test_nothing_is_drawn_where_nobody_looks():
    assert shown([Progress(0.5, 9, None), *records([], [])]) == ""


def test_a_terminal_sees_what_is_going_on():
    text = shown(records([], []), terminal=True)
    assert "digits" in text
    assert "epoch 2, loss" in text
    assert "held-out evidence" in text


def test_an_alarm_is_told_when_it_begins():
    text = shown(records([], [GONE], [GONE], [], [GONE]))
    lines = text.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["network 1, epoch 2", "network 1, epoch 5"]
    assert all(GONE.message in line for line in lines)
