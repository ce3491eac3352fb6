"""AppWorld (https://appworld.dev) with its real engine: a code agent of many turns over 11 apps and 457 APIs.

The engine runs in processes of its own (`pool`), in an environment of its own (`ace-bench data setup appworld`). An episode is
the ReAct loop of the paper (Section 4.1); what it left is evaluated by the engine and scored here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.benchmarks import react
from ace_bench.benchmarks.appworld.acting import Acting, Rules
from ace_bench.benchmarks.appworld.client import WorldLost
from ace_bench.benchmarks.appworld.pool import Pool, pool_of
from ace_bench.benchmarks.appworld.tasks import Record, RootError, no_list, read_split, split_list, tree_digest
from ace_bench.contracts import Ask, Episode, Feedback, Sample, Score, Task
from ace_bench.data import appworld_setup
from ace_bench.prompts import Prompts

INSTRUCTIONS = (
    "The apps are reached through the object `apis`, as in apis.<app>.<api>(name=value, ...). Start from "
    "apis.api_docs.show_app_descriptions(), apis.api_docs.show_api_descriptions(app_name=...) and "
    "apis.api_docs.show_api_doc(app_name=..., api_name=...). What is known of the person, with all passwords, is in the "
    "supervisor app (show_profile, show_account_passwords, show_addresses, show_payment_cards); friends, family and others "
    "are in the contacts of the phone app. Most apps want an access token, which their login gives. Complete the task with "
    "apis.supervisor.complete_task(answer=...), without an answer when nothing was asked. Files of the computer, the modules "
    "os, sys and pathlib, and names that begin with an underscore are out of bounds."
)
_CITED = re.compile(r"\[([A-Za-z][\w.]*-\d+)\]")


@dataclass(frozen=True, slots=True)
class Final:
    """What an episode left: the engine's evaluation of it, and what happened on the way."""

    report: dict[str, Any]  # success, difficulty, num_tests, passes, failures
    completed: bool
    steps: int
    refused: tuple[str, ...]
    failures: tuple[str, ...]
    lost: int


