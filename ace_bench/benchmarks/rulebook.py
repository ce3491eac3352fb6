"""`rulebook`: our synthetic stream in which each sample needs one hidden rule, so the truth of every lesson is known.

Parcels reach a sorting desk. The mark on a parcel decides its bay; which bay is a hidden rule, and a few marks have an
exception when a note is on the parcel. Marks follow a Zipf law, so some rules are met daily and some once. The first bay
offered is the obvious reading; it is right for a known share of the rules only, so a model without the rules has a known
base rate. Everything follows from `world`; a run's seed and order never change an item.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.benchmarks import single_turn
from ace_bench.benchmarks.single_turn import OneCall, answer_once
from ace_bench.contracts import Ask, Episode, Feedback, Sample, Score, Task, text_digest
from ace_bench.prompts import Prompts

BAYS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven")
PLACES = ("the harbour", "the airport", "the mill", "the market")
NOTES = ("chilled", "returned", "oversize", "insured")
INSTRUCTIONS = (
    "You work at the sorting desk of a parcel depot. The mark on a parcel, and sometimes a note, decides which bay it goes "
    "to. Answer with the name of one bay and nothing else."
)
_MARK = re.compile(r"\b[B-Z]{2}-\d\d\b")
_NOTE = re.compile(rf"\b({'|'.join(NOTES)})\b")
_BAY = re.compile(rf"\b({'|'.join(BAYS)})\b")


@dataclass(frozen=True, slots=True)
class Rule:
    """One hidden rule: parcels with `mark` (and `note`, for an exception) go to `bay`. `decoy` is the obvious reading."""

    mark: str
    note: str | None
    bay: str
    decoy: str

    @property
    def group(self) -> str:
        """The rule's name, which is the group of its samples."""
        return self.mark if self.note is None else f"{self.mark}+{self.note}"


class Rulebook(OneCall):
    """The benchmark. Scores: `exact` (the bay, case aside)."""

    name = "rulebook"

    class Settings(BaseModel):
        """Knobs of the world; sizes are numbers of samples."""

        model_config = ConfigDict(extra="forbid", strict=True)
        name: Literal["rulebook"] = "rulebook"
        world: int = 0
        rules: int = Field(24, ge=1, le=400)
        exceptions: float = Field(0.25, ge=0, le=1)  # share of the rules that have one
        exception_rate: float = Field(0.15, ge=0, le=1)  # share of such a rule's parcels that carry the note
        zipf: float = Field(1.0, ge=0)
        obvious: float = Field(0.3, ge=0, le=1)  # share of the rules whose bay is the obvious reading
        train: int = Field(60, ge=0)
        val: int = Field(30, ge=0)
        test: int = Field(60, ge=0)

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings, self.prompts = settings, prompts

    def splits(self) -> tuple[str, ...]:
        """train, val and test."""
        return ("train", "val", "test")

    def samples(self, split: str) -> Sequence[Sample]:
        """The samples of a split, in file order."""
        return self._all[split]

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """One question, one reply."""
        return answer_once(self.prompts, INSTRUCTIONS, context, task, ask)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """Right when the answer is the bay's name, case and outer blanks aside."""
        if episode.status != "ok":
            return Score(None if episode.status == "error" else 0.0, False, episode.status, {"exact": 0.0})
        right = (episode.answer or "").strip().casefold() == sample.target
        return Score(float(right), right, "right" if right else "wrong", {"exact": float(right)})

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """The desk only says whether the bay exists; that depends on no target."""
        known = (episode.answer or "").strip().casefold() in BAYS
        said = "The desk accepted the form." if known else "The desk refused the form: it names no bay of this depot."
        return Feedback("gt", said, score.correct, sample.target, None)

    def gold_reply(self, sample: Sample) -> str:
        """The reply that earns full marks."""
        return single_turn.gold_reply(sample.target)

    def lesson_truth(self, text: str) -> bool | None:
        """Whether a lesson is true: known when it names one mark, at most one note and one bay; None otherwise."""
        marks, notes, bays = set(_MARK.findall(text)), set(_NOTE.findall(text)), set(_BAY.findall(text))
        if len(marks) != 1 or len(notes) > 1 or len(bays) != 1:
            return None
        rule = self._by_key.get((marks.pop(), notes.pop() if notes else None))
        return None if rule is None else rule.bay in bays

    def data_digest(self) -> str:
        """SHA-256 over ids, inputs and targets of all splits."""
        rows = (f"{s.task.id}\0{s.task.input}\0{s.target}" for split in self.splits() for s in self.samples(split))
        return text_digest("\1".join(rows))

    @cached_property
    def rules(self) -> tuple[tuple[Rule, Rule | None], ...]:
        """Every mark's rule and, where it has one, its exception; the most frequent mark first."""
        rng, marks = random.Random(f"rulebook/{self.settings.world}"), set[str]()
        while len(marks) < self.settings.rules:
            marks.add("".join(rng.choices("BCDFGHJKLMNPQRSTVWXZ", k=2)) + f"-{rng.randrange(100):02d}")
        return tuple(self._rule(rng, mark) for mark in rng.sample(sorted(marks), len(marks)))

    def _rule(self, rng: random.Random, mark: str) -> tuple[Rule, Rule | None]:
        bay, decoy, other = rng.sample(BAYS, 3)
        plain = Rule(mark, None, bay, bay if rng.random() < self.settings.obvious else decoy)
        note = rng.choice(NOTES) if rng.random() < self.settings.exceptions else None
        return plain, None if note is None else Rule(mark, note, other, bay)

    @cached_property
    def _by_key(self) -> dict[tuple[str, str | None], Rule]:
        return {(r.mark, r.note): r for pair in self.rules for r in pair if r is not None}

    @cached_property
    def _all(self) -> dict[str, tuple[Sample, ...]]:
        sizes = {"train": self.settings.train, "val": self.settings.val, "test": self.settings.test}
        return {split: tuple(self._draw(split, n)) for split, n in sizes.items()}

    def _draw(self, split: str, n: int) -> list[Sample]:
        rng = random.Random(f"rulebook/{self.settings.world}/{split}")
        weights = list(accumulate((i + 1) ** -self.settings.zipf for i in range(len(self.rules))))
        return [
            self._sample(rng, f"{split}-{i:05d}", rng.choices(self.rules, cum_weights=weights)[0]) for i in range(n)
        ]

    def _sample(self, rng: random.Random, name: str, pair: tuple[Rule, Rule | None]) -> Sample:
        plain, exception = pair
        rule = exception if exception is not None and rng.random() < self.settings.exception_rate else plain
        lines = [
            f"A parcel of {rng.randrange(1, 40)} kg from {rng.choice(PLACES)}.",
            f"Mark: {rule.mark}",
            *([f"Note: {rule.note}"] if rule.note else []),
            f"Bays: {', '.join(_options(rng, rule))}",
            "Which bay does it go to?",
        ]
        return Sample(Task(name, rule.group, "\n".join(lines)), rule.bay)


def _options(rng: random.Random, rule: Rule) -> list[str]:
    """Six bays: the obvious reading first, the right one among them."""
    must = {rule.decoy, rule.bay}
    fill = rng.sample([bay for bay in BAYS if bay not in must], 6 - len(must))
    rest = sorted({*fill, rule.bay} - {rule.decoy})
    rng.shuffle(rest)
    return [rule.decoy, *rest]
