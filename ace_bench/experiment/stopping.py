"""Stopping a launch: one event for the whole process, looked at before every step.

The first SIGINT or SIGTERM sets the event: each running cell ends at its next step and can be resumed. The second
one ends the process at once (what is on disk stays: every finished step is durable).
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_STOPPED = 130
_event = threading.Event()


class Stopped(BaseException):
    """The launch was asked to stop. A BaseException: no library may swallow it and go on."""


def stop() -> None:
    """Ask every cell of this process to end at its next step."""
    _event.set()


def stopped() -> bool:
    """Whether a stop was asked for."""
    return _event.is_set()


def check() -> None:
    """Called before each step. Raises `Stopped` once a stop was asked for."""
    if _event.is_set():
        raise Stopped("The run was asked to stop; the same command resumes it.")


def _on_signal(number: int, frame: FrameType | None) -> None:
    # os.write, not print: the interrupted code may hold the lock of stdout.
    if _event.is_set():
        os.write(2, b"\nStopped at once. The same command resumes the unfinished cells.\n")
        os._exit(EXIT_STOPPED)
    _event.set()
    os.write(2, b"\nStopping: each cell ends at its next step. Once more: stop at once.\n")


@contextmanager
def signals() -> Iterator[None]:
    """Within: SIGINT and SIGTERM stop the cells. Clears the event on entry, restores the old handlers on exit.

    Outside the main thread Python allows no handlers, so there only the event is cleared.
    """
    _event.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {number: signal.signal(number, _on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
