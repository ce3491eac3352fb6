"""MIPROv2 (arXiv 2406.11695) through dspy: demos are bootstrapped, instructions proposed, and combinations searched.

The paper's setting is `auto=heavy`: 18 demo sets, 9 instructions, 27 trials, validation capped at 1000 tasks; beyond 50 of
them trials run on 35 at a time with a full pass every 5 (about 945 + 7V scored attempts and the bootstrapping).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from ace_bench.contracts import Expected, FitRun, Task, Update
from ace_bench.methods.optimizers import libraries
from ace_bench.methods.optimizers.attempts import Attempts
from ace_bench.methods.optimizers.base import BudgetedSettings, Optimizer, need_budget, need_validation, picked
from ace_bench.methods.optimizers.passing import landed
from ace_bench.methods.optimizers.player import Enough, Player
from ace_bench.methods.text_state import TextState

HEAVY_VALIDATION = 1000  # tasks that auto=heavy looks at, drawn at random when there are more


class MiproV2(Optimizer):
    """MIPROv2."""

    extra = "dspy"

    class Settings(BudgetedSettings):
        """Knobs."""

        name: Literal["miprov2"] = "miprov2"
        max_bootstrapped_demos: int = Field(4, ge=1)
        max_labeled_demos: int = Field(4, ge=0)

    @classmethod
    def expected_fit_calls(cls, settings: MiproV2.Settings, train: int, select: int) -> Expected:
        """Evaluations as planned; demos: up to all training tasks for each set; proposals, and a summary in batches of 10.

        An unreadable reply is asked for once more. A summary may end after five batches that add nothing.
        """
        batches = min(9, -(-max(0, train - 10) // 10))
        if settings.metric_calls == "heavy":
            seen = min(select, HEAVY_VALIDATION)
            passes = 28 * seen if seen <= 50 else 27 * 35 + 7 * seen
            solve, proposals = (passes + 16, passes + 17 * train), 9
        else:
            trials, proposals, _ = plan(settings.metric_calls, select)
            solve = ((trials + 1) * select + 1, settings.metric_calls)
        return {"solve": solve, "propose": (proposals + min(batches, 5) + 2, 2 * (proposals + batches + 2))}

    def fit(self, state: TextState, train: Sequence[Task], select: Sequence[Task], run: FitRun) -> Update:
        """Run the library on a program of one predictor, whose prompt is the whole context."""
        validation = need_validation("miprov2", select)
        heavy = self.settings.metric_calls == "heavy"
        trials, candidates, tries = (None, None, None) if heavy else plan(self.settings.metric_calls, validation)
        bridge = libraries.bridge("dspy_bridge")
        attempts = Attempts(run)
        player = Player(attempts, cap=None if heavy else self.settings.metric_calls, tries=tries)
        book = Book(run, attempts, state.text, min(validation, HEAVY_VALIDATION) if heavy else validation)
        adapter, lm = bridge.Patient(book.proposed), bridge.language_model(run)
        optimizer = bridge.dspy.MIPROv2(
            metric=bridge.metric, prompt_model=lm, task_model=lm, auto="heavy" if heavy else None,
            num_candidates=candidates, max_bootstrapped_demos=self.settings.max_bootstrapped_demos,
            max_labeled_demos=self.labeled(run),
            # In the constructor: compile(seed=0) is ignored (dspy issue 10321). One thread: no resubmission of slow
            # items (issue 9574), and the same order of calls always. The first error ends the fit.
            seed=run.rng("miprov2").getrandbits(31), num_threads=1, max_errors=1,
        )  # fmt: skip
        how: dict[str, Any] = {} if heavy else {"num_trials": trials, "minibatch": False}
        program = bridge.ContextProgram(player, state.text)
        with landed(), bridge.dspy.context(lm=lm, adapter=adapter, callbacks=[bridge.Watcher(book.evaluated)],
                                           disable_history=True):  # fmt: skip
            try:
                best = optimizer.compile(
                    program, trainset=bridge.training(train, run),
                    valset=bridge.validation(select),
                    program_aware_proposer=False,  # the program is harness code, not the task's
                    **how,
                )  # fmt: skip
                text = bridge.context_of(best)
                counted = max(log.get("total_eval_calls_so_far", 0) for log in best.trial_logs.values())
            except Enough:
                text, counted = book.best, book.counted
        searched = "auto=heavy" if heavy else f"{trials} trials"
        why = f"{self.library()}, {searched}: {counted} evaluation calls by its count"
        book.pick(text, f"picked by {why}")
        return picked(state, text, adapter.unreadable, f"no candidate beat the seed: {why}, {attempts.note()}")

    def labeled(self, run: FitRun) -> int:
        """Known answers are for `gt` alone: under `outcome` no feedback tells one."""
        return int(self.settings.max_labeled_demos) if run.regime == "gt" else 0


def plan(calls: int, validation: int) -> tuple[int, int, int]:
    """For a plain call count: trials on all validation tasks, candidates of each kind, attempts to find demos.

    A fifth is for the demos; the rest is the seed pass and the trials, with as many candidates for a trial as `auto=heavy`
    has (18 for 27). Raises `FitError` when fewer than three trials fit.
    """
    tries = max(calls // 5, 10)
    least = max(5 * validation, 10 + 4 * validation)
    need_budget("miprov2", calls, least, f"the demos, the seed prompt and three trials on {validation} tasks")
    trials = (calls - tries) // validation - 1
    return trials, max(4, 2 * trials // 3), tries


class Book:
    """Every instruction proposed and every program evaluated becomes a row."""

    def __init__(self, run: FitRun, attempts: Attempts, seed: str, full: int) -> None:
        self.run, self.attempts, self.full = run, attempts, full
        self.best, self.score = seed, -1.0
        self.counted = 0  # what dspy counts: attempts of evaluations that ended
        self.numbers: dict[str, int] = {}
        self._row(seed, None, 0, True, "seed prompt, to be scored after the proposals")

    def proposed(self, text: str) -> None:
        """An instruction; it has no score before a trial joins it with demos."""
        self._row(text, None, 0, False, "instruction proposed; the trials score it together with demos")

    def evaluated(self, text: str, asked: int, scores: Sequence[float] | None) -> None:
        """A pass over validation tasks: all of them, or a minibatch."""
        if scores is None:
            self._row(text, None, 0, False, f"cut: the metric calls were used before all {asked} tasks were answered")
            return
        self.counted += asked
        score, full = sum(scores) / len(scores), asked == self.full
        better = full and score > self.score
        said = "seed prompt" if self.score < 0 else f"{'better' if better else 'not better'} than {self.score:.4g}"
        self._row(text, score, asked, better, said if full else f"a trial on {asked} tasks decides nothing")
        if better:
            self.best, self.score = text, score

    def pick(self, text: str, why: str) -> None:
        """The program the library returns."""
        self._row(text, self.score, self.full, True, why)

    def _row(self, text: str, score: float | None, items: int, accepted: bool, said: str) -> None:
        """A candidate comes from an earlier row of the same text, else from the seed."""
        number = self.run.candidate(
            text, parents=[self.numbers.get(text, 0)] if self.numbers else [], score=score, items=items,
            accepted=accepted, reason=f"{said} ({self.attempts.note()})",
        )  # fmt: skip
        self.numbers.setdefault(text, number)