class AppWorld:
    """The benchmark. Scores: `tgc` (the engine's success, 0 or 1) and `passes` (share of its tests that passed)."""

    name = "appworld"

    class Settings(BaseModel):
        """Knobs. `root` None: the official data, set up. `split` is what is scored as test; `both`: one stream of both."""

        model_config = ConfigDict(extra="forbid", strict=True)
        name: Literal["appworld"] = "appworld"
        root: Path | None = None
        split: Literal["test_normal", "test_challenge", "both"] = "test_normal"
        steps: int = Field(40, ge=1, le=200)  # model calls of an episode
        output_chars: int = Field(20_000, ge=100)
        history_chars: int = Field(400_000, ge=1000)
        block_seconds: int = Field(100, ge=1)
        calls: int = Field(1000, ge=1)  # API calls of a block
        world_seed: int = Field(123, ge=0)  # the engine's, as in the released code; never the run's seed

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        if (why := self.missing(settings)) is not None:
            raise RootError(why)
        self.settings, self.prompts = settings, prompts
        self.root = _root(settings)

    @classmethod
    def missing(cls, settings: Settings) -> str | None:
        """Why it cannot run here, as a sentence; None when it can."""
        if not appworld_setup.engine():
            return "The engine of AppWorld is not set up; run: ace-bench data setup appworld"
        lacking = [name for name in _lists(settings) if not split_list(_root(settings), name).is_file()]
        return no_list(split_list(_root(settings), lacking[0])) if lacking else None

    def splits(self) -> tuple[str, ...]:
        """train, val (the engine's dev) and test."""
        return ("train", "val", "test")

    def samples(self, split: str) -> Sequence[Sample]:
        """The samples of a split in file order. The target is the reference program, or the answer where there is none."""
        return self._samples[split]

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """The whole episode and its evaluation. When worlds were lost for good, the status is `error`."""
        s, pool = self.settings, self.pool
        opening = self.prompts.messages(
            "react", instructions=INSTRUCTIONS, steps=str(s.steps), playbook=context, task=task.input
        )
        with pool.seat(task.id) as seat:
            try:
                world = Acting(seat, task.id, Rules(s.world_seed, s.block_seconds, s.calls))
                limits = react.Limits(s.steps, s.output_chars, s.history_chars)
                played = react.play(world, opening, ask, limits)
                report = pool.grade(task.id, seat.experiment)
            except WorldLost as error:
                return Episode(task, str(error), None, "error")
        final = Final(
            report, world.completed, played.steps, tuple(world.refused), tuple(world.failures), world.lost
        )  # fmt: skip
        answer = None if world.answer is None else json.dumps(world.answer, ensure_ascii=False)
        used = [one for text in played.replies for one in _CITED.findall(text) if f"[{one}]" in context]
        return Episode(task, played.trace, answer, played.status, tuple(dict.fromkeys(used)), world=final)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """The engine's verdict. An episode without one has no score: a lost world is never a wrong answer."""
        told = {
            "difficulty": float(sample.meta["difficulty"]),
            "challenge": float(sample.meta["split"] == "test_challenge"),
        }
        if not isinstance(episode.world, Final):
            return Score(None, False, "error", told)
        report = episode.world.report
        right, tests = bool(report["success"]), max(1, report["num_tests"])
        outcome = "right" if right else episode.status if episode.status != "ok" else "wrong"
        named = {
            "tgc": float(right),
            "passes": len(report["passes"]) / tests,
            "refused": float(len(episode.world.refused)),
        }
        return Score(float(right), right, outcome, {**named, **told})

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """environment: how it ended and what failed. details: the test report. target: the reference program."""
        if not isinstance(episode.world, Final):
            return Feedback("gt", "The environment was lost before the episode ended.", target=sample.target or None)
        return Feedback(
            "gt",
            self._environment(episode.world),
            score.correct,
            sample.target or None,
            report_text(episode.world.report),
        )

    def gold_reply(self, sample: Sample) -> str:
        """The reply with full marks: the reference program as one block. ValueError where the data holds none."""
        if not sample.meta["solved"]:
            raise ValueError(f"The data holds no reference program of {sample.task.id}.")
        return f"```python\n{sample.target}\nsolution(apis, requester)\n```"

    def data_digest(self) -> str:
        """SHA-256 over every file of the tasks of all splits, their evaluations included."""
        return tree_digest(self.root, sorted({s.task.id for split in self.splits() for s in self.samples(split)}))

    @cached_property
    def pool(self) -> Pool:
        """The engine processes of this Python process over this root."""
        ready = appworld_setup.engine()
        assert ready is not None
        return pool_of(ready, self.root)

    @cached_property
    def _samples(self) -> dict[str, tuple[Sample, ...]]:
        names = {"train": ("train",), "val": ("dev",), "test": _tests(self.settings)}
        return {
            split: tuple(_sample(one) for name in some for one in read_split(self.root, name))
            for split, some in names.items()
        }

    def _environment(self, final: Final) -> str:
        """What the environment itself said; depends on no target."""
        lines = [
            "The task was marked as completed." if final.completed else
            f"The task was not marked as completed; {final.steps} of {self.settings.steps} steps were taken."
        ]  # fmt: skip
        if final.refused:
            lines.append(f"Blocks that were refused: {len(final.refused)} ({', '.join(sorted(set(final.refused)))}).")
        if final.failures:
            lines.append(f"Blocks that failed: {len(final.failures)}. The last: {final.failures[-1]}")
        return "\n".join(lines)


def _root(settings: AppWorld.Settings) -> Path:
    return (settings.root or appworld_setup.home() / "root").absolute()


def _tests(settings: AppWorld.Settings) -> tuple[str, ...]:
    return ("test_normal", "test_challenge") if settings.split == "both" else (settings.split,)


def _lists(settings: AppWorld.Settings) -> tuple[str, ...]:
    """The engine's names of the splits that are read."""
    return ("train", "dev", *_tests(settings))


def report_text(report: dict[str, Any]) -> str:
    """The engine's unit tests as text: which passed, which failed and how."""
    lines = [f"passed: {one['requirement']}" for one in report["passes"]]
    for one in report["failures"]:
        lines += [f"failed: {one['requirement']}", str(one.get("trace") or "").strip()[:2000]]
    return "Test report:\n" + "\n".join(line for line in lines if line)


def _sample(record: Record) -> Sample:
    told = "" if record.answer is None else f"the answer {json.dumps(record.answer, ensure_ascii=False)}"
    meta = {"difficulty": record.difficulty, "split": record.split, "solved": record.solution is not None}
    return Sample(Task(record.id, record.scenario, record.text), record.solution or told, meta)
