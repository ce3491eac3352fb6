"""`model.price`: the list price a model is billed at, from the config, from the table, or unknown."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.llm.prices import Price, listed, table

Dollars = Annotated[float, Field(ge=0)]


class PriceSettings(BaseModel):
    """A price of the user's own, in dollars per million tokens. What is left out is billed as its parent class."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    cache_write: Dollars | None = None
    reasoning: Dollars | None = None
    source: str = "config"
    date: str = ""

    def price(self) -> Price:
        """As the cost function takes it."""
        return Price(
            self.input,
            self.input if self.cached_input is None else self.cached_input,
            self.input if self.cache_write is None else self.cache_write,
            self.output,
            self.output if self.reasoning is None else self.reasoning,
            self.source,
            self.date,
        )


def price_of(asked: PriceSettings | str | None, name: str, endpoint: str) -> Price | None:
    """The price of model `name` at `endpoint`.

    `asked` is the config's: figures, the table name of another model, or None for the model's own. A base URL is
    nobody's price list, so its models are unpriced (None) until the config says otherwise. KeyError for an unknown name.
    """
    if isinstance(asked, PriceSettings):
        return asked.price()
    if isinstance(asked, str):
        return listed(asked)
    key = name if name.startswith(f"{endpoint}/") else f"{endpoint}/{name}"
    return table().get(key)
