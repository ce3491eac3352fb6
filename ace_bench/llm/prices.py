"""What a call costs: a price for each token class, and nothing guessed. No price means no cost, never zero."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ace_bench.llm.types import Usage

PER = 1e6  # prices are for a million tokens, as providers list them


@dataclass(frozen=True, slots=True)
class Price:
    """List price of one model in dollars per million tokens, for the five token classes.

    `source` is the page it was read from and `date` the day (YYYY-MM-DD). A class the provider does not price apart
    gets the price it is billed at: cached and written input that of input, reasoning that of output. A free model is
    all 0.
    """

    input: float
    cached_input: float
    cache_write: float
    output: float
    reasoning: float
    source: str
    date: str

    def worst_case(self, input_tokens: int, output_tokens: int) -> float:
        """Dollars if every token were of the dearest class it could be: what the limits reserve."""
        dear_in = max(self.input, self.cached_input, self.cache_write)
        return (input_tokens * dear_in + output_tokens * max(self.output, self.reasoning)) / PER


def cost(price: Price | None, usage: Usage) -> float | None:
    """Dollars of one call at list price; None when there is no price or the provider told no usage.

    A sub-class that was not told apart (None) is inside `input` or `output` already and adds nothing.
    """
    if price is None or usage.input is None or usage.output is None:
        return None
    parts = (
        usage.input * price.input,
        (usage.cached_input or 0) * price.cached_input,
        (usage.cache_write or 0) * price.cache_write,
        usage.output * price.output,
        (usage.reasoning or 0) * price.reasoning,
    )
    return sum(parts) / PER


def uncached_cost(price: Price | None, usage: Usage) -> float | None:
    """The same call without any prompt-prefix caching: every input token at the full input price."""
    flat = None if price is None else replace(price, cached_input=price.input, cache_write=price.input)
    return cost(flat, usage)


def uncached_input_cost(price: Price | None, usage: Usage) -> float | None:
    """What of `uncached_cost` is for input tokens: the denominator pN of the review's Eq. 12, in dollars."""
    tokens = usage.input_total()
    return None if price is None or tokens is None or usage.output is None else tokens * price.input / PER


def input_saving(cached_share: float, ratio: float) -> float:
    """1 - K/(pN) = c(1 - rho): the share of *input* cost that prompt-prefix caching saves (review, Eq. 12 and 13).

    `cached_share` c of the input tokens is billed at `ratio` rho of the full input price. Not a share of total cost.
    """
    return cached_share * (1 - ratio)


@cache
def table() -> dict[str, Price]:
    """The committed list prices by `provider/model`, each with its source and the day it was read (prices.csv)."""
    with Path(__file__).with_name("prices.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["model"]: _price(row) for row in rows}


def _price(row: dict[str, str]) -> Price:
    figures = (float(row[name]) for name in ("input", "cached_input", "cache_write", "output", "reasoning"))
    input_, cached, write, output, reasoning = figures
    return Price(input_, cached, write, output, reasoning, row["source"], row["date"])


def listed(name: str) -> Price:
    """The price listed under `provider/model`. KeyError with the nearest names when there is none."""
    import difflib

    if name not in table():
        near = ", ".join(difflib.get_close_matches(name, table(), 3, 0.3)) or ", ".join(sorted(table())[:5])
        raise KeyError(f"no list price for {name!r}; near it are {near}. Give model.price with your own figures.")
    return table()[name]
