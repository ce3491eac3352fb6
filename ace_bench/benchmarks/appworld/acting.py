"""A world of the engine as the environment of the ReAct loop: refusals, time limits, and worlds lost and found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ace_bench.benchmarks.appworld import policy
from ace_bench.benchmarks.appworld.client import TimedOut, WorldLost
from ace_bench.benchmarks.appworld.pool import Seat

RETRIES = 2  # worlds that may be lost in one episode
_OPEN_S = 300
_GRACE_S = 30  # the engine keeps its own time limit; ours is for code that its signal cannot interrupt
FAILED = "Execution failed. Traceback:\n"


@dataclass(frozen=True, slots=True)
class Rules:
    """How a world is opened: the engine's random seed, seconds of a block, API calls of a block."""

    seed: int
    seconds: int
    calls: int


class Acting:
    """The world of `task` on a borrowed player. Raises `WorldLost` once more than `RETRIES` worlds were lost.

    A lost world is opened again and all earlier blocks are run again: no model call is repeated. They must print what they
    printed before, or the world counts as lost as well. A block that goes on beyond its time even for the engine is the
    code's own doing: it is told so, and the world stands where it was before the block.
    """

    def __init__(self, seat: Seat, task: str, rules: Rules) -> None:
        self.seat, self.task, self.rules = seat, task, rules
        self.done: list[tuple[str, str]] = []  # blocks that were run, and what they said
        self.refused: list[str] = []
        self.failures: list[str] = []  # last line of every output that told of a failure
        self.lost = 0
        self.completed, self.answer = False, None
        self._open = False
        self._insist(lambda: None)

    def execute(self, code: str) -> str:
        """Run one block."""
        if (word := policy.refusal(code)) is not None:
            self.refused.append(word)
            return self._failed(f"{FAILED}Usage of the following is not allowed: {word}.")
        try:
            said = self._insist(lambda: self._run(code))
        except TimedOut:
            self._open = False
            return self._failed(f"{FAILED}Execution timed out after {self.rules.seconds} seconds.")
        self.done.append((code, said["output"]))
        return self._failed(said["output"])

    def _failed(self, output: str) -> str:
        if output.startswith("Execution failed."):
            self.failures.append(output.rstrip().rsplit("\n", 1)[-1][:300])
        return output

    def _insist(self, act: Any) -> Any:
        """Do `act` in an open world, again in a new one if that is lost. A `TimedOut` of `act` itself is passed on."""
        while True:
            try:
                if not self._open:
                    self._reopen()
                return act()
            except WorldLost as error:
                if isinstance(error, TimedOut) and self._open:
                    raise
                self._open = False
                self.lost += 1
                if self.lost > RETRIES:
                    raise

    def _reopen(self) -> None:
        """A world in the state after all blocks run so far."""
        r = self.rules
        self.seat.ask(
            "open",
            _OPEN_S,
            task=self.task,
            experiment=self.seat.experiment,
            seed=r.seed,
            seconds=r.seconds,
            calls=r.calls,
        )
        for code, before in self.done:
            if self._run(code)["output"] != before:
                raise WorldLost("A world was lost, and its blocks said something else when they were run again.")
        self._open = True

    def _run(self, code: str) -> dict[str, Any]:
        said: dict[str, Any] = self.seat.ask("execute", self.rules.seconds + _GRACE_S, code=code)
        self.completed, self.answer = said["completed"], said["answer"]
        return said
