"""What every method builds on: the playbook as state, the whole of it as context, and `base` itself, which never learns."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from ace_bench.contracts import REGIMES, Context, Expected, Experience, Feedback, Regime, Run, Task, Update
from ace_bench.playbook import DEFAULT_SECTIONS, Playbook, from_json, to_json
from ace_bench.prompts import Prompts


class MethodSettings(BaseModel):
    """Knobs every method has."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: str


class MethodBase:
    """What every method is made with, and what it may run under."""

    regimes: ClassVar[frozenset[Regime]] = frozenset(REGIMES)
    protocols: ClassVar[frozenset[str]] = frozenset({"online", "offline", "frozen"})
    Settings: ClassVar[type[BaseModel]] = MethodSettings

    def __init__(self, settings: Any, prompts: Prompts, initial: Playbook | None = None) -> None:
        self.settings, self.prompts, self.initial = settings, prompts, initial

    def first_playbook(self) -> Playbook:
        """The given playbook (warm start), or empty sections."""
        return self.initial if self.initial is not None else Playbook.empty(DEFAULT_SECTIONS)


class PlaybookMethod(MethodBase):
    """A method whose state is a `Playbook`. A subclass writes `update`; the rest is the default of the contract."""

    def start(self, run: Run) -> Playbook:
        """The initial state."""
        return self.first_playbook()

    def prepare(self, state: Playbook, task: Task, run: Run) -> Context:
        """The whole playbook, for every task."""
        return whole(state)

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """Learn from one experience: the next state and how it came about."""
        raise NotImplementedError

    def dump(self, state: Playbook) -> dict[str, Any]:
        """The state as JSON values; `load` gives it back."""
        return to_json(state)

    def load(self, data: dict[str, Any]) -> Playbook:
        """The state that `dump` wrote."""
        return from_json(data)


class Base(PlaybookMethod):
    """No memory: the initial context, never changed."""

    class Settings(MethodSettings):
        """No knobs."""

        name: Literal["base"] = "base"

    @classmethod
    def expected_calls(cls, settings: MethodSettings) -> Expected:
        """None: an update asks nothing."""
        return {}

    @classmethod
    def expected_growth(cls, settings: MethodSettings) -> tuple[int, int]:
        """None: the context stays as it is."""
        return (0, 0)

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """Nothing is learned, and nothing is asked."""
        return Update(state)


def whole(playbook: Playbook) -> Context:
    """The whole playbook as a context."""
    return Context(playbook.render(), tuple(playbook.by_id))


def feedback_text(feedback: Feedback) -> str:
    """What the feedback says, as a role reads it. It can say only what its regime left in it."""
    lines = []
    if feedback.environment:
        lines.append(feedback.environment)
    if feedback.correct is not None:
        lines.append("The answer was right." if feedback.correct else "The answer was wrong.")
    if feedback.details:
        lines.append(feedback.details)
    if feedback.target is not None:
        lines.append(f"The right answer is: {feedback.target}")
    return "\n".join(lines) or "(no feedback)"


def attempt_fields(experience: Experience) -> dict[str, str]:
    """The fields of an experience that the role prompts share."""
    episode = experience.episode
    return {
        "task": episode.task.input,
        "attempt": episode.trace,
        "answer": episode.answer if episode.answer is not None else "(none could be read)",
        "feedback": feedback_text(experience.feedback),
    }
