"""The folder of a cell: made exclusively, locked while its cell runs, entered again to resume, finished last.

`flock` is the only authority on who owns a folder: the kernel frees it with the process, also after kill -9, so
"unfinished" and "running" are never confused. What the lock file says (process, host) only serves the error message.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import socket
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ace_bench.store.atomic import TMP, remove_leftovers, sync_folder, write_atomic
from ace_bench.store.errors import FolderBusy, FolderError, FolderFinished
from ace_bench.store.journal import Journal
from ace_bench.store.texts import Texts

INSTANCE, LOCK, FINISHED = "instance", "lock", "finished.json"
JOURNAL, ATTEMPTS, TEXTS, TABLES, MANIFEST = "journal.jsonl", "attempts.jsonl", "texts", "tables", "manifest.json"


def is_finished(path: str | Path) -> bool:
    """Whether the cell folder at `path` carries the marker that is written last."""
    return (Path(path) / FINISHED).is_file()


class CellFolder:
    """An entered cell folder. Make one with `CellFolder.enter`; use it in a `with`, which ends the attempt.

    path: the folder. instance: random id, 32 hex digits, made once and kept over resumes. attempts: how often the cell
    was started, this time included.
    """

    def __init__(self, path: Path, lock: int, instance: str) -> None:
        self.path, self.instance = path, instance
        self.texts = Texts(path / TEXTS)
        self._lock: int | None = lock
        self._journal: Journal | None = None
        self._log = Journal.open(path / ATTEMPTS)
        try:
            self._begin()
        except BaseException:
            self._log.close()
            raise

    @classmethod
    def enter(cls, path: str | Path) -> CellFolder:
        """Make the folder, or enter an unfinished one of ours, and hold its lock until `close`.

        Raises FolderBusy when a live process holds it, FolderFinished when its cell is finished, FolderError when the
        path is a file or holds files that are not ours, JournalError when `attempts.jsonl` is damaged.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.mkdir(path)
            sync_folder(path.parent)
        except FileExistsError:
            _refuse_foreign(path)
        lock = _take_lock(path)
        try:
            if is_finished(path):
                raise FolderFinished(f"The cell of {path} is finished; read its tables, or move it away to rerun.")
            for folder in (path, path / TEXTS, path / TABLES):
                remove_leftovers(folder)
            return cls(path, lock, _instance(path))
        except BaseException:
            os.close(lock)
            raise

    def _begin(self) -> None:
        """Count the earlier attempts, give a killed one its end, and note the start of this one."""
        self.attempts, self._earlier, running = 0, 0.0, None
        for record in self._log.records:
            if record["event"] == "start":
                self.attempts, running = self.attempts + 1, record
            else:
                self._earlier, running = self._earlier + record["wall_s"], None
        if running:
            # It could not say when it ended; the last thing it is known to have done is its last journal record.
            self._earlier += self._note_end(running["attempt"], _last_sign(self.path, running["time"]), "killed")
        self.attempts += 1
        self._started, self._ended = time.monotonic(), False
        self._log.append({"event": "start", "attempt": self.attempts, "time": time.time(), "pid": os.getpid()})

    def _note_end(self, attempt: int, wall_s: float, how: str) -> float:
        self._log.append({"event": "end", "attempt": attempt, "time": time.time(), "wall_s": wall_s, "how": how})
        return wall_s

    @property
    def journal(self) -> Journal:
        """The cell's journal, opened (and its tail repaired) at first use. Raises JournalError for damage."""
        if self._lock is None:
            raise FolderError(f"Cell folder {self.path} was left; enter it again before writing to its journal.")
        if self._journal is None:
            self._journal = Journal.open(self.path / JOURNAL)
        return self._journal

    @property
    def wall_s(self) -> float:
        """Wall seconds over all attempts, this one included; a killed attempt lasted to its last journal record."""
        return self._earlier + (0.0 if self._ended else time.monotonic() - self._started)

    def _end(self, how: str) -> None:
        if not self._ended:
            wall_s = time.monotonic() - self._started
            self._note_end(self.attempts, wall_s, how)
            self._earlier, self._ended = self._earlier + wall_s, True

    def finish(self, summary: Mapping[str, Any] | None = None) -> None:
        """Mark the cell as finished: the last write of a cell, after its tables. `summary` goes into the marker.

        Raises FolderError when the folder was left already, ValueError for NaN in `summary`.
        """
        if self._lock is None:
            raise FolderError(f"Cell folder {self.path} was left; enter it again before finishing it.")
        own = {"instance": self.instance, "attempts": self.attempts, "time": time.time()}
        json.dumps(dict(summary or {}), allow_nan=False)  # refuse before the attempt is ended
        self._end("finished")
        marker = {**(summary or {}), **own, "wall_s": self.wall_s}
        write_atomic(self.path / FINISHED, json.dumps(marker, allow_nan=False, indent=1).encode() + b"\n")

    def close(self, how: str = "closed") -> None:
        """End the attempt, close the files and free the lock. A second call does nothing."""
        if self._lock is None:
            return
        try:
            self._end(how)
        finally:
            self._log.close()
            if self._journal is not None:
                self._journal.close()
            os.close(self._lock)  # closing frees the flock
            self._lock = None

    def __enter__(self) -> CellFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close(kind.__name__ if kind else "closed")


def _refuse_foreign(path: Path) -> None:
    """A folder without our instance file may hold nothing but what a start killed in its first moments leaves."""
    if not path.is_dir():
        raise FolderError(f"{path} is a file, and a cell folder should be there; move it away.")
    if (path / INSTANCE).is_file():
        return
    names = (p.name for p in path.iterdir())
    foreign = sorted(n for n in names if n != LOCK and not (n.startswith(f".{INSTANCE}.") and n.endswith(TMP)))
    # Looked at twice: the owner of a folder made a moment ago may have written its instance while we listed it.
    if foreign and not (path / INSTANCE).is_file():
        raise FolderError(f"{path} exists and is not a cell folder: it has no `{INSTANCE}` file but holds "
                          f"{', '.join(foreign[:3])}. Choose another experiment name, or move it away.")  # fmt: skip


def _take_lock(path: Path) -> int:
    fd = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(fd, 0)
        os.write(fd, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
    except BlockingIOError:
        owner = os.read(fd, 200).decode("utf-8", "replace").strip() or "another process"
        os.close(fd)
        raise FolderBusy(f"Cell folder {path} is in use by {owner}; wait for it, or stop it and run the same command "
                         "again.") from None  # fmt: skip
    except BaseException:
        os.close(fd)
        raise
    return fd


def _instance(path: Path) -> str:
    file = path / INSTANCE
    with contextlib.suppress(FileNotFoundError):
        text = file.read_text("ascii", "replace").strip()
        if not re.fullmatch(r"[0-9a-f]{32}", text):
            raise FolderError(f"{file} does not hold an instance id (32 hex digits) but {text[:40]!r}; the folder is "
                              "not ours or is damaged. Move it away and run the cell again.")  # fmt: skip
        return text
    made = uuid.uuid4().hex
    write_atomic(file, made.encode() + b"\n")
    return made


def _last_sign(path: Path, start: float) -> float:
    """Seconds from `start` (epoch) to the journal's last modification; 0 when it wrote nothing, or the clock jumped."""
    try:
        return max(0.0, (path / JOURNAL).stat().st_mtime - start)
    except FileNotFoundError:
        return 0.0
