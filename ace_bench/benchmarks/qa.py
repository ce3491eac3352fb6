"""`qa`: questions and answers of your own, from any JSONL or Parquet file or `datasets` folder, without code.

The config names the columns and how an answer is compared: `exact` (case, blanks and a last full stop aside), `numeric`
(the number grammar of `numbers`, within a tolerance), `choice` (the letter of an option) or `judge` (a model decides).
"""

from __future__ import annotations

import json
import unicodedata
from decimal import Decimal
from string import ascii_uppercase
from typing import Any, Literal

from pydantic import Field

from ace_bench.benchmarks import single_turn
from ace_bench.benchmarks.file_benchmark import FileBenchmark
from ace_bench.benchmarks.jsonl import FileSettings, text_of
from ace_bench.benchmarks.judging import NO_VERDICT, judged
from ace_bench.benchmarks.numbers import Percent, number
from ace_bench.benchmarks.single_turn import answer_once, quote, said, spelling
from ace_bench.benchmarks.tables import TableSplits, Values, content_id
from ace_bench.contracts import Ask, Episode, Feedback, Sample, Score, Task
from ace_bench.prompts import Prompts

Scoring = Literal["exact", "numeric", "choice", "judge"]
INSTRUCTIONS = "You answer a question. The field final_answer holds the answer alone."
FORMS: dict[Scoring, str] = {
    "exact": "",
    "numeric": " The answer is one number in plain digits.",
    "choice": " The answer is the letter of one option.",
    "judge": "",
}


