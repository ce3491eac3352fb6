"""ACE (paper, section 3; review, Alg. 1): Generator, Reflector, Curator, deterministic merge, grow and refine.

The numbers below are the steps of the review's Algorithm 1. Steps 1 to 3 (read, attempt, keep the trajectory) are the
protocol's: `update` receives the experience they gave. With every knob at its default this is the paper's method; each knob
is an ablation of the paper (its table is named in `AceSettings`) or a habit of the released code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ace_bench.contracts import Context, Expected, Experience, Run, Task, Update
from ace_bench.methods.ace_settings import OPERATIONS, AceSettings
from ace_bench.methods.ace_state import AceState
from ace_bench.methods.base import MethodBase, attempt_fields, whole
from ace_bench.methods.full_rewrite import sheet
from ace_bench.methods.refinement import refined
from ace_bench.methods.reflector import harm, refine, reflect
from ace_bench.methods.retrieval import closest
from ace_bench.playbook import Delta, Operation, Rejection, Tag, apply, operation_from, rewrite
from ace_bench.prompts.replies import Curation, Reflection, Rewrite


class Ace(MethodBase):
    """Agentic Context Engineering."""

    Settings: ClassVar[type[AceSettings]] = AceSettings
    settings: AceSettings

    @classmethod
    def embeds(cls, settings: AceSettings) -> bool:
        """Whether these knobs need an embedder."""
        return settings.top_k is not None or settings.refine != "off"

    @classmethod
    def expected_calls(cls, settings: AceSettings) -> Expected:
        """Calls of one update, for `ace-bench plan`; each reflection and curation may take a repair."""
        rounds = settings.rounds if settings.reflector else 0
        all_rounds = settings.reflection == "refine" and settings.harmful_every is None
        writer = "curate" if settings.incremental else "rewrite"
        return {
            "reflect": (rounds if all_rounds else min(1, rounds), 2 * rounds),
            writer: (int(settings.curator_every == 1), 2),
            "solve": (0, rounds if settings.reflection == "retry" else 0),
        }

    def start(self, run: Run) -> AceState:
        """An empty playbook, or the one given (warm start: paper, Table 3)."""
        return AceState(self.first_playbook())

    def prepare(self, state: AceState, task: Task, run: Run) -> Context:
        """Step 1: the whole playbook, or the `top_k` bullets nearest to the task."""
        if self.settings.top_k is None or len(state.bullets) <= self.settings.top_k:
            return whole(state.playbook)
        return whole(closest(state.playbook, task, self.settings.top_k, run))

    def update(self, state: AceState, experience: Experience, run: Run) -> Update:
        """One adaptation step: reflect (4, 5), curate (6), merge with feedback on the cited bullets (7, 8), refine (9)."""
        if not self.settings.reflector:
            return self.learn(state, trajectory(experience), experience, [], run)
        reflection, experience = self.reflect(state, experience, run)
        if reflection is None:
            return Update(state, proposed=1, rejected=(Rejection("malformed_reply", "No valid reflection came."),))
        return self.learn(state, reflection.text(), experience, self.tags(reflection, experience, run), run)

    def learn(
        self, state: AceState, lesson: str, experience: Experience, tags: Iterable[Operation | Rejection], run: Run
    ) -> Update:
        """Steps 6 to 9, or only the counters when it is not yet the Curator's turn."""
        waiting = (*state.reflections, lesson)
        if len(waiting) < self.settings.curator_every:
            return self.merge(state.having(reflections=waiting), Delta.on(state.playbook, tags), run)
        if not self.settings.incremental:
            return self.rewrite(state, "\n\n".join(waiting), experience, run)
        operations = self.curate(state, "\n\n".join(waiting), experience, run)
        return self.merge(state.having(reflections=()), Delta.on(state.playbook, [*tags, *operations]), run)

    def reflect(self, state: AceState, experience: Experience, run: Run) -> tuple[Reflection | None, Experience]:
        """Steps 4 and 5: diagnose, then refine (or try again) within the round budget. The last valid reflection counts."""
        every = self.settings.harmful_every
        if every is not None and (run.step + 1) % every == 0:
            return harm(self.prompts, state.playbook, experience, run), experience  # paper, Table 17
        reflection = reflect(self.prompts, state.playbook, experience, run)
        if self.settings.reflection == "retry":
            return self.retry(state, experience, reflection, run)
        for number in range(2, self.settings.rounds + 1):
            if reflection is None:
                break
            reflection = refine(self.prompts, state.playbook, experience, reflection, number, run) or reflection
        return reflection, experience

    def retry(
        self, state: AceState, experience: Experience, reflection: Reflection | None, run: Run
    ) -> tuple[Reflection | None, Experience]:
        """The released code's rounds: answer again with the reflection in hand, until right or out of rounds."""
        for number in range(1, self.settings.rounds + 1):
            if reflection is None or experience.feedback.correct:
                break
            again = Context(f"{state.render()}\n{reflection.text()}", tuple(state.playbook.by_id))
            experience = run.attempt(again, experience.task)
            if number < self.settings.rounds and not experience.feedback.correct:
                reflection = reflect(self.prompts, state.playbook, experience, run) or reflection
        return reflection, experience

    def curate(self, state: AceState, lesson: str, experience: Experience, run: Run) -> Iterable[Operation | Rejection]:
        """Step 6: what is new, as operations. An unreadable reply is one rejection, never a change."""
        messages = self.prompts.messages(
            "curate", playbook=state.render(), task=experience.task.input, reflection=lesson,
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

    def merge(self, state: AceState, delta: Delta, run: Run) -> Update:
        """Step 7, once `batch` deltas made on the same playbook have come together; then step 9."""
        deltas = (*state.deltas, delta)
        if len(deltas) < self.settings.batch:
            return Update(state.having(deltas=deltas))
        return self.merged(state, deltas, run)

    def merged(self, state: AceState, deltas: Iterable[Delta], run: Run) -> Update:
        """Apply the deltas in turn (additions commute; an edit of what another one changed is rejected), then refine."""
        playbook, update = state.playbook, Update(state)
        for delta in deltas:
            result = apply(playbook, delta)
            playbook = result.playbook
            update = update.plus(result.changes, delta.proposed, len(result.applied), result.rejected)
        playbook, changes = refined(playbook, self.settings, run)
        return update.plus(changes).ending(state.having(playbook=playbook, deltas=()))

    def flush(self, state: AceState, run: Run) -> Update:
        """The end of a pass: an incomplete batch is merged too."""
        return self.merged(state, state.deltas, run) if state.deltas else Update(state)

    def rewrite(self, state: AceState, lesson: str, experience: Experience, run: Run) -> Update:
        """Steps 6 and 7 without incremental updates: the Curator writes the whole playbook anew (paper, Table 18)."""
        fields = attempt_fields(experience) | {"attempt": f"{experience.episode.trace}\n{lesson}"}
        messages = self.prompts.messages("rewrite", sheet=sheet(state.playbook, None), protected="", **fields)
        reply = run.ask("rewrite", messages, Rewrite)
        if not isinstance(reply.data, Rewrite):
            problem = Rejection("malformed_reply", reply.problem or "No valid sheet came.")
            return Update(state.having(reflections=()), proposed=1, rejected=(problem,))
        entries = [(entry.section, entry.content) for entry in reply.data.entries]
        result = rewrite(state.playbook, entries)
        after = state.having(playbook=result.playbook, reflections=())
        return Update(after, result.changes, len(entries), len(entries) - len(result.rejected), result.rejected)

    def dump(self, state: AceState) -> dict[str, Any]:
        """The playbook and what waits."""
        return state.dump()

    def load(self, data: dict[str, Any]) -> AceState:
        """The state that `dump` wrote."""
        return AceState.load(data)


def trajectory(experience: Experience) -> str:
    """What the Curator reads when there is no Reflector (paper, Table 3): the attempt and its feedback as they are."""
    told = attempt_fields(experience)
    return f"Attempt at: {told['task']}\nAnswer given: {told['answer']}\nFeedback: {told['feedback']}"
