from __future__ import annotations

import os
import signal
import threading

import pytest

from tacit.fitting import CHECKPOINT
from tests.fitting.cases import assert_same, plan, train


def asking(*numbers):
    """A watch that sends this process signals in its third step."""
    told = []

    def watch(progress):
        told.append(progress)
        if len(told) == 3:
            for number in numbers:
                os.kill(os.getpid(), number)

    return watch, told


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_signal_ends_a_run_after_its_step_with_a_checkpoint(tmp_path, number, error):
    watch, told = asking(number)
    with pytest.raises(error):
        train(plan(), folder=tmp_path, watch=watch)
    assert len(told) == 3
    rest = []
    (resumed,) = train(plan(), folder=tmp_path, resume=True, watch=rest.append)
    assert_same(resumed, *train(plan()))
    assert rest[0].done == pytest.approx(told[-1].done + 0.25)


def test_a_second_signal_ends_a_run_at_once(tmp_path):
    watch, told = asking(signal.SIGINT, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(plan(), folder=tmp_path, watch=watch)
    assert len(told) == 3
    assert not (tmp_path / CHECKPOINT).exists()


def test_the_exit_status_tells_of_the_signal():
    with pytest.raises(SystemExit) as ended:
        train(plan(), watch=asking(signal.SIGTERM)[0])
    assert ended.value.code == 128 + signal.SIGTERM


def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    train(plan())
    with pytest.raises(KeyboardInterrupt):
        train(plan(), watch=asking(signal.SIGINT)[0])
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        (fitted,) = train(plan(), watch=asking(signal.SIGINT)[0])
    finally:
        signal.signal(signal.SIGINT, before)
    assert fitted.ended == "all epochs"


def test_a_run_in_another_thread_leaves_signals_alone():
    found = []
    thread = threading.Thread(target=lambda: found.extend(train(plan())))
    thread.start()
    thread.join()
    assert_same(found[0], *train(plan()))
