"""A tiny writer of experiments: cells of any shape, through the store's own table writer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ace_bench.store.folder import FINISHED, INSTANCE
from ace_bench.store.schema import TABLES
from ace_bench.store.tables import write_tables

_ZERO: dict[str, Any] = {"string": "", "int": 0, "float": 0.0, "bool": False}


def blank(table: str) -> dict[str, Any]:
    """A row of `table` with empty values, None where allowed."""
    return {c.name: None if c.null else _ZERO[c.kind] for c in TABLES[table]}


def cell_row(cell: str, method: str, seed: int, order: int, **more: Any) -> dict[str, Any]:
    knobs = more.pop("knobs", {"method": {"name": method}, "seed": seed, "order": {"seed": order}})
    row = blank("cells") | {
        "cell": cell, "experiment": "demo", "method": method, "benchmark": "rulebook", "model": "sim",
        "simulated": True,
        "protocol": "online", "feedback": "gt", "select": "last", "seed": seed, "order_seed": order,
        "order_kind": "shuffled", "status": "finished", "attempts": 1, "knobs": json.dumps(knobs), "code": "0.1.0",
        "order_digest": f"order {order}",
    }  # fmt: skip
    return row | more


def step_row(cell: str, position: int, score: float | None, **more: Any) -> dict[str, Any]:
    outcome = "error" if score is None else "right" if score == 1 else "wrong"
    return blank("steps") | {
        "cell": cell, "phase": "score", "position": position, "sample": f"s{position}", "group": f"g{position % 2}",
        "first": position < 2, "outcome": outcome, "score": score, "scores": "{}", "used": "[]",
        "context_tokens": 10 * position, "bullets": position,
    } | more  # fmt: skip


def call_row(cell: str, **more: Any) -> dict[str, Any]:
    return blank("calls") | {
        "cell": cell, "phase": "score", "call_phase": "score", "purpose": "solve", "status": "ok", "needed": True,
        "billed": True, "input": 100, "cached_input": 20, "cache_write": 0, "output": 7, "reasoning": 3, "cost": 0.5,
    } | more  # fmt: skip


def write_cell(
    experiment: Path,
    cell: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    calls: Sequence[Mapping[str, Any]] | None = None,
) -> Path:
    """Write a cell folder with its tables and its marker."""
    folder = bare_cell(experiment, str(cell["cell"]))
    made = calls if calls is not None else [call_row(str(cell["cell"])) for _ in steps]
    write_tables(folder, {"cells": [dict(cell)], "steps": [dict(s) for s in steps], "calls": [dict(c) for c in made]})
    if cell["status"] == "finished":
        (folder / FINISHED).write_text("{}")
    return folder


def bare_cell(experiment: Path, cell: str) -> Path:
    """A cell folder without tables, as a killed start leaves it."""
    folder = experiment / cell
    folder.mkdir(parents=True)
    (folder / INSTANCE).write_text("0" * 32 + "\n")
    return folder
