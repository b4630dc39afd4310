"""Signals that ask a run to end, held back until a step is complete."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from tacit._processes import joint_max, n_processes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["Asked", "held_back"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Asked:
    """Which signal has come, if one has."""

    signal: int | None = None

    def agree(self) -> None:
        """Do what any of the processes that train together was asked for."""
        if n_processes("world") > 1:
            self.signal = int(joint_max(torch.tensor(self.signal or 0), "world")) or None

    def obey(self) -> None:
        """End the program in the way that was asked for, if it was."""
        if self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        if self.signal is not None:
            raise SystemExit(128 + self.signal)


@contextmanager
def held_back() -> Iterator[Asked]:
    """Note the first SIGINT or SIGTERM instead of ending at once; the second one ends at once.

    Only the main thread is told of signals; elsewhere this does nothing.
    """
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    # One that the program was started to ignore, as in the background of a shell, stays ignored.
    before = {
        number: handler
        for number in _SIGNALS
        if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        if asked.signal is not None:
            asked.obey()
        asked.signal = number

    for number in before:
        signal.signal(number, note)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
