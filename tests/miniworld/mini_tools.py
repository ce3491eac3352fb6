"""What the tests of miniworld share: a benchmark, a way to run a program without the sandbox, agents from a script."""

from __future__ import annotations

import json
from typing import Any

from harness import PROMPTS, Recorder

from ace_bench.benchmarks.miniworld import Final, Miniworld
from ace_bench.benchmarks.miniworld.scenarios.code import LOGIN, PAGES
from ace_bench.benchmarks.miniworld.world import World
from ace_bench.contracts import Episode
from ace_bench.llm.transports.scripted import ScriptedTransport

SPLITS = ("test_normal", "test_challenge")


def miniworld(**settings: Any) -> Miniworld:
    return Miniworld(Miniworld.Settings(**settings), PROMPTS)


def all_samples() -> list[tuple[Miniworld, Any]]:
    """Every task of every split with its benchmark."""
    normal, challenge = (miniworld(split=split) for split in SPLITS)
    mine = [(normal, s) for split in normal.splits() for s in normal.samples(split)]
    return mine + [(challenge, s) for s in challenge.samples("test")]


class Apis:
    """`apis` without a process: for programs of ours."""

    def __init__(self, world: World, *path: str) -> None:
        self.world, self.path = world, path

    def __getattr__(self, name: str) -> Apis:
        return Apis(self.world, *self.path, name)

    def __call__(self, **arguments: Any) -> Any:
        return json.loads(json.dumps(self.world.call(*self.path, arguments)))


def played(benchmark: Miniworld, sample: Any, *programs: str) -> Episode:
    """The episode that running `programs` in this process makes."""
    world = World(benchmark.specs[sample.task.id].draft.tables)
    scope: dict[str, Any] = {"apis": Apis(world)}
    for program in programs:
        exec(program, scope)  # noqa: S102  (our own program)
    final = Final(world.snapshot(), world.completed, len(programs), tuple(world.errors), 0)
    answer = None if world.answer is None else json.dumps(world.answer)
    return Episode(sample.task, "", answer, "ok", world=final)


def agent(benchmark: Miniworld, *, fails: tuple[str, ...] = (), silent: bool = False) -> Recorder:
    """A scripted model that plays the reference in two steps; it completes the tasks in `fails` at once and does nothing."""
    programs = {s.task.input: s for split in benchmark.splits() for s in benchmark.samples(split)}

    def script(request: Any, purpose: str, digest: str) -> str:
        if silent:
            return "I would rather not."
        opening = request.messages[0]["content"]
        [sample] = [s for text, s in programs.items() if f"<task>\n{text}\n</task>" in opening]
        if sample.task.id in fails:
            return "```python\napis.supervisor.complete_task()\n```"
        helpers = LOGIN + PAGES
        assert sample.target.startswith(helpers)
        part = helpers if len(request.messages) == 1 else sample.target[len(helpers) :]
        return f"So.\n```python\n{part}\n```\nAnd then?\n```python\nraise SystemExit\n```"

    return Recorder(ScriptedTransport(script))
