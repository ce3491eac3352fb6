"""Progress of a launch, from any thread: a live bar on a terminal, plain lines elsewhere (a log, CI).

Process-wide: `current()` is the one in use, a silent one when none was set up (a worker process, a test).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

HEARTBEAT_S = 5.0


class Progress:
    """Counts cells and steps; this base says nothing. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # one thread prints at a time, or lines run together
        self.total, self.finished, self.failed = 0, 0, 0
        self.running: dict[str, list[int]] = {}  # cell id -> [steps done, steps expected]
        self.told: set[str] = set()
        self.steps = 0

    def plan(self, cells: int) -> None:
        """How many cells there are."""
        with self._lock:
            self.total = cells
            self._show()

    def cell_started(self, cell: str, steps: int) -> None:
        """A cell begins; `steps` are expected of it."""
        with self._lock:
            self.running[cell] = [0, steps]
            self._show()

    def step(self, cell: str) -> None:
        """A step of a cell is done."""
        with self._lock:
            self.steps += 1
            if cell in self.running:
                self.running[cell][0] += 1
            self._show()

    def cell_finished(self, cell: str, status: str, sentence: str) -> None:
        """A cell ended: `status` is finished, failed or stopped. Telling the same cell twice counts once."""
        with self._lock:
            self.running.pop(cell, None)
            if cell in self.told:
                return
            self.told.add(cell)
            self.finished += 1
            self.failed += status == "failed"
            self._say(f"[{self.finished}/{self.total}] {cell}: {status}{f' ({sentence})' if sentence else ''}")
            self._show()

    def summary(self) -> str:
        """One line: how far the launch is."""
        done, expected = (sum(x) for x in zip(*self.running.values(), strict=True)) if self.running else (0, 0)
        failed = f", {self.failed} failed" if self.failed else ""
        here = f"; {len(self.running)} running at step {done}/{expected}" if self.running else ""
        return f"{self.finished}/{self.total} cells done{failed}{here}; {self.steps} steps"

    def close(self) -> None:
        """Stop showing."""

    def _say(self, line: str) -> None: ...

    def _show(self) -> None: ...


class Lines(Progress):
    """Plain lines: one for a finished cell, and a heartbeat while nothing else is said."""

    def __init__(self, out: TextIO | None = None, heartbeat_s: float = HEARTBEAT_S) -> None:
        super().__init__()
        self.out, self.heartbeat_s, self._last = out or sys.stdout, heartbeat_s, time.monotonic()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="progress", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the heartbeat."""
        self._end.set()
        self._thread.join()

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=self.out, flush=True)

    def _beat(self) -> None:
        while not self._end.wait(self.heartbeat_s / 5):
            with self._lock:
                if self.total and time.monotonic() - self._last >= self.heartbeat_s:
                    self._say(f"... {self.summary()}")


class Bar(Progress):
    """A live bar of rich."""

    def __init__(self, console: Any = None) -> None:
        super().__init__()
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Rich

        columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self._rich = Rich(*columns, TimeElapsedColumn(), console=console, redirect_stdout=False, redirect_stderr=False)
        self._task = self._rich.add_task("", total=None)
        self._rich.start()

    def close(self) -> None:
        """Leave the last state of the bar on the screen."""
        self._rich.stop()

    def _say(self, line: str) -> None:
        self._rich.console.print(line, markup=False, highlight=False)

    def _show(self) -> None:
        self._rich.update(self._task, total=self.total or None, completed=self.finished, description=self.summary())


_silent = Progress()
_current: list[Progress] = []


def current() -> Progress:
    """The progress of this process."""
    return _current[-1] if _current else _silent


@contextmanager
def showing(progress: Progress | None = None) -> Iterator[Progress]:
    """Within: `current()` shows on stdout (a bar when that is a terminal, else lines), or is the `progress` given."""
    shown = progress or (Bar() if sys.stdout.isatty() else Lines())
    _current.append(shown)
    try:
        yield shown
    finally:
        _current.remove(shown)
        shown.close()