class QA(FileBenchmark):
    """A question-and-answer set. The group is the value of the `group` column, or "all"."""

    name = "qa"

    class Settings(FileSettings):
        """Column names, and how answers are compared. An unset column is not used."""

        name: Literal["qa"] = "qa"
        question: str = "question"
        answer: str = "answer"
        options: str | None = None
        id: str | None = None
        group: str | None = None
        scoring: Scoring = "exact"
        tolerance: float = Field(default=0.0, ge=0)  # numeric: absolute
        percent: Percent = "as_is"  # numeric: what 12.5% is worth
        instructions: str = INSTRUCTIONS

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings, self._prompts = settings, prompts
        self._files = TableSplits(settings, "qa_small", self._sample)
        self._instructions = settings.instructions + FORMS[settings.scoring]

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """One call of the solver."""
        return answer_once(self._prompts, self._instructions, context, task, ask)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """Right when answer and target read the same. With `scoring: judge` there is no score before the verdict."""
        how = self.settings.scoring
        if episode.status == "error":
            return Score(None, False, "error")
        if episode.answer is None:
            return Score(0.0, False, episode.status, {how: 0.0})
        if how == "judge":
            return NO_VERDICT
        right = self._right(episode.answer, sample)
        outcome = "right" if right else "wrong" if self._reading(episode.answer, sample) is not None else "unparsed"
        return Score(float(right), right, outcome, {how: float(right)})

    def judge(self, sample: Sample, episode: Episode, score: Score, ask: Ask) -> Score:
        """The verdict of a model, with `scoring: judge` alone."""
        if self.settings.scoring != "judge":
            return score
        return judged(self._prompts, sample, episode, score, ask, primary=True)

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """`environment` says how the answer was read, `details` what was wanted."""
        given = "There was no answer" if episode.answer is None else f"The answer was {quote(episode.answer)}"
        target = sample.target + (f" ({sample.meta['options'][sample.target]})" if sample.meta["options"] else "")
        details = f"{given}; the wanted answer is {target}."
        return Feedback("gt", self._environment(sample, episode), score.correct, sample.target, details)

    def gold_reply(self, sample: Sample) -> str:
        """The reply that earns full marks."""
        return single_turn.gold_reply(sample.target)

    def _environment(self, sample: Sample, episode: Episode) -> str:
        if episode.answer is None:
            return said(episode.status) or ""
        reading = self._reading(episode.answer, sample)
        if reading is None:
            wanted = {"numeric": "a number", "choice": "one of the options"}.get(self.settings.scoring, "an answer")
            return f"The answer {quote(episode.answer)} could not be read as {wanted}."
        return f"The answer was read as {quote(reading)}."

    def _right(self, answer: str, sample: Sample) -> bool:
        if self.settings.scoring == "numeric":
            left, right = self._number(answer), number(sample.target)
            far = Decimal(repr(self.settings.tolerance))
            return left is not None and right is not None and right - far <= left <= right + far
        return self._reading(answer, sample) == self._reading(sample.target, sample)

    def _reading(self, answer: str, sample: Sample) -> str | None:
        """What the rule takes the answer to be; None when it can take it for nothing."""
        if self.settings.scoring == "numeric":
            value = self._number(answer)
            return None if value is None else str(value)
        if self.settings.scoring == "choice":
            return letter(answer, sample.meta["options"])
        return plain(answer) or None

    def _number(self, answer: str) -> Decimal | None:
        return number(answer, percent=self.settings.percent)

    def _sample(self, row: Values) -> Sample:
        asked = self.settings
        question, options = text_of(row, asked.question).strip(), self._options(row)
        target = self._target(row, options)
        listed = [f"{key}. {text}" for key, text in options.items()]
        text = "\n".join([question, "", "Options:", *listed]) if listed else question
        key = (
            content_id(text, target) if asked.id is None else f"{self._cell(row, asked.id)}-{content_id(text, '')[:6]}"
        )
        group = "all" if asked.group is None else self._cell(row, asked.group)
        return Sample(Task(key, group, text), target, {"options": options})

    def _options(self, row: Values) -> dict[str, str]:
        """Letter -> text. The column holds a list of texts, or such a list written as JSON."""
        name = self.settings.options
        if name is None:
            if self.settings.scoring == "choice":
                raise ValueError("scoring=choice needs a column of options: give options=COLUMN")
            return {}
        value = _column(row, name)
        texts = _json(value) if isinstance(value, str) else value
        if not isinstance(texts, list) or not 2 <= len(texts) <= len(ascii_uppercase):
            raise ValueError(f"column '{name}' must hold a list of 2 to {len(ascii_uppercase)} options")
        if len({plain(spelling(text)) for text in texts}) < len(texts):
            raise ValueError(f"column '{name}' holds the same option twice")
        return dict(zip(ascii_uppercase, map(spelling, texts), strict=False))

    def _target(self, row: Values, options: dict[str, str]) -> str:
        """The wanted answer as text; for `choice` its letter. A whole number there is a place in the list, from 0."""
        value = _column(row, self.settings.answer)
        if self.settings.scoring == "choice" and isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < len(options):
                raise ValueError(f"the answer {value} is no place in a list of {len(options)} options (from 0)")
            return ascii_uppercase[value]
        text = self._cell(row, self.settings.answer)
        if self.settings.scoring == "choice":
            if (key := letter(text, options)) is None:
                raise ValueError(f"the answer {quote(text)} is neither one letter nor the text of one option")
            return key
        if self.settings.scoring == "numeric" and number(text) is None:
            raise ValueError(f"the answer {quote(text)} is not a number")
        return text

    @staticmethod
    def _cell(row: Values, name: str) -> str:
        """A text or a number as text; ValueError for anything else and for nothing."""
        value = _column(row, name)
        if isinstance(value, bool) or not isinstance(value, str | int | float) or not spelling(value).strip():
            raise ValueError(f"column '{name}' must hold a text or a number, not {quote(repr(value))}")
        return spelling(value).strip()


def plain(text: str) -> str:
    """`text` for comparing: Unicode form, case, blanks and a last full stop aside."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).removesuffix(".").strip()


def letter(answer: str, options: dict[str, str]) -> str | None:
    """The letter an answer names: `B`, `(b)`, `B.`, `B. text`, or the text alone. None when it names none, or two."""
    bare = answer.strip().strip("()[].: ").upper()
    found = {bare} & options.keys()
    read = plain(answer)
    found |= {
        key for key, text in options.items() if read in (plain(text), plain(f"{key}. {text}"), plain(f"{key}) {text}"))
    }
    return found.pop() if len(found) == 1 else None


def _column(row: Values, name: str) -> Any:
    if name not in row:
        raise ValueError(f"no column '{name}' (columns: {', '.join(sorted(row)) or 'none'})")
    return row[name]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
