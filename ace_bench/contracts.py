"""The words methods, benchmarks and protocols share (design, sections 2 and 5). Values and protocols only.

A method sees `Task`, `Context` and `Experience`; never a `Sample`, whose target it must not know.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from ace_bench.llm.types import Message, Purpose, Reply
from ace_bench.playbook import Change, Playbook, Rejection

Regime = Literal["gt", "outcome", "execution", "none"]
REGIMES: tuple[Regime, ...] = ("gt", "outcome", "execution", "none")
Ask = Callable[..., Reply]  # ask(purpose, messages, schema=None) -> Reply
Expected = Mapping[str, tuple[int, int]]  # purpose -> calls, low and high


def text_digest(text: str) -> str:
    """SHA-256 of a text; lone surrogates are allowed (known fault B35)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def token_estimate(text: str) -> int:
    """A provider-free estimate: UTF-8 bytes / 4, rounded up. Only ever shown as an estimate."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


@dataclass(frozen=True, slots=True)
class Task:
    """A sample without its target: all that a method may know before it is told more."""

    id: str
    group: str
    input: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One item of a benchmark. `meta` is for the benchmark itself (never shown to methods)."""

    task: Task
    target: str
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """What a method puts before the model: the text and the ids of the bullets in it."""

    text: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Episode:
    """What happened on one sample. Says nothing of right or wrong: that is `Score`, and methods do not get it.

    `status` is how the attempt ended as the environment saw it: ok, unparsed, refused, truncated, empty, overflow, error.
    `trace` is the whole of what the model wrote and the environment answered, `used` the bullet ids the answer names,
    `context` the text of the `Context` it was solved with (filled in by the run, not by the benchmark), `world` what the
    benchmark's own `score` needs of an interactive episode (a final state); it is in no prompt.
    """

    task: Task
    trace: str
    answer: str | None
    status: str
    used: tuple[str, ...] = ()
    context: str = ""
    world: object | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """`value` in [0, 1] is the primary score (None: no score), `named` every rule's value, `outcome` the class.

    `correct` is the one bit the `outcome` regime may reveal.
    """

    value: float | None
    correct: bool
    outcome: str
    named: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Feedback:
    """What may be learned of an episode. A benchmark fills all fields; `protocols.feedback.reveal` strips them.

    `environment` holds only what the environment itself said (format errors, exceptions); it depends on no target.
    `details` is text that tells of the target (which of four answers was wrong, a test report).
    """

    regime: Regime
    environment: str
    correct: bool | None = None
    target: str | None = None
    details: str | None = None
    score: float | None = None  # the primary score, where it says more than `correct`


@dataclass(frozen=True, slots=True)
class Experience:
    """An episode and the feedback its regime allows: what `update` receives."""

    episode: Episode
    feedback: Feedback

    @property
    def task(self) -> Task:
        """The task the episode was about."""
        return self.episode.task


class State(Protocol):
    """What a method remembers. Immutable."""

    @property
    def version(self) -> int: ...
    def render(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Update:
    """A new state and how it came about. applied + len(rejected) = proposed, always."""

    state: Any
    changes: tuple[Change, ...] = ()
    proposed: int = 0
    applied: int = 0
    rejected: tuple[Rejection, ...] = ()

    def plus(
        self,
        changes: Sequence[Change] = (),
        proposed: int = 0,
        applied: int = 0,
        rejected: Sequence[Rejection] = (),
    ) -> Update:
        """This update with more that happened on the way."""
        return Update(
            self.state, (*self.changes, *changes), self.proposed + proposed, self.applied + applied,
            (*self.rejected, *rejected),
        )  # fmt: skip

    def ending(self, state: Any) -> Update:
        """This update with the state it ends in."""
        return replace(self, state=state)


class Run(Protocol):
    """What a method may use, and nothing else. One per step; `address` names the step."""

    @property
    def regime(self) -> Regime: ...
    @property
    def address(self) -> str: ...
    @property
    def step(self) -> int: ...  # adaptation steps finished before this one, over all epochs
    def ask(self, purpose: Purpose, messages: Sequence[Message], schema: Any = None) -> Reply: ...
    def attempt(self, context: Context, task: Task) -> Experience: ...
    def rng(self, name: str) -> random.Random: ...
    def embed(
        self, texts: Sequence[str]
    ) -> Any: ...  # numpy (n, d) float32, rows of length 1; only where `embeds` is true
    @property
    def threshold(self) -> float: ...  # the embedder's own: a cosine from it on means the same


class FitRun(Run, Protocol):
    """What `fit` may use besides: the second pool, and a record of every candidate it considered."""

    def validate(self, context: Context, task: Task) -> Experience: ...  # an attempt of phase select
    def label(self, task: Task) -> str: ...  # the target, without an attempt; under gt only, and in the ledger
    def candidate(
        self, text: str, *, parents: Sequence[int], score: float | None, items: int, accepted: bool, reason: str
    ) -> int: ...  # enters a row, gives the candidate's number


class Method(Protocol):
    """A way of improving the context (design, section 5).

    A batch method (GEPA, MIPROv2, ICL) has, instead of `update`, a
    `fit(state, train: Sequence[Task], select: Sequence[Task], run: FitRun) -> Update`: one step of the timeline, whose
    calls are replayed from the response cache when the run is resumed. It runs under `offline` only.

    A method that calls `run.embed` has a classmethod `embeds(settings) -> bool`: true for settings under which it does.
    Where it is false or absent the embedder is no part of the cell, and there is none.

    It may say what it will ask, for `ace-bench plan`; what it does not say is shown as unknown, never as 0. All are
    classmethods, give purpose -> (low, high), and count "solve" in attempts (an attempt may be many calls); low: every
    reply can be read, high: every repair round. `expected_calls(settings)`: of one `update`, or, beside `fit`, nothing.
    `expected_fit_calls(settings, train, select)`: of a whole `fit` over so many tasks. `expected_prepare_calls(settings)`:
    of one `prepare`; absent means none. `expected_growth(settings) -> (low, high)`: tokens an update adds to the context.
    """

    regimes: frozenset[Regime]
    protocols: frozenset[str]

    def start(self, run: Run) -> Any: ...
    def prepare(self, state: Any, task: Task, run: Run) -> Context: ...
    def update(self, state: Any, experience: Experience, run: Run) -> Update: ...
    def dump(self, state: Any) -> dict[str, Any]: ...
    def load(self, data: dict[str, Any]) -> Any: ...


class Benchmark(Protocol):
    """An adapter to a task set. `solve` gets a `Task`, so no prompt can hold a target.

    It may have, besides: `judge(sample, episode, score, ask) -> Score`, called after `score` (which stays pure) and before
    anything is revealed, for a verdict of a model; `gold_reply(sample) -> str`, the reply with full marks, for tests;
    `missing() -> str | None` on the class: a sentence when what it needs is not installed.
    `expected_calls(settings) -> Expected` on the class: the model calls of one attempt (solve, judge), for `ace-bench plan`.
    """

    name: str

    def splits(self) -> tuple[str, ...]: ...
    def samples(self, split: str) -> Sequence[Sample]: ...
    def solve(self, context: str, task: Task, ask: Ask) -> Episode: ...
    def score(self, sample: Sample, episode: Episode) -> Score: ...
    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback: ...
    def data_digest(self) -> str: ...


__all__ = [
    "REGIMES", "Ask", "Benchmark", "Change", "Context", "Episode", "Expected", "Experience", "Feedback", "Method", "Playbook",
    "Regime", "Rejection", "Run", "Sample", "Score", "State", "Task", "Update", "text_digest", "token_estimate",
]  # fmt: skip
