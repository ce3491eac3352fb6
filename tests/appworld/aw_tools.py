"""What the tests of AppWorld share: agents from a script, and replies that fail on purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import PROMPTS, Recorder, simulated

from ace_bench.benchmarks.appworld import AppWorld
from ace_bench.llm.transports.scripted import answer


def appworld(root: Path, **settings: Any) -> AppWorld:
    return AppWorld(AppWorld.Settings(root=root, **settings), PROMPTS)


def block(code: str) -> str:
    return f"So.\n```python\n{code}\n```"


class Agent:
    """Plays the reference program in two steps; for the tasks in `instead`, these blocks. Other roles are simulated."""

    simulated = True

    def __init__(self, benchmark: AppWorld, instead: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.samples = [s for split in benchmark.splits() for s in benchmark.samples(split)]
        self.instead, self.other = instead or {}, simulated().inner

    def complete(self, request: Any, purpose: Any, digest: str) -> Any:
        if purpose != "solve":
            return self.other.complete(request, purpose, digest)
        opening = request.messages[0]["content"]
        [sample] = [s for s in self.samples if f"<task>\n{s.task.input}\n</task>" in opening]
        blocks = self.instead.get(sample.task.id) or gold(sample.target)
        cited = re.findall(r"\[(\w+-\d+)\]", opening.partition("<playbook>")[2])[:1]
        said = "".join(f"I go by [{one}]. " for one in cited)
        return answer(said + block(blocks[min((len(request.messages) - 1) // 2, len(blocks) - 1)]))


def gold(solution: str) -> tuple[str, str]:
    """The reference program as two blocks: a look at the task, then the program."""
    return "print(apis.supervisor.show_active_task())", f"{solution}\nsolution(apis, requester)"


def agent(benchmark: AppWorld, **instead: tuple[str, ...]) -> Recorder:
    return Recorder(Agent(benchmark, instead))


def scored(ran: Any) -> list[dict[str, Any]]:
    return [row for row in ran.rows["steps"] if row["phase"] == "score"]
