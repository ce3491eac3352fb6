"""Plays dspy's questions: a demo set becomes text, an attempt becomes an answer with a score. Knows nothing of dspy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ace_bench.methods.optimizers.attempts import Attempts, Item, asked_text


class Enough(BaseException):
    """The metric calls of the budget are used. A BaseException, as dspy would count an ordinary one as a wrong answer."""


class Question(str):
    """The text of a task that remembers its item: dspy hands on nothing but field values."""

    item: Item

    @classmethod
    def of(cls, item: Item) -> Question:
        """The question of an item."""
        question = cls(item.task.input)
        question.item = item
        return question

    def __deepcopy__(self, memo: object) -> Question:
        return self


class Player:
    """Attempts and demos of one fit.

    `cap` bounds all metric calls and raises `Enough`; `tries` bounds those that look for demos: beyond it a training
    question counts as wrong without an attempt, so a demo set stays as large as it got. A label becomes known by an
    attempt whose feedback tells it (`gt`), and is asked for when a demo needs it; such attempts count like all others.
    """

    def __init__(self, attempts: Attempts, seed: str, *, cap: int | None = None, tries: int | None = None) -> None:
        self.attempts, self.seed, self.cap, self.tries = attempts, seed, cap, tries
        self.labels: dict[str, str] = {}

    def __deepcopy__(self, memo: object) -> Player:
        return self  # dspy copies programs freely; the count is one

    def play(self, instructions: str, demos: Iterable[Mapping[str, Any]], question: Question) -> tuple[str, float]:
        """Answer one question with instructions and demos as context."""
        item = question.item
        if item.pool == "adapt" and self.tries is not None and self.attempts.calls["adapt"] >= self.tries:
            return "", 0.0
        return self._attempt(self.render(instructions, demos), item)

    def render(self, instructions: str, demos: Iterable[Mapping[str, Any]]) -> str:
        """The context a candidate stands for."""
        shown = [instructions]
        for number, demo in enumerate(demos, 1):
            item = demo["question"].item
            answer = demo["answer"] if "answer" in demo else self._label(item)
            shown.append(
                f"## Example {number}\n{asked_text(item.task)}\nAnswer given: {answer}\n"
                f"Feedback: The right answer is: {answer}"
            )
        return "\n\n".join(shown)

    def _label(self, item: Item) -> str:
        if item.task.id not in self.labels:
            self._attempt(self.seed, item)
        return self.labels[item.task.id]

    def _attempt(self, text: str, item: Item) -> tuple[str, float]:
        if self.cap is not None and self.attempts.total >= self.cap:
            raise Enough
        done = self.attempts.score(text, item)
        target = done.experience.feedback.target
        if target is not None:
            self.labels[item.task.id] = target
        return done.experience.episode.answer or "", done.score
