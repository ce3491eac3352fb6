"""`miniworld`: a small interactive environment, built in, for code agents of many turns (in the manner of AppWorld).

Six apps and 36 APIs over a database; tasks that ask or act; a final state that must be right in every table. Everything
follows from `world`: a run's seed and order never change a task. The model's code runs in the sandbox, the world in this
process, and what is right is computed after the episode, so there is nothing for the code to find.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.benchmarks import react, sandbox_filter
from ace_bench.benchmarks.miniworld import scenarios
from ace_bench.benchmarks.miniworld.spec import Requirement, Spec, evaluate
from ace_bench.benchmarks.miniworld.tables import Snapshot, row_hash
from ace_bench.benchmarks.miniworld.world import World
from ace_bench.benchmarks.sandbox import Limits, Sandbox, SandboxLost, SandboxUnavailable
from ace_bench.contracts import Ask, Episode, Expected, Feedback, Sample, Score, Task, text_digest
from ace_bench.prompts import Prompts

INSTRUCTIONS = (
    "The apps are reached through the object `apis`, as in apis.<app>.<api>(name=value, ...). Start from "
    "apis.docs.show_app_descriptions(), apis.docs.show_api_descriptions(app_name=...) and "
    "apis.docs.show_api_doc(app_name=..., api_name=...). The person's passwords and the API that completes the task are in "
    "the supervisor app. Errors come as exceptions with a status and a message."
)
_CITED = re.compile(r"\[([A-Za-z][\w.]*-\d+)\]")


@dataclass(frozen=True, slots=True)
class Final:
    """What an episode left: the tables, whether it was completed, the steps taken and the errors of the APIs."""

    tables: Snapshot
    completed: bool
    steps: int
    errors: tuple[str, ...]
    restarts: int


class Miniworld:
    """The benchmark. Scores: `tgc` (1 when every requirement holds) and `requirements` (share that holds)."""

    name = "miniworld"

    class Settings(BaseModel):
        """Knobs. `split` is what is scored as test."""

        model_config = ConfigDict(extra="forbid", strict=True)
        name: Literal["miniworld"] = "miniworld"
        world: int = 0
        split: Literal["test_normal", "test_challenge"] = "test_normal"
        copies: int = Field(1, ge=1, le=100)  # of each scenario, with other people and values
        steps: int = Field(40, ge=1, le=200)  # model calls of an episode
        output_chars: int = Field(20_000, ge=100)  # an output is cut there
        history_chars: int = Field(400_000, ge=1000)  # older outputs are blanked beyond it
        block_seconds: float = Field(60.0, gt=0)  # wall time of a block
        cpu_seconds: int = Field(10, ge=1)  # processor time of an interpreter
        memory_mb: int = Field(256, ge=128)
        calls: int = Field(1000, ge=1)  # API calls of a block

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        if (why := self.missing()) is not None:
            raise SandboxUnavailable(why)
        self.settings, self.prompts = settings, prompts

    @classmethod
    def missing(cls, settings: Settings | None = None) -> str | None:
        """Why its code cannot be run here, as a sentence; None when it can."""
        return sandbox_filter.unsupported()

    @classmethod
    def expected_calls(cls, settings: Settings) -> Expected:
        """One call a step of the episode."""
        return {"solve": (1, settings.steps)}

    def splits(self) -> tuple[str, ...]:
        """train, val and test."""
        return ("train", "val", "test")

    def samples(self, split: str) -> Sequence[Sample]:
        """The samples of a split. The target is the reference program."""
        return self._samples[split]

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """The whole episode. An infrastructure failure has status `error`; the code's own failures are texts in it."""
        s, world = self.settings, World(self.specs[task.id].draft.tables)
        opening = self.prompts.messages(
            "react", instructions=INSTRUCTIONS, steps=str(s.steps), playbook=context, task=task.input
        )
        limits = Limits(s.block_seconds, s.cpu_seconds, s.memory_mb, s.calls)
        try:
            with Sandbox(world.call, limits) as sandbox:
                try:
                    played = react.play(
                        _Acting(world, sandbox), opening, ask, react.Limits(s.steps, s.output_chars, s.history_chars)
                    )
                except SandboxLost as e:
                    played = react.Played(str(e), "error", 0, 0, ())
                final = Final(world.snapshot(), world.completed, played.steps, tuple(world.errors), sandbox.restarts)
            answer = None if world.answer is None else json.dumps(world.answer, ensure_ascii=False)
            used = [one for text in played.replies for one in _CITED.findall(text) if f"[{one}]" in context]
            return Episode(task, played.trace, answer, played.status, tuple(dict.fromkeys(used)), world=final)
        finally:
            world.close()

    def score(self, sample: Sample, episode: Episode) -> Score:
        """Every requirement on the final state. An episode that ended early has its status as outcome and scores 0."""
        if episode.status == "error":
            return Score(None, False, "error")
        checked = self.requirements(episode)
        share = sum(one.passed for one in checked) / len(checked)
        right = share == 1
        outcome = episode.status if episode.status != "ok" and not right else "right" if right else "wrong"
        return Score(float(right), right, outcome, {"tgc": float(right), "requirements": share})

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """environment: how it ended and which calls failed. details: the requirements that failed."""
        failed = [one.text for one in self.requirements(episode) if not one.passed] if episode.status != "error" else []
        details = f"Requirements that failed: {'; '.join(failed)}." if failed else None
        target = f"the answer and final state that this program gives:\n{sample.target}"
        return Feedback("gt", self._environment(episode), score.correct, target, details)

    def requirements(self, episode: Episode) -> tuple[Requirement, ...]:
        """The requirements of the episode's task, checked on its final state."""
        final, spec = _final(episode), self.specs[episode.task.id]
        return evaluate(spec, self._start(spec), final.tables)

    def gold_reply(self, sample: Sample) -> str:
        """The reply that earns full marks: the reference program as one block."""
        return f"```python\n{sample.target}\n```"

    def data_digest(self) -> str:
        """SHA-256 over ids, instructions, start states and reference programs of all splits."""
        rows = (f"{s.task.id}\0{s.task.input}\0{row_hash(self.specs[s.task.id].draft.tables)}\0{s.target}"
                for split in self.splits() for s in self.samples(split))  # fmt: skip
        return text_digest("\1".join(rows))

    @cached_property
    def specs(self) -> dict[str, Spec]:
        """Every task by its id."""
        return {spec.id: spec for specs in self._by_split.values() for spec in specs}

    @cached_property
    def _by_split(self) -> dict[str, tuple[Spec, ...]]:
        names = {"train": "train", "val": "val", "test": self.settings.split}
        return {
            split: scenarios.specs(name, self.settings.world, self.settings.copies) for split, name in names.items()
        }

    @cached_property
    def _samples(self) -> dict[str, tuple[Sample, ...]]:
        return {split: tuple(map(_sample, specs)) for split, specs in self._by_split.items()}

    def _start(self, spec: Spec) -> Snapshot:
        return {table: {row["id"]: row for row in rows} for table, rows in spec.draft.tables.items()}

    def _environment(self, episode: Episode) -> str:
        """What the environment itself said; depends on no target."""
        if episode.status == "error":
            return "The environment was lost before the episode ended."
        final = _final(episode)
        lines = [
            "The task was marked as completed." if final.completed else
            f"The task was not marked as completed; {final.steps} of {self.settings.steps} steps were taken."
        ]  # fmt: skip
        if final.restarts:
            lines.append(f"The interpreter broke its limits and was restarted: {final.restarts} times.")
        if final.errors:
            lines.append(f"Calls that failed: {len(final.errors)}. The last: {final.errors[-1][:300]}")
        return "\n".join(lines)


class _Acting:
    """The sandbox and the world behind it, as the agent's environment."""

    def __init__(self, world: World, sandbox: Sandbox) -> None:
        self.world, self.sandbox = world, sandbox

    def execute(self, code: str) -> str:
        return self.sandbox.execute(code)

    @property
    def completed(self) -> bool:
        return self.world.completed


def _sample(spec: Spec) -> Sample:
    meta: dict[str, Any] = {
        "difficulty": spec.difficulty,
        "kind": "action" if spec.draft.answer is None else "question",
    }
    return Sample(Task(spec.id, spec.scenario, spec.instruction), spec.draft.code, meta)


def _final(episode: Episode) -> Final:
    if not isinstance(episode.world, Final):
        raise TypeError(f"the episode on {episode.task.id} holds no final state of a miniworld")
    return episode.world


__all__ = ["Final", "Miniworld"]
