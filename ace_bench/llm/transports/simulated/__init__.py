"""`simulated`: a stochastic stand-in with known parameters, for verifying the harness and for planning.

It is not a language model and is never presented as one. It receives the messages a real model would receive, and the
purpose; nothing else. What it can know is what the messages reveal. The same request gives the same reply, whatever the
order of threads.
"""

from __future__ import annotations

import time

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.llm.pricing import PriceSettings
from ace_bench.llm.session import ModelSettings
from ace_bench.llm.transports.simulated import sheets
from ace_bench.llm.transports.simulated.draws import Draws
from ace_bench.llm.transports.simulated.parameters import Latency, Parameters
from ace_bench.llm.transports.simulated.roles import ROLES
from ace_bench.llm.transports.simulated.seen import Seen
from ace_bench.llm.types import Completion, Purpose, Request, Status, Usage

VERSION = 1  # of the behaviour: a change of it makes old cached replies no longer fit


class SimulatedTransport:
    """The transport. One instance serves all threads: it keeps no state between requests."""

    simulated = True

    class Settings(BaseModel):
        """What `conf/model/simulated.yaml` may set beside the common model settings."""

        model_config = ConfigDict(extra="forbid")
        parameters: Parameters = Parameters()
        latency: Latency = Latency()
        max_tokens: int = Field(100_000, ge=1)  # a longer reply is cut, and its status says so
        price: PriceSettings | str | None = None  # bill it as if it were another model: for planning

        def asked(self, name: str) -> ModelSettings:
            """The parameters decide the answer, so they travel in the request and in its cache key."""
            decides = {
                "version": VERSION,
                "parameters": self.parameters.model_dump(),
                "latency": self.latency.model_dump(exclude={"sleep"}),
                "max_tokens": self.max_tokens,
            }
            return ModelSettings(name, "simulated", decides)

    def __init__(self, settings: Settings) -> None:
        self.parameters, self.latency, self.max_tokens = settings.parameters, settings.latency, settings.max_tokens

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion:
        """Answer `request` for `purpose`; deterministic in the digest."""
        seen = Seen(request.messages)
        role = ROLES.get(purpose)
        if role is None:
            raise ValueError(f"the simulated model does not answer purpose {purpose!r}; it knows {', '.join(ROLES)}")
        if purpose == "rewrite" and sheets.wanted(seen):
            role = sheets.rewrite
        text = role(seen, self.parameters, Draws(request_digest))
        cut = _tokens(text) > self.max_tokens
        text = text[: 4 * self.max_tokens] if cut else text
        usage = Usage(input=_tokens(seen.text), cached_input=0, cache_write=0, output=_tokens(text), reasoning=0)
        status: Status = "truncated" if cut else "ok"
        return Completion(text, status, "length" if cut else "stop", usage, "simulated", self._wait(usage))

    def _wait(self, usage: Usage) -> float:
        took = (
            self.latency.base
            + (usage.input or 0) / self.latency.input_rate
            + (usage.output or 0) / self.latency.output_rate
        )
        if self.latency.sleep:
            time.sleep(took * self.latency.sleep)
        return round(took, 6)


def _tokens(text: str) -> int:
    return -(-len(text) // 4)
