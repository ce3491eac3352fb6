"""Whether the rows of two runs of a cell are the same, and where they first differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ace_bench.store.schema import TABLES, columns
from ace_bench.store.tables import read_table

# Columns that a rerun out of the response store may change: time that was measured, who paid and who answered, which
# folder and attempt it was, where files lay (their content is in the digests), and the version of the code.
MAY_DIFFER: dict[str, frozenset[str]] = {
    "cells": frozenset({
        "instance", "attempts", "wall_s", "code", "knobs", "billed_input_tokens", "billed_output_tokens", "billed_cost",
        "cached_share", "adapt_latency_s", "start",
    }),
    "steps": frozenset({"adapt_latency_s"}),
    "calls": frozenset({"attempt", "billed", "served_from", "latency_s", "queue_s"}),
}  # fmt: skip
_PLACE = ("phase", "epoch", "round", "position", "ordinal", "index", "candidate", "purpose")
_SHOWN = 60
Row = Mapping[str, Any]


def compare(cell: str, before: Path, after: Path) -> tuple[int, str | None]:
    """How many rows were compared, and the first difference as a sentence (None: none).

    `before` and `after` are the folders of the cell. Of `calls` only needed ones count: a failed attempt happens once.
    """
    count = 0
    for table in TABLES:
        ours, theirs = _rows(before, table), _rows(after, table)
        count += len(ours)
        difference = _first(table, ours, theirs)
        if difference is not None:
            return count, f"Cell {cell}, table {table}: {difference}"
    return count, None


def _rows(folder: Path, table: str) -> list[Row]:
    drop = MAY_DIFFER.get(table, frozenset())
    names = [column.name for column in columns(table) if column.name not in drop]
    rows: list[Row] = read_table([folder], table, names).to_pylist()
    return [row for row in rows if row["needed"]] if table == "calls" else rows


def _first(table: str, before: Sequence[Row], after: Sequence[Row]) -> str | None:
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        for name in old:
            if old[name] != new[name]:
                place = ", ".join(f"{key} {old[key]}" for key in _PLACE if key in old)
                where = f"row {number}" + (f" ({place})" if place else "")
                return f"{where}, column {name}: the capsule has {_short(old[name])}, the rerun {_short(new[name])}."
    if len(before) != len(after):
        return f"the capsule has {len(before)} rows, the rerun {len(after)}."
    return None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
