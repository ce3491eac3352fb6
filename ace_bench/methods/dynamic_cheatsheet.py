"""Dynamic Cheatsheet (Suzgun et al. 2025; the DC rows of the paper's tables): a sheet of free text, rewritten as it goes.

Five variants of one state machine (released code, `language_model.py`):

| variant | before the attempt | after it |
| --- | --- | --- |
| cumulative (DC-Cu) | the sheet | curator(sheet, task, attempt) -> sheet |
| retrieval_synthesis (DC-RS) | curator(sheet, k nearest pairs, task) -> sheet | the sheet and the pair are kept |
| dynamic_retrieval (DR) | the k nearest pairs | the pair is kept |
| full_history | all pairs | the pair is kept |
| empty | the sheet it starts with | nothing |

The method never sees correctness in the source. Under `gt` and `outcome` the curator and the pairs also carry the feedback:
that is our construction (the paper has such a row and does not say how labels were given).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from ace_bench.contracts import Context, Expected, Experience, Feedback, Regime, Run, Task, Update
from ace_bench.methods.base import MethodSettings, attempt_fields, feedback_text
from ace_bench.methods.retrieval import nearest
from ace_bench.methods.text_state import Pair, TextMethod, TextState
from ace_bench.playbook import Rejection
from ace_bench.prompts import Prompts
from ace_bench.prompts.tagged import Extraction, sheet_in

EMPTY = "(empty)"  # what the released code writes where there is no sheet yet
RETRIEVES = ("dynamic_retrieval", "retrieval_synthesis")
CURATES = ("cumulative", "retrieval_synthesis")


class DynamicCheatsheet(TextMethod):
    """Dynamic Cheatsheet (Suzgun et al. 2025): a sheet of free text, rewritten as it goes; or earlier attempts as they were."""

    our_regimes: ClassVar[frozenset[Regime]] = frozenset({"gt", "outcome"})  # our construction, not the source's

    class Settings(MethodSettings):
        """Knobs. A knob that the variant does not use is refused."""

        name: Literal["dynamic_cheatsheet"] = "dynamic_cheatsheet"
        variant: Literal["cumulative", "retrieval_synthesis", "dynamic_retrieval", "full_history", "empty"] = (
            "cumulative"
        )
        rounds: int = Field(1, ge=1, le=10)  # cumulative: attempts and curations of one task
        top_k: int | None = Field(None, ge=1)  # retrieval variants: pairs shown; None = 3
        extraction: Extraction = "strict"  # how the sheet is read from a reply (`prompts.tagged.sheet_in`)

        @model_validator(mode="after")
        def _used(self) -> DynamicCheatsheet.Settings:
            unused = {
                "rounds": self.rounds > 1 and self.variant != "cumulative",
                "top_k": self.top_k is not None and self.variant not in RETRIEVES,
                "extraction": self.extraction != "strict" and self.variant not in CURATES,
            }
            if any(unused.values()):
                names = ", ".join(name for name, idle in unused.items() if idle)
                raise ValueError(f"variant {self.variant} does not use {names}; leave it out")
            return self

    @classmethod
    def embeds(cls, settings: DynamicCheatsheet.Settings) -> bool:
        """Whether the run needs an embedder: the variants that retrieve."""
        return settings.variant in RETRIEVES

    @classmethod
    def expected_calls(cls, settings: DynamicCheatsheet.Settings) -> Expected:
        """Calls of one update, for `ace-bench plan`: no reply is ever asked for again."""
        if settings.variant != "cumulative":
            return {}
        return {"rewrite": (settings.rounds, settings.rounds), "solve": (settings.rounds - 1, settings.rounds - 1)}

    @classmethod
    def expected_prepare_calls(cls, settings: DynamicCheatsheet.Settings) -> Expected:
        """Calls before an attempt: the curator of retrieval-synthesis, and the embedding of the task."""
        asked = {"rewrite": (1, 1)} if settings.variant == "retrieval_synthesis" else {}
        return asked | ({"embed": (0, 1)} if cls.embeds(settings) else {})

    def start(self, run: Run) -> TextState:
        """The empty sheet, or the given playbook as text."""
        return TextState(EMPTY if self.initial is None else self.initial.render())

    def prepare(self, state: TextState, task: Task, run: Run) -> Context:
        """What is put before the model: see the table above. Retrieval-synthesis asks its curator here."""
        if self.settings.variant in ("cumulative", "empty"):
            return Context(state.text)
        if self.settings.variant == "full_history":
            return Context(history(self.prompts, state.pairs))
        near = nearest(state.pairs, task.input, run)[: self.settings.top_k or 3]
        shown = examples(self.prompts, near)
        return Context(self.synthesised(state, shown, task, run) if self.settings.variant in CURATES else shown)

    def update(self, state: TextState, experience: Experience, run: Run) -> Update:
        """Learn from one experience, whether it went well or not: the source does not know."""
        if self.settings.variant == "empty":
            return Update(state)
        if self.settings.variant == "cumulative":
            return self.cumulated(state, experience, run)
        pair = Pair(experience.task.input, experience.episode.trace, note(experience.feedback))
        # The context of a DC-RS episode is the sheet its curator wrote for it: that one is kept.
        sheet = experience.episode.context if self.settings.variant in CURATES else state.text
        return Update(TextState(sheet, state.version + 1, (*state.pairs, pair)), proposed=1, applied=1)

    def cumulated(self, state: TextState, experience: Experience, run: Run) -> Update:
        """`rounds` times: curate; then answer again with the new sheet and the answers so far, unless it was the last."""
        answers: list[str] = []
        rejected: list[Rejection] = []
        for number in range(1, self.settings.rounds + 1):
            if number > 1:
                again = Context(f"{state.text}\n\nAnswers to this task so far:\n" + "\n".join(answers))
                experience = run.attempt(again, experience.task)
            answers.append(f"Round {number}: {attempt_fields(experience)['answer']}")
            sheet = self.curated(state, experience, run)
            if sheet is None:
                rejected.append(Rejection("malformed_reply", "No sheet stood between the tags."))
            else:
                state = replace(state, text=sheet, version=state.version + 1)
        return Update(state, (), self.settings.rounds, self.settings.rounds - len(rejected), tuple(rejected))

    def curated(self, state: TextState, experience: Experience, run: Run) -> str | None:
        """The sheet after the attempt; None when none came, and the old one stays (no repair: as released)."""
        told = note(experience.feedback)
        fields = attempt_fields(experience) | {"feedback": f"\n\n<feedback>\n{told}\n</feedback>" if told else ""}
        reply = run.ask("rewrite", self.prompts.messages("cheatsheet", sheet=state.text, **fields))
        return sheet_in(reply.text, self.settings.extraction)

    def synthesised(self, state: TextState, shown: str, task: Task, run: Run) -> str:
        """The sheet for the coming task; when none came the pairs themselves are it (as released)."""
        messages = self.prompts.messages("cheatsheet_synthesis", sheet=state.text, examples=shown, task=task.input)
        sheet = sheet_in(run.ask("rewrite", messages).text, self.settings.extraction)
        return shown if sheet is None else sheet


def examples(prompts: Prompts, near: Sequence[tuple[float, Pair]]) -> str:
    """Retrieved pairs as text, the most similar last, next to the task."""
    shown = [
        prompts.text("cheatsheet_example", number=str(i), similarity=f"{cosine:.2f}", **_fields(pair))
        for i, (cosine, pair) in enumerate(reversed(near), 1)
    ]
    return prompts.text("cheatsheet_examples", examples="\n\n".join(shown)) if shown else EMPTY


def history(prompts: Prompts, pairs: Sequence[Pair]) -> str:
    """All pairs as text, in the order they came."""
    shown = [prompts.text("cheatsheet_history", number=str(i), **_fields(pair)) for i, pair in enumerate(pairs, 1)]
    return prompts.text("cheatsheet_examples", examples="\n\n".join(shown)) if shown else EMPTY


def note(feedback: Feedback) -> str:
    """What the feedback tells, or "" where it tells nothing."""
    told = feedback.environment or feedback.details or (feedback.correct, feedback.target) != (None, None)
    return feedback_text(feedback) if told else ""


def _fields(pair: Pair) -> dict[str, str]:
    return {"input": pair.input, "output": pair.output, "feedback": f"\nFeedback: {pair.note}" if pair.note else ""}
