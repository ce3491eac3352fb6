"""The known parameters of the simulated model. Probabilities lie in [0, 1]."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Parameters(BaseModel):
    """What the stand-in does, by purpose. See docs/simulated.md for the closed forms they lead to."""

    model_config = ConfigDict(extra="forbid")

    prior: float = Field(0.6, ge=0, le=1)  # solve, no lesson used: chance of the obvious reading; else another option
    use: float = Field(0.95, ge=0, le=1)  # solve: chance that a lesson in the context is used
    half_context: float | None = Field(
        None, gt=0
    )  # solve: tokens of context that halve `use`; null = length is no matter
    reflect: float = Field(0.95, ge=0, le=1)  # reflect: chance to state the lesson the evidence carries
    malformed: float = Field(0.02, ge=0, le=1)  # curate: chance of a malformed reply
    keep: float = Field(0.98, ge=0, le=1)  # rewrite: q, chance that a statement survives
    collapse: float = Field(0.01, ge=0, le=1)  # rewrite: chance that nearly all is lost at once
    collapse_keeps: float = Field(0.02, ge=0, le=1)  # rewrite: share of the statements left by a collapse
    judge_error: float = Field(0.0, ge=0, le=1)  # judge: chance of a wrong verdict

    def use_rate(self, tokens: float) -> float:
        """Chance that a lesson is used in a request of so many tokens."""
        return self.use if self.half_context is None else float(self.use * 0.5 ** (tokens / self.half_context))


class Latency(BaseModel):
    """The latency it reports, seconds: `base` + tokens / rate. It only waits when `sleep` is set."""

    model_config = ConfigDict(extra="forbid")

    base: float = Field(0.4, ge=0)
    input_rate: float = Field(20_000, gt=0)  # tokens a second read
    output_rate: float = Field(60, gt=0)  # tokens a second written
    sleep: float = Field(0.0, ge=0)  # share of the latency really waited
