"""The response store: every answer a provider gave, on disk before anyone uses it.

One SQLite file, many threads and processes. A writer thread gathers what is waiting into one commit (group commit),
which makes full durability (safe against power loss) as cheap as a private commit for each call without it. Keep the
file on a local disk: SQLite's write-ahead log does not work over a network file system.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

Mode = Literal["off", "read", "write", "replay"]
LOCK_WAIT_S = 30.0  # how long to wait for another process' commit
BATCH = 256  # rows of one commit at most


class StoreError(RuntimeError):
    """The response store cannot be opened, read or written. The sentence names the file."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored response: its JSON text and the address of the call that paid for it."""

    body: str
    payer: str


@dataclass(slots=True)
class _Ticket:
    """One put on its way to the writer; `done` is set when it is on disk or has failed."""

    row: tuple[str, str, str]
    done: threading.Event = field(default_factory=threading.Event)
    stored: Stored | None = None
    error: Exception | None = None


class ResponseStore:
    """Responses by request digest. The first writer of a key wins, for ever.

    Modes: `write` reads and records (the normal one), `read` reads and records nothing new, `replay` reads and a miss
    is an error of the client, `off` neither reads nor records (no file is touched; a killed run then pays again).
    Raises `StoreError` when the file is damaged or cannot be reached, or when it is absent in a reading mode.
    """

    def __init__(self, path: str | Path, mode: Mode = "write") -> None:
        if mode not in get_args(Mode):
            raise StoreError(f"Cache mode {mode!r} is unknown. Use one of {', '.join(get_args(Mode))}.")
        self.path, self.mode = Path(path), mode
        self._idle: deque[sqlite3.Connection] = deque()  # read connections, as many as ever read at once
        self._closed = False
        self._writer: _Writer | None = None
        if mode != "off":
            self._idle.append(self._first_connection())
        if mode == "write":
            self._writer = _Writer(self.path)

    def get(self, key: str) -> Stored | None:
        """What is stored under `key`, or None. Sees every commit of every process."""
        if self.mode == "off":
            return None
        if self._closed:
            raise StoreError(f"The response store {self.path} is closed; nothing more can be read from it.")
        try:
            db = self._idle.pop() if self._idle else self._reader()
        except IndexError:  # another thread took the last idle one
            db = self._reader()
        try:
            row = db.execute("SELECT body, payer FROM response WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise _sentence(self.path, "read", error) from error
        finally:
            self._idle.append(db)
        return Stored(*row) if row else None

    def put(self, key: str, body: str, payer: str) -> Stored:
        """Record a response and return what is on disk under `key`: this one, or an earlier one that came first.

        Returns once the commit is durable. In the modes that record nothing the response comes back as it was given.
        Raises `StoreError` when it could not be written (disk full, locked for 30 s, writer gone).
        """
        return self.put_all([(key, body, payer)])[0]

    def put_all(self, rows: Sequence[tuple[str, str, str]]) -> list[Stored]:
        """`put` for several (key, body, payer) at once: they share commits, in this order."""
        if self._writer is None:
            return [Stored(body, payer) for _, body, payer in rows]
        return self._writer.put_all(rows)

    def close(self) -> None:
        """Finish the waiting puts and let go of the file. May be called twice."""
        self._closed = True
        if self._writer is not None:
            self._writer.close()
        while self._idle:
            self._idle.pop().close()

    def _first_connection(self) -> sqlite3.Connection:
        """Open once in the caller's thread, so that a bad path or file is told at construction."""
        if self.mode != "write" and not self.path.is_file():
            raise StoreError(
                f"There is no response store at {self.path}, and cache={self.mode} makes none. "
                "Give the file of an earlier run, or use cache=write."
            )
        try:
            if self.mode == "write":
                self.path.parent.mkdir(parents=True, exist_ok=True)
                _open(self.path).close()
            db = self._reader()
            db.execute("SELECT body, payer FROM response WHERE key = ''").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise _sentence(self.path, "open", error) from error
        return db

    def _reader(self) -> sqlite3.Connection:
        # A connection serves one thread at a time, but not always the same one.
        try:
            return _connect(self.path, "rw" if self.mode == "write" else "ro")
        except sqlite3.OperationalError:
            if self.mode == "write" or self.path.with_name(self.path.name + "-wal").exists():
                raise
            return _connect(self.path, "ro&immutable=1")  # a folder we may not write to: no log can be made beside it


class _Writer:
    """The one thread of this process that writes. Lives until `close`, whatever a commit does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.inbox: queue.SimpleQueue[_Ticket | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._loop, name="ace-bench-responses", daemon=True)
        self.thread.start()

    def put_all(self, rows: Sequence[tuple[str, str, str]]) -> list[Stored]:
        """Hand in rows and wait until they are on disk."""
        tickets = [_Ticket(row) for row in rows]
        for ticket in tickets:
            self.inbox.put(ticket)
        return [self._done(ticket) for ticket in tickets]

    def _done(self, ticket: _Ticket) -> Stored:
        while not ticket.done.wait(1):  # a dead writer must not leave its waiters for ever
            if not self.thread.is_alive() and not ticket.done.is_set():
                raise StoreError(
                    f"The writer of the response store {self.path} has stopped; this response was not recorded. "
                    "Start the run again: what was recorded before is kept."
                )
        if ticket.error is not None:
            raise _sentence(self.path, "write", ticket.error) from ticket.error
        assert ticket.stored is not None
        return ticket.stored

    def close(self) -> None:
        """Write what waits, then end the thread."""
        self.inbox.put(None)
        self.thread.join()

    def _loop(self) -> None:
        db: sqlite3.Connection | None = None
        more = True
        while more:
            batch, more = self._batch()
            if not batch:
                continue
            try:
                db = db or _open(self.path)
                _commit(db, batch)
            except Exception as error:  # disk full, locked too long: every waiter is told, the thread lives on
                for ticket in batch:
                    ticket.error = error
                db = _rolled_back(db)
            for ticket in batch:
                ticket.done.set()
        if db is not None:
            db.close()

    def _batch(self) -> tuple[list[_Ticket], bool]:
        """Everything that waits now, at least one thing; False once `close` was called."""
        found = [self.inbox.get()]
        while len(found) < BATCH:
            try:
                found.append(self.inbox.get_nowait())
            except queue.Empty:
                break
        return [ticket for ticket in found if ticket is not None], None not in found


def _commit(db: sqlite3.Connection, batch: list[_Ticket]) -> None:
    """Write one batch. A key that is taken keeps its first response, which the ticket then reports."""
    db.execute("BEGIN IMMEDIATE")  # never a read that later turns into a write
    for ticket in batch:
        if db.execute("INSERT OR IGNORE INTO response VALUES (?, ?, ?)", ticket.row).rowcount == 1:
            ticket.stored = Stored(*ticket.row[1:])
        else:
            row = db.execute("SELECT body, payer FROM response WHERE key = ?", ticket.row[:1]).fetchone()
            ticket.stored = Stored(*row)
    db.execute("COMMIT")


def _rolled_back(db: sqlite3.Connection | None) -> sqlite3.Connection | None:
    """The connection, free of its failed transaction; None (open anew) when even that fails."""
    try:
        if db is not None and db.in_transaction:
            db.execute("ROLLBACK")
    except sqlite3.Error:
        return None
    return db


def _connect(path: Path, access: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={access}"
    db = sqlite3.connect(uri, uri=True, timeout=LOCK_WAIT_S, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA schema_version")  # connecting alone touches nothing; this does
    except sqlite3.Error:
        db.close()
        raise
    return db


def _open(path: Path) -> sqlite3.Connection:
    """A connection that may write, to a file that has the log and the table."""
    db = _connect(path, "rwc")
    end = time.monotonic() + LOCK_WAIT_S
    while True:  # while others open too, this pragma says "locked" at once, whatever the timeout
        try:
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                db.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
    db.execute("PRAGMA synchronous=FULL")
    db.execute("BEGIN IMMEDIATE")
    db.execute("CREATE TABLE IF NOT EXISTS response(key TEXT PRIMARY KEY, body TEXT NOT NULL, payer TEXT NOT NULL)")
    db.execute("COMMIT")
    return db


def _sentence(path: Path, what: str, error: Exception) -> StoreError:
    damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
    advice = (
        "The file is not a healthy response store: move it away (or restore a copy) and start again"
        if damaged
        else "Check that the folder exists, may be written to, has free space and is on a local disk"
    )
    return StoreError(f"Could not {what} the response store {path}: {error}. {advice}.")
