"""How the simulated model states a lesson, and how it finds lessons and worked examples in a text it was sent.

A lesson is one sentence: `When the task shows "CUE" and "CUE", answer "ADVICE".` Nothing else is read as one: a lesson the
model can use is a lesson that stands in its context, letter by letter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

_LESSON = re.compile(
    r'(?:helpful=(\d+) harmful=(\d+) :: )?When the task shows "([^"\n]+)"((?: and "[^"\n]+")*), answer "([^"\n]+)"\.'
)
_MORE = re.compile(r' and "([^"\n]+)"')


@dataclass(frozen=True, slots=True)
class Lesson:
    """A condition and what to answer under it. `credit` = helpful - harmful, where the text shows counters."""

    cues: tuple[str, ...]
    advice: str
    credit: int = field(default=0, compare=False)

    def __str__(self) -> str:
        shown = " and ".join(f'"{cue}"' for cue in self.cues)
        return f'When the task shows {shown}, answer "{self.advice}".'

    def applies(self, text: str) -> bool:
        """Every cue stands in the text."""
        return all(cue in text for cue in self.cues)


def lesson(cues: tuple[str, ...], advice: str) -> Lesson:
    """A lesson whose parts are safe to quote."""
    clean = tuple(_quotable(cue) for cue in cues)
    return Lesson(clean, _quotable(advice))


@lru_cache(maxsize=512)
def lessons_in(text: str) -> tuple[Lesson, ...]:
    """Every lesson stated in `text`, in order (cached: the same playbook is read many times)."""
    return tuple(
        Lesson((m[3], *_MORE.findall(m[4])), m[5], int(m[1] or 0) - int(m[2] or 0)) for m in _LESSON.finditer(text)
    )


def best(lessons: tuple[Lesson, ...], text: str) -> Lesson | None:
    """The lesson to use on `text`: the most specific that applies, then the best credited, then the one stated last."""
    applying = [(len(one.cues), one.credit, i, one) for i, one in enumerate(lessons) if one.applies(text)]
    return max(applying)[3] if applying else None


def _quotable(text: str) -> str:
    return text.replace('"', "'").replace("\n", " ").strip() or "?"
