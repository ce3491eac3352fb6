"""Calls, tokens and dollars of one cell, summed in Arrow from its own `calls` file (spikes.md 10; fault B25)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ace_bench.store.tables import read_table

_INPUT = ("input", "cached_input", "cache_write")
_OUTPUT = ("output", "reasoning")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a cell used.

    `calls`, `input`, `output`, `cost`: needed, without probe calls (in no method's cost). `billed_*`: what the run
    paid, probes included. `cost_uncached`, `input_cost_uncached`: the needed calls, and their input alone, with every
    input token at the full price. `asked_input`, `asked_cached`: input tokens of the needed calls that reached a provider,
    and those its prompt cache served. None: unknown or unpriced in at least one call, so no total can be given.
    """

    calls: int
    input: int | None
    output: int | None
    cost: float | None
    cost_uncached: float | None
    input_cost_uncached: float | None
    asked_input: int | None
    asked_cached: int | None
    billed_input: int | None
    billed_output: int | None
    billed_cost: float | None


def usage(folder: Path) -> Usage:
    """The usage of the cell in `folder`."""
    import pyarrow.compute as pc

    flags, money = ("needed", "billed", "call_phase", "served_from"), ("cost", "cost_uncached", "input_cost_uncached")
    columns = (*flags, *_INPUT, *_OUTPUT, *money)
    calls = read_table([folder], "calls", columns)
    asked = pc.and_(calls["needed"], pc.not_equal(calls["call_phase"], "probe"))
    needed, billed = calls.filter(asked), calls.filter(calls["billed"])
    # A reply out of our own store tells nothing of the provider's cache.
    provider = needed.filter(pc.equal(needed["served_from"], "provider"))
    return Usage(
        needed.num_rows,
        _whole(needed, _INPUT),
        _whole(needed, _OUTPUT),
        _total(needed, "cost"),
        _total(needed, "cost_uncached"),
        _total(needed, "input_cost_uncached"),
        _whole(provider, _INPUT),
        _whole(provider, ("cached_input",)),
        _whole(billed, _INPUT),
        _whole(billed, _OUTPUT),
        _total(billed, "cost"),
    )


def _total(table: Any, column: str) -> float | None:
    """Exact sum of a column, None when any value is unknown."""
    import math

    values = table[column]
    return None if values.null_count else math.fsum(values.to_pylist())


def _whole(table: Any, columns: tuple[str, ...]) -> int | None:
    import pyarrow.compute as pc

    if any(table[column].null_count for column in columns):
        return None
    return sum(pc.sum(table[column]).as_py() or 0 for column in columns)
