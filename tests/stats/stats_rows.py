"""Rows of cells and steps as a report would read them, without files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ace_bench.stats.design import Comparison, comparisons
from ace_bench.stats.steps import COLUMNS, Steps
from ace_bench.store.schema import arrow_schema


def cell(name: str, method: str, seed: int = 0, order: int = 0, **more: Any) -> dict[str, Any]:
    knobs = more.pop("knobs", {})
    return {
        "cell": name, "method": method, "benchmark": "b", "protocol": "online", "feedback": "gt", "model": "m",
        "order_kind": "shuffled", "select": "last", "seed": seed, "order_seed": order, "status": "finished",
        "knobs": json.dumps({"method": {"name": method, **knobs}, "seed": seed, "order": {"seed": order}}),
    } | more  # fmt: skip


def steps(
    scores: Mapping[str, Sequence[float | None]], phase: str = "score", **columns: Sequence[Any]
) -> list[dict[str, Any]]:
    """Rows of each cell: samples s0, s1, ... in that order, unless `sample` names them."""
    out = []
    for name, values in scores.items():
        for n, score in enumerate(values):
            row = {"cell": name, "phase": phase, "epoch": 0, "round": 0, "position": n, "sample": f"s{n}", "group": "g",
                   "first": n == 0, "outcome": "error" if score is None else "right" if score else "wrong",
                   "score": score, "context_tokens": 10 * (n + 1), "bullets": n}  # fmt: skip
            out.append(row | {key: column[n] for key, column in columns.items()})
    return out


def read(rows: Sequence[Mapping[str, Any]]) -> Steps:
    schema = arrow_schema("steps")
    return Steps(pa.Table.from_pylist(list(rows), schema=pa.schema([schema.field(c) for c in COLUMNS])))


def compare(cells: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> list[Comparison]:
    return comparisons(cells, read(rows))
