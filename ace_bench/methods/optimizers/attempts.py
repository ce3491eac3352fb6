"""Scored attempts for a library: the metric, the count, and the text a library's model reads of an attempt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from ace_bench.contracts import Context, Experience, FitRun, Task
from ace_bench.methods.base import feedback_text

Pool = Literal["adapt", "select"]


@dataclass(frozen=True, slots=True)
class Item:
    """A task as a library sees it: with the pool it came from, which decides the phase its attempts belong to."""

    task: Task
    pool: Pool


@dataclass(frozen=True, slots=True)
class Scored:
    """An attempt and its metric in [0, 1]."""

    experience: Experience
    score: float


class Attempts:
    """All scored attempts of a fit. `calls` counts them by pool; `unscored` those that had no score and count as 0."""

    def __init__(self, run: FitRun) -> None:
        self.run, self.calls, self.unscored = run, Counter[Pool](), 0

    @property
    def total(self) -> int:
        """Metric calls so far, by our own count."""
        return self.calls.total()

    def score(self, text: str, item: Item) -> Scored:
        """Attempt `item` with `text` as the context."""
        self.calls[item.pool] += 1
        attempt = self.run.attempt if item.pool == "adapt" else self.run.validate
        experience = attempt(Context(text), item.task)
        return Scored(experience, self._metric(experience))

    def _metric(self, experience: Experience) -> float:
        """The primary score under `gt`, the one bit under `outcome`. The optimisers know no third thing than a number."""
        told = experience.feedback
        value = told.score if told.regime == "gt" else told.correct
        if value is None:
            self.unscored += 1
            return 0.0
        return float(value)

    def note(self) -> str:
        """What the count says, for a reason in `candidates`."""
        lost = f", {self.unscored} without a score counted as 0" if self.unscored else ""
        return f"{self.total} metric calls by our count ({self.calls['select']} on validation){lost}"


def asked_text(task: Task) -> str:
    """The task, as reflection prompts and demos show it."""
    return f"Attempt at: {task.input}"


def answer_text(experience: Experience) -> str:
    """The answer given."""
    answer = experience.episode.answer
    return f"Answer given: {answer if answer is not None else '(none could be read)'}"


def told_text(experience: Experience) -> str:
    """What the feedback said, and no more than its regime allows."""
    return f"Feedback: {feedback_text(experience.feedback)}"
