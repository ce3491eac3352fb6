"""What a call costs: a price for each token class, and nothing guessed. No price means no cost, never zero."""

from __future__ import annotations

from dataclasses import dataclass

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
