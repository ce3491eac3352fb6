"""The tables of a world: their columns, a snapshot of them all, and what changed between two snapshots."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Tables = dict[str, list[Row]]
Snapshot = Mapping[str, Mapping[int, Row]]  # table -> id -> row

COLUMNS: dict[str, tuple[str, ...]] = {
    "person": ("id", "first_name", "last_name", "email", "phone"),
    "password": ("id", "app", "username", "password"),
    "task": ("id", "answer", "status"),
    "contact": ("id", "first_name", "last_name", "email", "phone", "relationship"),
    "message": ("id", "contact_id", "direction", "text", "sent_at"),
    "note": ("id", "title", "content", "created_at"),
    "note_tag": ("id", "note_id", "tag"),
    "wallet": ("id", "balance"),
    "payment": ("id", "direction", "other_email", "amount", "note", "made_at"),
    "request": ("id", "from_email", "amount", "note", "status", "made_at"),
    "todo_list": ("id", "name"),
    "todo_item": ("id", "list_id", "text", "due", "done"),
}
UNWATCHED = frozenset({"task"})  # completing the task is no side effect


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one table: rows by id. `updated` holds the columns that differ, with their new values."""

    added: Mapping[int, Row]
    updated: Mapping[int, Row]
    removed: Mapping[int, Row]


def changes(start: Snapshot, end: Snapshot) -> dict[str, Change]:
    """The tables that differ, and how; a table left as it was is not in it."""
    out = {}
    for table in COLUMNS:
        before, after = start[table], end[table]
        if table in UNWATCHED or row_hash(before) == row_hash(after):
            continue
        updated = {i: _differing(before[i], row) for i, row in after.items() if i in before and before[i] != row}
        out[table] = Change(
            {i: row for i, row in after.items() if i not in before}, updated,
            {i: row for i, row in before.items() if i not in after},
        )  # fmt: skip
    return out


def row_hash(rows: Any) -> str:
    """SHA-256 of a row, a table or a snapshot in canonical form: the same on every machine."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _differing(before: Row, after: Row) -> Row:
    return {name: value for name, value in after.items() if before[name] != value}
