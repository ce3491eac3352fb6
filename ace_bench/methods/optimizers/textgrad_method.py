"""TextGrad (arXiv 2406.07496) through textgrad: criticism of each attempt as a gradient, one rewrite of the prompt a step.

The library has no loop; this is the one of its paper (section on prompt optimisation): minibatches of 3, a validation pass
after every step, the step undone when validation drops, 12 steps (`metric_calls: heavy`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from ace_bench.contracts import Expected, FitRun, Task, Update
from ace_bench.methods.optimizers import libraries
from ace_bench.methods.optimizers.attempts import Attempts, Item, answer_text, asked_text, told_text
from ace_bench.methods.optimizers.base import BudgetedSettings, Optimizer, need_budget, need_validation, picked
from ace_bench.methods.optimizers.passing import landed
from ace_bench.methods.text_state import TextState

HEAVY_STEPS = 12


class TextGrad(Optimizer):
    """TextGrad."""

    extra = "textgrad"

    class Settings(BudgetedSettings):
        """Knobs."""

        name: Literal["textgrad"] = "textgrad"
        minibatch: int = Field(3, ge=1)  # training tasks a step
        full_value: bool = False  # the optimizer sees the whole prompt, not its first and last ten words

    @classmethod
    def expected_fit_calls(cls, settings: TextGrad.Settings, train: int, select: int) -> Expected:
        """Up to a step that could pass the budget. A step without an error asks for no gradient and no rewrite."""
        size = min(settings.minibatch, train)
        step = settings.minibatch + select
        calls = select + HEAVY_STEPS * step if settings.metric_calls == "heavy" else settings.metric_calls
        steps = (calls - select) // size
        return {"solve": (calls - step + 1, calls), "reflect": (0, steps * size), "propose": (0, steps)}

    def budget(self, validation: int) -> int:
        """Metric calls that no step may begin beyond. Raises `FitError` below a seed pass and three steps."""
        step: int = self.settings.minibatch + validation
        asked = self.settings.metric_calls
        if asked == "heavy":
            return validation + HEAVY_STEPS * step
        least = validation + 3 * step
        need_budget("textgrad", asked, least, f"the seed prompt on {validation} validation tasks and three steps")
        return int(asked)

    def fit(self, state: TextState, train: Sequence[Task], select: Sequence[Task], run: FitRun) -> Update:
        """Steps until the next one could pass the budget."""
        validation = need_validation("textgrad", select)
        budget = self.budget(validation)
        with landed():
            descent = Descent(self, libraries.bridge("textgrad_bridge"), state.text, select, run)
            for batch in minibatches(train, self.settings.minibatch, run):
                if descent.attempts.total + len(batch) + validation > budget:
                    break
                descent.step(batch)
        best = descent.best
        why = f"{self.library()}, full_value={self.settings.full_value}, gradients in order: {descent.attempts.note()}"
        run.candidate(best.text, parents=[best.number], score=best.score, items=validation, accepted=True,
                      reason=f"picked by {why}")  # fmt: skip
        return picked(state, best.text, descent.unreadable, f"no candidate beat the seed ({why})")


def minibatches(train: Sequence[Task], size: int, run: FitRun) -> Iterator[Sequence[Task]]:
    """Minibatches without end: every pass over the training tasks in a new order."""
    rng = run.rng("textgrad")
    while True:
        order = rng.sample(train, len(train))
        yield from (order[i : i + size] for i in range(0, len(order), size))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt that was validated, and the number of its row."""

    text: str
    score: float
    number: int


class Descent:
    """The loop's memory: the prompt in place, the best one, and the library's objects."""

    def __init__(self, how: TextGrad, bridge: Any, seed: str, select: Sequence[Task], run: FitRun) -> None:
        self.bridge, self.run = bridge, run
        self.items = [Item(task, "select") for task in select]
        self.attempts = Attempts(run)
        self.unreadable: list[str] = []
        self.context = bridge.variable(seed, how.settings.full_value)
        self.optimizer = bridge.tg.TGD(parameters=[self.context], engine=bridge.Engine(run, "propose"))
        score = self.validated(seed)
        self.current = self.best = Candidate(seed, score, self.row(seed, [], score, True, "seed prompt"))

    def step(self, batch: Sequence[Task]) -> None:
        """Attempt, criticise, rewrite, validate; undo when validation drops. A batch without an error gives no step."""
        self.optimizer.zero_grad()
        right: list[bool] = []
        losses = [
            self.bridge.loss(lambda text, task=task: self.told(text, task, right), self.context) for task in batch
        ]
        if all(right):
            return
        # The engine is given here: a global one would be shared by all fits of the process.
        self.bridge.tg.sum(losses).backward(self.bridge.Engine(self.run, "reflect"))
        text = self.rewritten()
        if text is not None:
            self.judge(text)

    def told(self, text: str, task: Task, right: list[bool]) -> str:
        """An attempt, as the loss tells it. The last line break keeps textgrad's tags off the answer."""
        done = self.attempts.score(text, Item(task, "adapt"))
        right.append(done.score >= 1.0)
        return "\n".join([asked_text(task), answer_text(done.experience), told_text(done.experience), ""])

    def rewritten(self) -> str | None:
        """The optimizer's new prompt; None when its reply has no tags, or nothing between them (then nothing changes)."""
        try:
            self.optimizer.step()
        except IndexError:  # what textgrad raises when the tags are not there
            self.unreadable.append("The optimizer's reply had no new prompt between the tags it was asked for.")
            return None
        if self.context.value:
            return str(self.context.value)
        self.unreadable.append("The optimizer's new prompt was empty.")
        self.context.set_value(self.current.text)
        return None

    def judge(self, text: str) -> None:
        """Keep the new prompt unless it is worse than the one before; the best one is what the fit gives back."""
        score, before = self.validated(text), self.current
        kept = score >= before.score
        said = f"{'kept' if kept else 'undone'}: {score:.4g} after {before.score:.4g}"
        made = Candidate(text, score, self.row(text, [before.number], score, kept, said))
        if not kept:
            self.context.set_value(before.text)
            return
        self.current = made
        if score > self.best.score:
            self.best = made

    def validated(self, text: str) -> float:
        """The mean metric over the validation tasks."""
        return sum(self.attempts.score(text, item).score for item in self.items) / len(self.items)

    def row(self, text: str, parents: Sequence[int], score: float, accepted: bool, said: str) -> int:
        """One row of `candidates`."""
        return self.run.candidate(
            text, parents=parents, score=score, items=len(self.items), accepted=accepted,
            reason=f"{said}; {self.attempts.note()}",
        )  # fmt: skip
