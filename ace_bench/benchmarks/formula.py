"""Formula: financial arithmetic with a named formula; the answer is one number (paper, Section 4.1, Table 2).

Two scoring rules, always both computed: `upstream` is the released one (float equality, no tolerance; known fault R03),
`tolerant` compares decimals within half a hundredth, since most targets are rounded to hundredths.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Literal

from ace_bench.benchmarks import single_turn
from ace_bench.benchmarks.file_benchmark import FileBenchmark
from ace_bench.benchmarks.jsonl import FileSettings, Row, SplitFiles
from ace_bench.benchmarks.numbers import Percent, number
from ace_bench.benchmarks.single_turn import answer_once, quote, said
from ace_bench.contracts import Ask, Episode, Feedback, Sample, Score, Task
from ace_bench.prompts import Prompts

TOLERANCE = Decimal("0.005")  # half a hundredth, ends included
NUMBER_FORMAT = (
    "Give one plain decimal number, rounded to hundredths where it does not come out even, without signs for currency "
    "or percent, without thousands marks and without words: write five million as 5000000.0."
)
INSTRUCTIONS = f"You solve exercises in financial arithmetic. Put the result alone into final_answer. {NUMBER_FORMAT}"
_NAME = re.compile(r"Use formula (.+?) to answer the question", re.DOTALL)


class Formula(FileBenchmark):
    """The Formula task set. Group = formula name (for orders and first-of-group figures; by itself in no prompt)."""

    name = "formula"

    class Settings(FileSettings):
        """`prompt=upstream` asks the bare question, formula and explanation dropped, as the released code does."""

        name: Literal["formula"] = "formula"
        prompt: Literal["full", "upstream"] = "full"
        primary: Literal["upstream", "tolerant"] = "upstream"
        percent: Percent = "as_is"

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings, self._prompts = settings, prompts
        self._files = SplitFiles(settings, "formula_small", row_problem, self._sample)

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """One call of the solver."""
        return answer_once(self._prompts, INSTRUCTIONS, context, task, ask)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """Right or wrong by the primary rule. No answer scores 0 under its own name; an `error` has no score."""
        if episode.status == "error":
            return Score(None, False, "error")
        if episode.answer is None:
            return Score(0.0, False, episode.status, {"upstream": 0.0, "tolerant": 0.0})
        named = {
            "upstream": float(upstream_equal(episode.answer, sample.target)),
            "tolerant": float(tolerant_equal(episode.answer, sample.target, self.settings.percent)),
        }
        value = named[self.settings.primary]
        readable = self._reading(episode.answer) is not None
        return Score(value, value == 1.0, "right" if value else "wrong" if readable else "unparsed", named)

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """Everything there is to learn; `environment` is what the number reader said, whatever the target."""
        given = "There was no answer" if episode.answer is None else f"The answer was {quote(episode.answer)}"
        details = f"{given}; the target is {sample.target}."
        return Feedback("gt", self._environment(episode), score.correct, sample.target, details)

    def gold_reply(self, sample: Sample) -> str:
        """The reply that earns full marks."""
        return single_turn.gold_reply(sample.target)

    def _environment(self, episode: Episode) -> str:
        if episode.answer is None:
            return said(episode.status) or ""
        reading = self._reading(episode.answer)
        if reading is None:
            return f"The answer {quote(episode.answer)} could not be read as a number."
        return f"The answer was read as the number {reading}."

    def _reading(self, answer: str) -> str | None:
        """The number the primary rule reads, as text; None when it reads none."""
        if self.settings.primary == "tolerant":
            value = number(answer, percent=self.settings.percent)
            return None if value is None else str(value)
        plain = _upstream_float(answer)
        return None if plain is None or not math.isfinite(plain) else repr(plain)

    def _sample(self, row: Row) -> Sample:
        name = formula_name(row.context) or ""
        text = row.context if self.settings.prompt == "full" else upstream_question(row.context)
        return Sample(Task(row.id, name, text), row.target, {"line": row.line})


def formula_name(context: str) -> str | None:
    """The formula a row is about, or None when the text does not say."""
    match = _NAME.search(context)
    return match[1].strip() if match else None


def upstream_question(context: str) -> str:
    """The question without formula and explanation, and our sentence on the form of the number."""
    question = context.partition("Question: ")[2].partition(". Answer:")[0].strip()
    if len(question) > 1 and question.startswith('"') and question.endswith('"'):
        question = question[1:-1]
    return f"{question} {NUMBER_FORMAT}"


def row_problem(context: str, target: str) -> str | None:
    """What keeps a row from being a Formula row, or None."""
    if formula_name(context) is None:
        return "the context does not name its formula ('Use formula NAME to answer the question')"
    if "Question: " not in context or ". Answer:" not in context:
        return "the context has no 'Question: ... . Answer:'"
    return None if number(target) is not None else f"the target {quote(target)} is not a number"


def upstream_equal(answer: str, target: str) -> bool:
    """The released rule: commas removed, equal as floats (`1_250` is 1250), else equal as texts. No `eval`."""
    left, right = _upstream_float(answer), _upstream_float(target)
    if left is None or right is None:
        return answer.replace(",", "") == target.replace(",", "")
    return left == right


def tolerant_equal(answer: str, target: str, percent: Percent = "as_is") -> bool:
    """Both are numbers and at most `TOLERANCE` apart. Only the answer falls under the percent policy."""
    left, right = number(answer, percent=percent), number(target)
    return left is not None and right is not None and right - TOLERANCE <= left <= right + TOLERANCE


def _upstream_float(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
