"""One statement of unknown origin on a database that must not change (known faults B30, B31).

The file is opened read-only and immutable; an authoriser lets through reading, functions and recursion, and nothing else
(no write, ATTACH, PRAGMA, transaction or extension); a progress handler ends it after so many steps of SQLite's machine,
which is the same everywhere, or so many seconds, whichever comes first; rows and bytes are bounded. It runs once, verbatim.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Literal

from ace_bench.benchmarks.bird.ties import TIE

Rows = tuple[tuple[Any, ...], ...]
_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_FUNCTION})
_FORBIDDEN = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})
_TICK = 10_000  # machine steps between two looks at the budget
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 10_000_000,  # bytes of a text, a blob or a row
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
}


@dataclass(frozen=True, slots=True)
class Budget:
    """What a statement may use: machine steps, seconds by the clock, rows and bytes of its result."""

    steps: int
    seconds: float
    rows: int
    bytes: int = 100_000_000


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a statement. `rows` and `columns` when `ok`, else `problem` says why, in SQLite's words or ours."""

    status: Literal["ok", "error", "timeout"]
    rows: Rows = ()
    columns: int = 0
    problem: str = ""


@dataclass(slots=True)
class Seen:
    """What the authoriser saw: columns read as (table, column), functions called."""

    columns: set[tuple[str, str]] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)


@lru_cache(maxsize=1024)
def once(path: Path, digest: str, sql: str, budget: Budget) -> Ran:
    """`execute`, but once for each database content, statement and budget; later askers get the same result."""
    return execute(path, sql, budget)


def execute(path: Path, sql: str, budget: Budget, *, backwards: bool = False, seen: Seen | None = None) -> Ran:
    """Run one statement; never raises for what the statement is or does.

    `backwards` scans tables without ORDER BY in the other direction, and knows the function of `ties`.
    Raises OSError when there is no database to open.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no database {path}.")
    meter = _Meter(budget)
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None, cached_statements=0
    )
    try:
        _guard(connection, meter, backwards, seen)
        return _rows(connection.execute(sql), budget)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        if meter.spent:
            return Ran("timeout", problem=meter.spent)
        return Ran("error", problem=str(error) or type(error).__name__)
    finally:
        connection.close()


class _Meter:
    """Counts steps and seconds; called back by SQLite every `_TICK` steps, a true answer stops the statement."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.ticks, self.start, self.spent = budget, 0, time.monotonic(), ""

    def __call__(self) -> bool:
        self.ticks += 1
        if self.ticks * _TICK >= self.budget.steps:
            self.spent = f"stopped after {self.budget.steps:,} steps"
        elif time.monotonic() - self.start > self.budget.seconds:
            self.spent = f"stopped after {self.budget.seconds:g} seconds"
        return bool(self.spent)


def _guard(connection: sqlite3.Connection, meter: _Meter, backwards: bool, seen: Seen | None) -> None:
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    if backwards:
        connection.execute("PRAGMA reverse_unordered_selects = ON")
        numbers = count(0, -1)
        connection.create_function(TIE, 0, lambda: next(numbers))
    connection.set_authorizer(_authoriser(seen))
    connection.set_progress_handler(meter, _TICK)


def _authoriser(seen: Seen | None) -> Callable[..., int]:
    def allowed(action: int, first: str | None, second: str | None, *_: Any) -> int:
        if action not in _READS or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN):
            return sqlite3.SQLITE_DENY
        if seen is not None and action == sqlite3.SQLITE_READ:
            seen.columns.add((first or "", second or ""))
        if seen is not None and action == sqlite3.SQLITE_FUNCTION:
            seen.functions.add((second or "").lower())
        return sqlite3.SQLITE_OK

    return allowed


def _rows(cursor: sqlite3.Cursor, budget: Budget) -> Ran:
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in cursor:
        rows.append(row)
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(rows) > budget.rows or size > budget.bytes:
            return Ran("error", problem=f"the result has more than {budget.rows:,} rows or {budget.bytes:,} bytes")
    return Ran("ok", tuple(rows), len(cursor.description or ()))
