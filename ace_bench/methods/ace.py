"""ACE (paper, section 3; review, Alg. 1): Generator, Reflector, Curator, deterministic merge.

The numbers below are the steps of the review's Algorithm 1. Steps 1 to 3 (read, attempt, keep the trajectory) are the
protocol's: `update` receives the experience they gave.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from ace_bench.contracts import Context, Experience, Run, Update
from ace_bench.methods.base import MethodSettings, PlaybookMethod
from ace_bench.methods.reflector import refine, reflect
from ace_bench.playbook import Delta, Operation, Playbook, Rejection, Tag, apply, operation_from
from ace_bench.prompts.replies import Curation, Reflection

OPERATIONS = {
    "add": 'ADD {"type": "ADD", "section", "content"} a new lesson.',
    "all": 'ADD {"type": "ADD", "section", "content"} a new lesson; UPDATE {"type": "UPDATE", "id", "content"} to correct '
    'one; MERGE {"type": "MERGE", "ids", "content"} to make one of several that say the same; REMOVE {"type": "REMOVE", '
    '"id"} one that is wrong.',
}


class Ace(PlaybookMethod):
    """Agentic Context Engineering."""

    class Settings(MethodSettings):
        """Knobs. `rounds` bounds the Reflector; `reflection` says what a round is."""

        name: Literal["ace"] = "ace"
        rounds: int = Field(1, ge=1, le=50)
        reflection: Literal["refine", "retry"] = "refine"  # refine: the paper; retry: the released code
        operations: Literal["add", "all"] = "add"

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """One adaptation step: reflect (4, 5), curate (6), merge with feedback on the cited bullets (7, 8)."""
        reflection, experience = self.reflect(state, experience, run)
        if reflection is None:
            return Update(state, proposed=1, rejected=(Rejection("malformed_reply", "No valid reflection came."),))
        delta = Delta.on(
            state, [*self.tags(reflection, experience, run), *self.curate(state, reflection, experience, run)]
        )
        merged = apply(state, delta)
        return Update(merged.playbook, merged.changes, delta.proposed, len(merged.applied), merged.rejected)

    def reflect(self, state: Playbook, experience: Experience, run: Run) -> tuple[Reflection | None, Experience]:
        """Steps 4 and 5: diagnose, then refine (or try again) within the round budget. The last valid reflection counts."""
        reflection = reflect(self.prompts, state, experience, run)
        for number in range(2, self.settings.rounds + 1) if self.settings.reflection == "refine" else ():
            if reflection is None:
                break
            reflection = refine(self.prompts, state, experience, reflection, number, run) or reflection
        if self.settings.reflection == "retry" and not experience.feedback.correct:
            return self.retry(state, experience, reflection, run)
        return reflection, experience

    def retry(
        self, state: Playbook, experience: Experience, reflection: Reflection | None, run: Run
    ) -> tuple[Reflection | None, Experience]:
        """The released code's rounds: answer again with the reflection in hand, until right or out of rounds."""
        for number in range(1, self.settings.rounds + 1):
            if reflection is None:
                break
            again = Context(f"{state.render()}\n{reflection.text()}", tuple(state.by_id))
            experience = run.attempt(again, experience.task)
            if experience.feedback.correct or number == self.settings.rounds:
                break
            reflection = reflect(self.prompts, state, experience, run) or reflection
        return reflection, experience

    def curate(
        self, state: Playbook, reflection: Reflection, experience: Experience, run: Run
    ) -> Iterable[Operation | Rejection]:
        """Step 6: what is new, as operations. An unreadable reply is one rejection, never a change."""
        messages = self.prompts.messages(
            "curate", playbook=state.render(), task=experience.task.input, reflection=reflection.text(),
            operations=OPERATIONS[self.settings.operations],
        )  # fmt: skip
        reply = run.ask("curate", messages, Curation)
        if not isinstance(reply.data, Curation):
            return [Rejection("malformed_reply", reply.problem or "No valid list of operations came.")]
        return [self.allowed(operation_from(raw)) for raw in reply.data.operations]

    def allowed(self, operation: Operation | Rejection) -> Operation | Rejection:
        """Counters belong to the Reflector; with `operations: add` the Curator may only add."""
        if isinstance(operation, Rejection) or operation.type == "ADD":
            return operation
        if operation.type == "TAG" or self.settings.operations == "add":
            return Rejection("not_allowed", f"The Curator may not propose {operation.type} here.", operation)
        return operation

    def tags(self, reflection: Reflection, experience: Experience, run: Run) -> Iterable[Operation | Rejection]:
        """Step 8: one feedback event a bullet and step, and only for bullets the answer named."""
        for tag in reflection.bullet_tags:
            operation = operation_from({"type": "TAG", "id": tag.id, "tag": tag.tag}, event=f"{run.address}/{tag.id}")
            if isinstance(operation, Tag) and operation.id not in experience.episode.used:
                yield Rejection("not_cited", f"The answer did not name bullet {operation.id}.", operation)
            else:
                yield operation
