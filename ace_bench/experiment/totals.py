"""The row of table `cells`: knobs, digests, and totals computed from the other rows (known fault B20)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ace_bench.experiment.identity import cell_digest, identity
from ace_bench.experiment.spec import CellSpec
from ace_bench.protocols.rows import Row, total

INPUT, OUTPUT = ("input", "cached_input", "cache_write"), ("output", "reasoning")


def cell_row(spec: CellSpec, digests: dict[str, str], tables: dict[str, list[Row]], **known: Any) -> Row:
    """`known` holds what only the runner knows: instance, simulated, status, attempts, error, wall_s, code."""
    canonical = spec.canonical()
    return {
        "experiment": spec.name, "method": spec.method.name, "benchmark": spec.benchmark.name, "model": spec.model.name,
        "protocol": spec.protocol.name, "feedback": spec.feedback.regime, "select": spec.select, "seed": spec.seed,
        "order_kind": spec.order.kind, "order_seed": spec.order.seed,
        "knobs": json.dumps(identity(canonical), sort_keys=True), "config_digest": cell_digest(canonical),
        "data_digest": digests["data"], "order_digest": digests["order"], "prompts_digest": digests["prompts"],
        "prices_digest": digests["prices"],
        **scores(tables["steps"]), **spending(tables["calls"]), **ledger(tables["feedback"]), **known,
    }  # fmt: skip


def scores(steps: Sequence[Row]) -> Row:
    """Items, scored items, and both means over the steps of phase score."""
    values = [step["score"] for step in steps if step["phase"] == "score"]
    scored = [value for value in values if value is not None]
    return {
        "items": len(values), "scored": len(scored), "score": sum(scored) / len(scored) if scored else None,
        "score_all": sum(scored) / len(values) if values else None,
    }  # fmt: skip


def spending(calls: Sequence[Row]) -> Row:
    """Needed and billed: calls, tokens, dollars. One unreported call makes a token sum unknown, one unpriced a cost."""
    needed = [c for c in calls if c["needed"]]
    billed = [
        c for c in calls if c["billed"] and c["status"] != "error"
    ]  # a failed attempt reports no tokens; it is counted
    return {
        "calls": len(needed), "input_tokens": total(needed, INPUT), "output_tokens": total(needed, OUTPUT),
        "billed_input_tokens": total(billed, INPUT), "billed_output_tokens": total(billed, OUTPUT),
        "cost": _dollars(needed), "billed_cost": _dollars(billed),
        "cost_uncached": _dollars(needed, "cost_uncached"), "cached_share": cached_share(needed),
        "adapt_latency_s": sum(c["latency_s"] or 0.0 for c in needed if c["call_phase"] == "adapt"),
    }  # fmt: skip


def ledger(feedback: Sequence[Row]) -> Row:
    """Bits and targets revealed over the run."""
    return {
        "bits": sum(row["bits"] for row in feedback),
        "labels": sum("target" in row["fields"].split(",") for row in feedback),
    }


def cached_share(calls: Sequence[Row]) -> float | None:
    """Share of input tokens read from the provider's prompt cache. A reply out of our own store tells nothing of it.

    None when no call reached a provider, or one did not tell its cached tokens apart.
    """
    asked = [c for c in calls if c["served_from"] == "provider"]
    tokens = total(asked, INPUT)
    if not tokens or any(c["cached_input"] is None for c in asked):
        return None
    return float(sum(c["cached_input"] for c in asked) / tokens)


def _dollars(calls: Sequence[Row], column: str = "cost") -> float | None:
    costs = [c[column] for c in calls]
    return None if any(cost is None for cost in costs) else float(sum(costs))
