"""House labels: file a short note under one of six house words (ours; for small models, see docs/local.md).

The word depends on the kind of thing a note is about and means nothing by itself: without the rule, chance is one in six. Two
controls tell what a score shows. `test_labels=rotated` gives every test note the next word, so that what was learned on
train must not help. `nearest_baseline` files each test note like the train note most like it, with no model at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from ace_bench.benchmarks.file_benchmark import FileBenchmark
from ace_bench.benchmarks.jsonl import FileSettings, Row, SplitFiles
from ace_bench.benchmarks.single_turn import answer_once, quote, said
from ace_bench.contracts import Ask, Benchmark, Episode, Feedback, Sample, Score, Task
from ace_bench.prompts import Prompts

LABELS = ("Topaz", "Comet", "Delta", "Onyx", "Ember", "Quartz")
INSTRUCTIONS = (
    f"File the note from the town desk under exactly one of these house words: {', '.join(LABELS)}. "
    "The word depends on the kind of thing the note is about. final_answer is the word alone."
)


class HouseLabels(FileBenchmark):
    """The task set. Group = "all": any finer group would tell of the label."""

    name = "house_labels"

    class Settings(FileSettings):
        """`test_labels=rotated`: the test split alone gets other labels (a control for protocol=offline)."""

        name: Literal["house_labels"] = "house_labels"
        test_labels: Literal["same", "rotated"] = "same"

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings, self._prompts = settings, prompts
        self._files = SplitFiles(settings, "house_labels", row_problem, _sample)

    def samples(self, split: str) -> tuple[Sample, ...]:
        """The samples of a split. Raises `DataError` (file, line, reason) when the file cannot be used."""
        made = self._files.samples(split)
        if split == "test" and self.settings.test_labels == "rotated":
            return tuple(replace(sample, target=rotated(sample.target)) for sample in made)
        return made

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """One call of the solver."""
        return answer_once(self._prompts, INSTRUCTIONS, context, task, ask)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """Right or wrong; case, blanks and a full stop do not matter. An `error` has no score."""
        if episode.status == "error":
            return Score(None, False, "error")
        if episode.answer is None:
            return Score(0.0, False, episode.status, {"exact": 0.0})
        given = read_label(episode.answer)
        hit = given == sample.target
        return Score(float(hit), hit, "right" if hit else "wrong" if given else "unparsed", {"exact": float(hit)})

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """Everything there is to learn; `environment` only checks that the answer is one of the words."""
        return Feedback("gt", _environment(episode), score.correct, sample.target, None)


def rotated(label: str) -> str:
    """The next word of the list, the first after the last."""
    return LABELS[(LABELS.index(label) + 1) % len(LABELS)]


def read_label(answer: str) -> str | None:
    """The house word an answer is, or None."""
    bare = answer.strip().strip(".\"'").casefold()
    return next((label for label in LABELS if label.casefold() == bare), None)


def row_problem(context: str, target: str) -> str | None:
    """What keeps a row from being a note with a house word, or None."""
    return None if target in LABELS else f"the target {quote(target)} is none of {', '.join(LABELS)}"


def words_in_common(one: str, other: str) -> float:
    """Shared words over all words of two texts (Jaccard), case ignored."""
    a, b = (set(re.findall(r"[a-z']+", text.casefold())) for text in (one, other))
    return len(a & b) / len(a | b) if a | b else 0.0


def nearest_baseline(benchmark: Benchmark, similarity: Callable[[str, str], float] = words_in_common) -> float:
    """Share of test samples whose most similar train sample (the first, if several) has their target. No model."""
    train, test = benchmark.samples("train"), benchmark.samples("test")
    hits = [
        max(train, key=lambda known: similarity(known.task.input, sample.task.input)).target == sample.target
        for sample in test
    ]
    return sum(hits) / len(hits)


def _sample(row: Row) -> Sample:
    return Sample(Task(row.id, "all", row.context), row.target, {"line": row.line})


def _environment(episode: Episode) -> str:
    if episode.answer is None:
        return said(episode.status) or ""
    known = read_label(episode.answer) is not None
    return "" if known else f"The answer {quote(episode.answer)} is not one of the house words."
