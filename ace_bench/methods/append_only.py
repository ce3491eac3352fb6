"""Append-only: every experience adds one entry and nothing is ever changed (review, Alg. 4: the control for preservation).

What is ours: the review names the control without a recipe. `entry: lesson` asks the same Reflector as ACE and appends its
key insight; `entry: trajectory` appends the attempt and its feedback as they are, with no extra call. With a `token_budget` an
entry that no longer fits is rejected: a memory that may change nothing has no other way to keep to a size.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ace_bench.contracts import Expected, Experience, Run, Update, token_estimate
from ace_bench.methods.base import MethodSettings, PlaybookMethod, attempt_fields
from ace_bench.methods.reflector import reflect
from ace_bench.playbook import Add, Delta, Operation, Playbook, Rejection, apply


class AppendOnly(PlaybookMethod):
    """Adds one entry a step."""

    class Settings(MethodSettings):
        """Knobs: what is appended, and under which heading."""

        name: Literal["append_only"] = "append_only"
        entry: Literal["lesson", "trajectory"] = "lesson"
        section: str = "OTHERS"
        token_budget: int | None = Field(None, ge=1)  # hard cap of the memory, UTF-8 bytes / 4

    @classmethod
    def expected_calls(cls, settings: AppendOnly.Settings) -> Expected:
        """One reflection and perhaps its repair; a trajectory is appended without any call."""
        return {"reflect": (1, 2)} if settings.entry == "lesson" else {}

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """Append the entry, if it still fits."""
        delta = Delta.on(state, [self.entry(state, experience, run)])
        merged = apply(state, delta)
        budget = self.settings.token_budget
        if budget is not None and merged.applied and token_estimate(merged.playbook.render()) > budget:
            full = Rejection(
                "over_budget", f"The memory would pass its budget of {budget} tokens.", delta.operations[0]
            )
            return Update(state, proposed=1, rejected=(full,))
        return Update(merged.playbook, merged.changes, delta.proposed, len(merged.applied), merged.rejected)

    def entry(self, state: Playbook, experience: Experience, run: Run) -> Operation | Rejection:
        """The lesson the Reflector states, or the attempt as it went."""
        if self.settings.entry == "trajectory":
            told = attempt_fields(experience)
            text = f"Attempt at: {told['task']}\nAnswer given: {told['answer']}\nFeedback: {told['feedback']}"
            return Add(self.settings.section, text)
        reflection = reflect(self.prompts, state, experience, run)
        if reflection is None:
            return Rejection("malformed_reply", "No valid reflection came.")
        return Add(self.settings.section, reflection.key_insight)
