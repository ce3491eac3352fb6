"""`StepRun`: what a method may use during one step (contract `Run`), and what the step leaves as rows."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ace_bench.contracts import Benchmark, Context, Episode, Experience, Regime, Sample, Score, Task
from ace_bench.llm.session import StepCalls
from ace_bench.llm.types import Message, Purpose, Reply
from ace_bench.protocols.address import Address
from ace_bench.protocols.feedback import ledger_fields, reveal

if TYPE_CHECKING:
    from ace_bench.llm.embedders.base import Array


class StepRun:
    """One step of a run. Every attempt through it is solved, scored, filtered and entered in the ledger, in this order."""

    def __init__(
        self, at: Address, benchmark: Benchmark, samples: Mapping[str, Sample], calls: StepCalls,
        *, regime: Regime, seed: int, step: int, learns: bool, keep: Callable[[str], str],
    ) -> None:  # fmt: skip
        self.at, self.benchmark, self.samples, self.calls = at, benchmark, samples, calls
        self.regime, self.seed, self.step, self.learns = regime, seed, step, learns
        self.phase = at.phase  # the phase the next call's tokens belong to
        self.sample: str | None = None
        self.keep = keep  # puts a text into the store, gives its digest
        self.ledger: list[dict[str, Any]] = []
        self.candidates: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        """The name of the step, unique in the cell."""
        return str(self.at)

    def ask(self, purpose: Purpose, messages: Sequence[Message], schema: Any = None, repair: bool = True) -> Reply:
        """One metered call (with `schema`: parsed and validated, one repair round)."""
        deciding = purpose == "solve" and self.phase == "score" and self.learns
        return self.calls.ask(
            purpose, messages, call_phase=self.phase, sample=self.sample, schema=schema, repair=repair,
            shapes_state=deciding,
        )  # fmt: skip

    def embed(self, texts: Sequence[str]) -> Array:
        """(n, d) float32 rows of length 1, in the order of `texts`; metered under purpose embed, each text once a cell."""
        deciding = self.phase == "score" and self.learns
        return self.calls.embed(texts, call_phase=self.phase, sample=self.sample, shapes_state=deciding)

    @property
    def threshold(self) -> float:
        """The embedder's own threshold: the cosine from which on two texts count as the same on its scale."""
        return self.calls.embeddings.threshold

    def rng(self, name: str) -> random.Random:
        """A generator of its own for each seed, step and name: nothing to store, nothing shared."""
        return random.Random(f"{self.seed}/{self.at}/{name}")

    def attempt(self, context: Context, task: Task) -> Experience:
        """Solve, score, filter. What the regime reveals is entered in the ledger before the method sees it."""
        episode, score = self.played(context, task)
        return self.told(episode, score)

    def played(self, context: Context, task: Task) -> tuple[Episode, Score]:
        """Solve and score, with nothing revealed: for the protocol only."""
        self.sample = task.id
        episode = replace(self.benchmark.solve(context.text, task, self.ask), context=context.text)
        return episode, self.judged(self.samples[task.id], episode)

    def judged(self, sample: Sample, episode: Episode) -> Score:
        """The benchmark's score, and the verdict of its judge where it has one: calls of phase probe, in no method's cost."""
        score = self.benchmark.score(sample, episode)
        judge: Callable[..., Score] | None = getattr(self.benchmark, "judge", None)
        if judge is None:
            return score
        phase, self.phase = self.phase, "probe"
        try:
            return judge(sample, episode, score, self.ask)
        finally:
            self.phase = phase

    def told(self, episode: Episode, score: Score) -> Experience:
        """The experience of an episode under the run's regime."""
        full = replace(self.benchmark.observe(self.samples[episode.task.id], episode, score), score=score.value)
        feedback = reveal(full, self.regime)
        self.enter(episode.task.id, *ledger_fields(feedback))
        return Experience(episode, feedback)

    def validate(self, context: Context, task: Task) -> Experience:
        """An attempt whose calls belong to selection."""
        self.phase = "select"
        try:
            return self.attempt(context, task)
        finally:
            self.phase = self.at.phase

    def label(self, task: Task) -> str:
        """The target of `task`, for methods that show solved examples. Raises ValueError outside regime gt."""
        if self.regime != "gt":
            raise ValueError(f"feedback.regime={self.regime} hides the target of {task.id}; a label needs feedback=gt.")
        self.enter(task.id, "target", 0)
        return self.samples[task.id].target

    def candidate(
        self, text: str, *, parents: Sequence[int], score: float | None, items: int, accepted: bool, reason: str
    ) -> int:
        """One row of `candidates`; the text itself goes into the store of texts. Gives the candidate's number."""
        self.candidates.append({
            **self.at.columns(), "candidate": len(self.candidates), "state": self.keep(text),
            "parents": json.dumps(list(parents)), "score": score, "items": items, "accepted": accepted, "reason": reason,
            "calls": sum(row["needed"] for row in self.calls.rows),
        })  # fmt: skip
        return len(self.candidates) - 1

    def enter(self, sample: str, fields: str, bits: int) -> None:
        """One ledger row."""
        self.ledger.append({
            **self.at.columns(), "attempt": len(self.ledger), "sample": sample, "regime": self.regime,
            "fields": fields, "bits": bits,
        })  # fmt: skip
