"""BootstrapFewShot through dspy: demos from training attempts that were right, filled up with known answers.

No search and no validation: at most one attempt a training task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from ace_bench.contracts import Expected, FitRun, Task, Update
from ace_bench.methods.optimizers import libraries
from ace_bench.methods.optimizers.attempts import Attempts
from ace_bench.methods.optimizers.base import Optimizer, OptimizerSettings, picked
from ace_bench.methods.optimizers.passing import landed
from ace_bench.methods.optimizers.player import Player
from ace_bench.methods.text_state import TextState


class BootstrapFewShot(Optimizer):
    """BootstrapFewShot."""

    extra = "dspy"

    class Settings(OptimizerSettings):
        """Knobs, with dspy's defaults."""

        name: Literal["bootstrap_fewshot"] = "bootstrap_fewshot"
        max_bootstrapped_demos: int = Field(4, ge=1)
        max_labeled_demos: int = Field(16, ge=0)  # demos in all; known answers fill up (under `gt` alone)

    @classmethod
    def expected_fit_calls(cls, settings: BootstrapFewShot.Settings, train: int, select: int) -> Expected:
        """It stops at enough right attempts, or at the end of the training tasks."""
        return {"solve": (min(train, settings.max_bootstrapped_demos), train)}

    def fit(self, state: TextState, train: Sequence[Task], select: Sequence[Task], run: FitRun) -> Update:
        """Compile a program of one predictor; its demos become the context."""
        bridge = libraries.bridge("dspy_bridge")
        attempts = Attempts(run)
        program = bridge.ContextProgram(Player(attempts), state.text)
        optimizer = bridge.dspy.BootstrapFewShot(
            metric=bridge.metric, max_bootstrapped_demos=self.settings.max_bootstrapped_demos,
            max_labeled_demos=self.settings.max_labeled_demos if run.regime == "gt" else 0, max_rounds=1, max_errors=1,
        )  # fmt: skip
        with landed(), bridge.dspy.context(lm=bridge.language_model(run), disable_history=True):
            compiled = optimizer.compile(program, trainset=bridge.training(train, run))
            text = bridge.context_of(compiled)
        demos = compiled.predictors()[0].demos
        own = sum("augmented" in demo for demo in demos)
        why = f"{self.library()}: {own} demos from right attempts, {len(demos) - own} known answers; {attempts.note()}"
        run.candidate(text, parents=[], score=None, items=0, accepted=True, reason=f"not compared with another; {why}")
        return picked(state, text, (), f"no demo was found ({why})")
