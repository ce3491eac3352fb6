"""What a request shows: the parts of its messages, and what they reveal. The feedback regime is inferred from here alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ace_bench.llm.transports.simulated.lessons import Lesson, lesson, lessons_in
from ace_bench.llm.transports.simulated.readers import items
from ace_bench.llm.types import Message

_PART = re.compile(r"<(\w+)[^>\n]*>\n(.*?)\n?</\1>", re.S)
_TARGET = re.compile(r"The right answer is: (.+)")
_EXAMPLE = re.compile(r"Attempt at: (.*?)\nAnswer given: .*?\nFeedback: (.*?)(?=\n\[|\n##|\n- |\n</|\Z)", re.S)
_SHOT = re.compile(r"^Task: (.*?)\nThe right answer is: ([^\n]+)$", re.S | re.M)  # a solved task, as ICL shows it


@dataclass(frozen=True)
class Seen:
    """The messages, read once."""

    messages: Sequence[Message]

    @cached_property
    def text(self) -> str:
        """All messages as one text."""
        return "\n".join(m["content"] for m in self.messages)

    @cached_property
    def parts(self) -> dict[str, str]:
        """The tagged parts; the last of a name counts."""
        return {m[1]: m[2] for m in _PART.finditer(self.text)}

    @cached_property
    def task(self) -> str:
        """The task, or all there is when it is not marked."""
        return self.parts.get("task", self.text)

    @cached_property
    def lessons(self) -> tuple[Lesson, ...]:
        """Lessons stated anywhere but in the task, and worked examples with a known answer."""
        context = self.text.replace(self.task, "", 1) if "task" in self.parts else self.text
        return (*_examples(context), *lessons_in(context))

    def stated(self, part: str) -> tuple[Lesson, ...]:
        """Lessons and worked examples in one tagged part."""
        text = self.parts.get(part, "")
        return (*_examples(text), *lessons_in(text))

    @cached_property
    def target(self) -> str | None:
        """The target, where the messages tell it outside the playbook."""
        memory = self.parts.get("playbook") or self.parts.get("sheet") or ""
        found = _TARGET.findall(self.text.replace(memory, "", 1) if memory else self.text)
        return found[-1].strip() if found else None

    @cached_property
    def correct(self) -> bool | None:
        """Whether the answer was right, where the feedback tells."""
        feedback = self.parts.get("feedback", "")
        if "The answer was right." in feedback:
            return True
        return False if "The answer was wrong." in feedback else None


def _examples(text: str) -> tuple[Lesson, ...]:
    """Each told attempt and each solved task as the lessons it amounts to."""
    told = (
        [(task, _TARGET.search(feedback)) for task, feedback in _EXAMPLE.findall(text)]
        if "Attempt at: " in text
        else []
    )
    known = [(task, target[1]) for task, target in told if target]
    known += _SHOT.findall(text) if "\nThe right answer is: " in text else []
    out: list[Lesson] = []
    for task, answer in known:
        questions = items(task)
        answers = split_answer(answer, len(questions))
        out += [lesson(q.cues, q.advice(a)) for q, a in zip(questions, answers, strict=True)]
    return tuple(out)


def split_answer(answer: str, n: int) -> list[str]:
    """An answer to n questions, cut at commas and padded."""
    if n == 1:
        return [answer.strip()]
    given = [part.strip() for part in answer.split(",")]
    return (given + ["?"] * n)[:n]
