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
    """Attempts of one fit.

    `cap` bounds all metric calls and raises `Enough`; `tries` bounds those that look for demos: beyond it a training
    question counts as wrong without an attempt, so a demo set stays as large as it got.
    """

    def __init__(self, attempts: Attempts, *, cap: int | None = None, tries: int | None = None) -> None:
        self.attempts, self.cap, self.tries = attempts, cap, tries

    def __deepcopy__(self, memo: object) -> Player:
        return self  # dspy copies programs freely; the count is one

    def play(self, instructions: str, demos: Iterable[Mapping[str, Any]], question: Question) -> tuple[str, float]:
        """Answer one question with instructions and demos as context."""
        item = question.item
        if item.pool == "adapt" and self.tries is not None and self.attempts.calls["adapt"] >= self.tries:
            return "", 0.0
        if self.cap is not None and self.attempts.total >= self.cap:
            raise Enough
        done = self.attempts.score(rendered(instructions, demos), item)
        return done.experience.episode.answer or "", done.score


def rendered(instructions: str, demos: Iterable[Mapping[str, Any]]) -> str:
    """The context a candidate stands for: instructions and numbered demos."""
    shown = [
        f"## Example {number}\n{asked_text(demo['question'].item.task)}\nAnswer given: {demo['answer']}\n"
        f"Feedback: The right answer is: {demo['answer']}"
        for number, demo in enumerate(demos, 1)
    ]
    return "\n\n".join([instructions, *shown])
