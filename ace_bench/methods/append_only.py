"""Append-only: every experience adds one entry and nothing is ever changed (review, Alg. 4: the control for preservation).

What is ours: the review names the control without a recipe. `entry: lesson` asks the same Reflector as ACE and appends its
key insight; `entry: trajectory` appends the attempt and its feedback as they are, with no extra call.
"""

from __future__ import annotations

from typing import Literal

from ace_bench.contracts import Expected, Experience, Run, Update
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

    @classmethod
    def expected_calls(cls, settings: AppendOnly.Settings) -> Expected:
        """One reflection and perhaps its repair; a trajectory is appended without any call."""
        return {"reflect": (1, 2)} if settings.entry == "lesson" else {}

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """Append the entry."""
        delta = Delta.on(state, [self.entry(state, experience, run)])
        merged = apply(state, delta)
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
