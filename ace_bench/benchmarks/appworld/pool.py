"""The engine processes of this Python process: a few players that have no ground truth, and one grader that has it.

A player sees a copy of the data root without the folders `ground_truth`; the grader sees the real one, and the outputs of
the players. So the answer is not in the process that runs the agent's code, nor under the root it is given.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from ace_bench.benchmarks.appworld.client import Worker, WorldLost
from ace_bench.data.appworld_setup import Engine

WORLDS = "ACE_BENCH_WORLDS"  # how many players a process may have; it changes no result, so it is in no config
_RECYCLE = 60  # tasks a player serves before it is replaced: the engine's shells keep their memory
_GRADE_S = 300
_lock = threading.Lock()
_pools: dict[tuple[Engine, Path], Pool] = {}


class Seat:
    """A player lent to one episode, and the name its outputs go under. `renew` replaces a lost one."""

    def __init__(self, pool: Pool, worker: Worker | None, experiment: str) -> None:
        self.pool, self.worker, self.experiment = pool, worker, experiment

    def ask(self, op: str, wait_s: float, /, **arguments: Any) -> Any:
        """As `Worker.ask`; starts a player if there is none. A lost one is ended at once. Raises `WorldLost`."""
        if self.worker is None:
            self.worker = self.pool.start("play")
        try:
            return self.worker.ask(op, wait_s, **arguments)
        except BaseException:
            self.worker.kill()
            self.worker = None
            raise


class Pool:
    """Players and the grader over one data root. Thread-safe."""

    def __init__(self, engine: Engine, root: Path, size: int) -> None:
        self.engine, self.root = engine, root
        self.folder = Path(tempfile.mkdtemp(prefix="ace_bench.appworld."))
        self._places, self._idle = threading.BoundedSemaphore(size), list[Worker]()
        self._grader: Worker | None = None
        self._grading, self._numbers, self._names = threading.Lock(), count(), count()
        self._prepare()

    @contextmanager
    def seat(self, task: str) -> Iterator[Seat]:
        """A player for an episode on `task`; waits for a free one. Its outputs are removed afterwards."""
        with self._places:
            with _lock:
                self._share(task)
                worker = self._idle.pop() if self._idle else None
            seat = Seat(self, worker, f"e{next(self._names)}")
            try:
                yield seat
            finally:
                shutil.rmtree(self.folder / "play" / "experiments" / "outputs" / seat.experiment, ignore_errors=True)
                self._back(seat.worker)

    def grade(self, task: str, experiment: str) -> dict[str, Any]:
        """The engine's evaluation of an episode. A grader that fails is replaced once. Raises `WorldLost`."""
        report: dict[str, Any] = self.ask_grader("grade", task=task, experiment=experiment)
        return report

    def ask_grader(self, op: str, /, **arguments: Any) -> Any:
        """One operation of the grader."""
        with self._grading:
            for last in (False, True):
                try:
                    self._grader = self._grader or self.start("grade")
                    return self._grader.ask(op, _GRADE_S, **arguments)
                except BaseException as error:
                    if self._grader is not None:
                        self._grader.kill()
                        self._grader = None
                    if last or not isinstance(error, WorldLost):
                        raise
        raise AssertionError("unreachable")

    def start(self, role: str) -> Worker:
        """A new process on the root of `role`, play or grade. Raises `WorldLost`."""
        return Worker(self.engine, self.folder / role, self.folder / f"{role}-{next(self._numbers)}.log")

    def close(self) -> None:
        """End all idle processes and remove the outputs."""
        for worker in (*self._idle, *((self._grader,) if self._grader else ())):
            worker.kill()
        self._idle.clear()
        self._grader = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _back(self, worker: Worker | None) -> None:
        if worker is None:
            return
        worker.served += 1
        if worker.served >= _RECYCLE:
            worker.kill()
            return
        with _lock:
            self._idle.append(worker)

    def _prepare(self) -> None:
        play, grade = self.folder / "play", self.folder / "grade"
        (play / "data" / "tasks").mkdir(parents=True)
        (play / "experiments").mkdir()
        grade.mkdir()
        for part in ("api_docs", "base_dbs"):
            shutil.copytree(self.root / "data" / part, play / "data" / part)
        (grade / "data").symlink_to(self.root / "data")
        (grade / "experiments").symlink_to(play / "experiments")

    def _share(self, task: str) -> None:
        """Put a task before the players, less its ground truth."""
        target = self.folder / "play" / "data" / "tasks" / task
        if not target.exists():
            hidden = shutil.ignore_patterns("ground_truth")
            shutil.copytree(self.root / "data" / "tasks" / task, target, ignore=hidden)


def pool_of(engine: Engine, root: Path) -> Pool:
    """The pool of this process for a data root; made at first use, closed at exit."""
    with _lock:
        key = (engine, root.resolve())
        if key not in _pools:
            _pools[key] = Pool(*key, _size())
            atexit.register(_pools[key].close)
        return _pools[key]


def _size() -> int:
    named = os.environ.get(WORLDS)
    if named is None:
        return min(4, os.cpu_count() or 1)
    if not named.isdecimal() or int(named) < 1:
        raise ValueError(f"{WORLDS}={named} must be a whole number of at least 1.")
    return int(named)
