"""The rows of table `calls` (store/schema.py): one for each provider attempt of an ask."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from ace_bench.llm.client import Outcome
from ace_bench.llm.prices import Price, cost, uncached_cost, uncached_input_cost
from ace_bench.llm.types import Attempt, Request

Row = dict[str, Any]


def call_rows(
    head: Row,
    request: Request,
    digest: str,
    attempts: Sequence[Attempt],
    price: Price | None,
    outcome: Outcome | None = None,
) -> list[Row]:
    """Rows of one ask. `head` has the address, purpose and flags; without an `outcome` the ask got no reply.

    Only the last attempt of an ask that got a reply is needed and has a response digest; the others are billed alone.
    """
    rows = []
    for number, attempt in enumerate(attempts):
        replied = outcome is not None and number == len(attempts) - 1
        usage = attempt.usage
        row = {
            "cell": head["cell"],
            "phase": head["phase"],
            "epoch": head["epoch"],
            "round": head["round"],
            "position": head["position"],
            "ordinal": head["ordinal"],
            "sample": head["sample"],
            "purpose": head["purpose"],
            "call_phase": head["call_phase"],
            "attempt": number,
            "repair": head["repair"],
            "shapes_state": head["shapes_state"],
            "model": request.model,
            "status": attempt.status,
            "needed": replied,
            "billed": outcome is None or outcome.billed,
            "input": usage.input,
            "cached_input": usage.cached_input,
            "cache_write": usage.cache_write,
            "output": usage.output,
            "reasoning": usage.reasoning,
            "cost": cost(price, usage),
            "cost_uncached": uncached_cost(price, usage),
            "input_cost_uncached": uncached_input_cost(price, usage),
            "latency_s": attempt.latency_s,
            "queue_s": attempt.queue_s,
            "served_from": "provider" if outcome is None else outcome.served_from,
            "finish_reason": attempt.finish_reason,
            "error": attempt.error,
            "request": digest,
            "response": _text_digest(outcome.completion.text) if outcome is not None and replied else None,
            "seed": request.seed,
            "draw": request.draw[1],
        }
        rows.append(row)
    return rows


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
