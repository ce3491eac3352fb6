"""Progress: plain lines, the bar, and silence."""

from __future__ import annotations

import io
import threading
import time

from rich.console import Console

from ace_bench.experiment import progress, stopping


def _use(shown: progress.Progress) -> None:
    shown.plan(2)
    shown.cell_started("a", 3)
    shown.step("a")
    shown.step("a")
    shown.cell_finished("a", "finished", "")
    shown.cell_finished("b", "failed", "ValueError: [no] markup")
    shown.cell_finished("b", "failed", "told twice")


def test_silent_without_a_launch() -> None:
    _use(progress.Progress())
    assert progress.current() is progress.current()
    progress.current().step("anything")


def test_lines_and_heartbeat() -> None:
    out = io.StringIO()
    with progress.showing(progress.Lines(out, heartbeat_s=0.05)) as shown:
        assert progress.current() is shown
        shown.plan(2)
        shown.cell_started("a", 3)
        shown.step("a")
        time.sleep(0.3)
        shown.cell_finished("a", "finished", "")
    assert "... 0/2 cells done; 1 running at step 1/3; 1 steps" in out.getvalue()
    assert "[1/2] a: finished\n" in out.getvalue()
    assert progress.current() is not shown


def test_lines_tell_each_cell_once_from_many_threads() -> None:
    out = io.StringIO()
    with progress.showing(progress.Lines(out, heartbeat_s=60)) as shown:
        shown.plan(50)
        each = [(f"c{i % 50}", "finished", "") for i in range(100)]
        threads = [threading.Thread(target=shown.cell_finished, args=args) for args in each]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert sorted(int(line[1:].split("/")[0]) for line in out.getvalue().splitlines()) == list(range(1, 51))


def test_the_bar() -> None:
    out = io.StringIO()
    with progress.showing(progress.Bar(Console(file=out, force_terminal=True, width=120))) as shown:
        _use(shown)
    assert "ValueError: [no] markup" in out.getvalue()
    assert "told twice" not in out.getvalue()
    assert "2/2" in out.getvalue()


def test_stopped_is_no_exception() -> None:
    assert not issubclass(stopping.Stopped, Exception)
