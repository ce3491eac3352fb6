"""The knobs of ACE: those of the paper's tables and those of the released code. Each is wired; a test turns every one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ace_bench.methods.base import MethodSettings

OPERATIONS = {
    "add": 'ADD {"type": "ADD", "section", "content"} a new lesson.',
    "all": 'ADD {"type": "ADD", "section", "content"} a new lesson; UPDATE {"type": "UPDATE", "id", "content"} to correct '
    'one; MERGE {"type": "MERGE", "ids", "content"} to make one of several that say the same; REMOVE {"type": "REMOVE", '
    '"id"} one that is wrong.',
}


class AceSettings(MethodSettings):
    """Knobs; see docs/methods.md for what each is in the paper and in the released code."""

    name: Literal["ace"] = "ace"
    reflector: bool = True  # false: the Curator reads the trajectory (Table 3)
    rounds: int = Field(1, ge=1, le=50)  # at most (Table 19: 1, 3, 5, 10)
    reflection: Literal["refine", "retry"] = "refine"  # refine: the paper; retry: the released code
    operations: Literal["add", "all"] = "add"  # what the Curator may propose
    incremental: bool = True  # false: the Curator rewrites the whole playbook (Table 18)
    curator_every: int = Field(1, ge=1)  # steps; it then reads all reflections since its last turn
    batch: int = Field(1, ge=1)  # steps whose deltas are made on one playbook and merged together
    top_k: int | None = Field(None, ge=1)  # bullets shown, nearest to the task; null: all
    refine: Literal["off", "proactive", "lazy"] = "off"  # semantic dedup: after each merge, or past `refine_at_tokens`
    dedup_threshold: float | None = Field(None, ge=-1, le=1)  # cosine (Table 20); null: the embedder's own
    dedup_guard: bool = True  # never merge what differs in a negation, number or unit
    refine_at_tokens: int | None = Field(None, ge=1)  # context size that triggers lazy refinement (Table 21); bytes / 4
    token_budget: int | None = Field(None, ge=1)  # hard cap of the playbook, kept by eviction; bytes / 4
    evict: Literal["oldest", "least_helpful"] = "oldest"
    harmful_every: int | None = Field(None, ge=1)  # every X-th reflection is harmful (Table 17)

    @model_validator(mode="after")
    def _whole(self) -> AceSettings:
        if self.refine == "off" and self.dedup_threshold is not None:
            raise ValueError(
                "method.dedup_threshold does nothing while method.refine is off; set refine=proactive or lazy"
            )
        if (self.refine == "lazy") != (self.refine_at_tokens is not None):
            raise ValueError("method.refine_at_tokens belongs to method.refine=lazy, which needs it")
        if self.token_budget is None and self.evict != "oldest":
            raise ValueError("method.evict does nothing without method.token_budget")
        if not self.reflector and (self.rounds > 1 or self.reflection == "retry" or self.harmful_every):
            raise ValueError(
                "method.rounds, reflection and harmful_every are the Reflector's; with reflector=false leave them"
            )
        if not self.incremental and (self.operations == "all" or self.batch > 1):
            raise ValueError("method.operations and batch are about deltas; with incremental=false leave them")
        return self
