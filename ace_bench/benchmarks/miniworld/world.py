"""A world: one SQLite database in memory, built from start tables, changed only through the APIs.

It lives in the harness's process. The agent's code reaches it through the pipe of the sandbox, so it can do what an API does
and nothing else. The date is a value (`NOW`); nobody's clock is touched.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from ace_bench.benchmarks.miniworld.apps import APPS
from ace_bench.benchmarks.miniworld.registry import ApiError
from ace_bench.benchmarks.miniworld.tables import COLUMNS, Row, Snapshot, Tables, row_hash
from ace_bench.benchmarks.sandbox import CallFailed

TODAY = "2024-05-18"
NOW = f"{TODAY} 12:00"


class World:
    """The state of one episode. Belongs to the thread that made it (SQLite)."""

    def __init__(self, tables: Tables) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self.now = NOW
        self.errors: list[str] = []  # texts of failed calls, in order
        for table, columns in COLUMNS.items():
            self._db.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {', '.join(columns[1:])})")
            for row in tables[table]:
                self.insert(table, **row)

    def call(self, app: str, api: str, arguments: dict[str, Any]) -> Any:
        """One call of the agent's code. Raises `CallFailed` with the text the code sees. Works whole or not at all."""
        try:
            return self._called(app, api, arguments)
        except ApiError as e:
            self.errors.append(f"{app}.{api}: {e.status} {e.message}")
            raise CallFailed(e.text()) from None

    def _called(self, app: str, api: str, arguments: Mapping[str, Any]) -> Any:
        if app not in APPS:
            raise self._absent(f"No app named {app[:60]!r} found.")
        if api not in APPS[app].apis:
            raise self._absent(f"No API named {api[:60]!r} found in the {app} app.")
        self._db.execute("BEGIN")
        try:
            answer = APPS[app].apis[api].call(self, arguments)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return answer

    def _absent(self, text: str) -> CallFailed:
        self.errors.append(text)
        return CallFailed(text)

    def rows(self, query: str, *values: Any) -> list[Row]:
        """The rows of a query."""
        return [dict(row) for row in self._db.execute(query, values)]

    def one(self, table: str, id: int) -> Row:
        """A row by its id, or a 404."""
        found = self.rows(f"SELECT * FROM {table} WHERE id = ?", id)
        if not found:
            raise ApiError(404, f"There is no {table.replace('_', ' ')} with id {id}.")
        return found[0]

    def insert(self, table: str, **row: Any) -> int:
        """Add a row; its id."""
        marks = ", ".join("?" * len(row))
        done = self._db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        return int(done.lastrowid or 0)

    def update(self, table: str, id: int, **values: Any) -> None:
        """Set columns of a row."""
        sets = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(f"UPDATE {table} SET {sets} WHERE id = ?", (*values.values(), id))

    def delete(self, table: str, id: int) -> None:
        """Remove a row."""
        self._db.execute(f"DELETE FROM {table} WHERE id = ?", (id,))

    def token(self, app: str) -> str:
        """The access token of an app, known to who logged in: it follows from the password."""
        row = self.rows("SELECT * FROM password WHERE app = ?", app)[0]
        return row_hash([app, row["username"], row["password"]])[:24]

    def tokens(self, app: str) -> tuple[str, ...]:
        """The tokens `app` accepts."""
        return (self.token(app),)

    @property
    def completed(self) -> bool:
        """Whether the agent has said that it is done."""
        return self.rows("SELECT status FROM task")[0]["status"] is not None

    @property
    def answer(self) -> Any:
        """The answer given with `complete_task`; None when there was none."""
        stored = self.rows("SELECT answer FROM task")[0]["answer"]
        return None if stored is None else json.loads(stored)

    @property
    def status(self) -> str | None:
        """The status given with `complete_task`."""
        status: str | None = self.rows("SELECT status FROM task")[0]["status"]
        return status

    def snapshot(self) -> Snapshot:
        """Every row of every table, by id."""
        return {table: {row["id"]: row for row in self.rows(f"SELECT * FROM {table} ORDER BY id")} for table in COLUMNS}

    def close(self) -> None:
        """Let the database go."""
        self._db.close()
