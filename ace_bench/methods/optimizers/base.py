"""What the optimisers share: one text as state, the seed prompt, and the settings of a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field

from ace_bench.contracts import Context, FitRun, Regime, Run, Task, Update
from ace_bench.methods.base import MethodSettings
from ace_bench.methods.optimizers import extras
from ace_bench.methods.text_state import TextMethod, TextState
from ace_bench.playbook import Rejection

SEED_PROMPT = "Read the task closely, use every hint it holds, and answer in the form it asks for."
Budget = Annotated[int, Field(ge=1)] | Literal["heavy"]


class FitError(Exception):
    """A fit that cannot begin: the sentence says what is missing. Nothing was asked."""


class OptimizerSettings(MethodSettings):
    """Knobs of every optimiser here."""

    seed_prompt: str = Field(SEED_PROMPT, min_length=1)  # the first candidate, unless start=FILE gives one


class BudgetedSettings(OptimizerSettings):
    """... and of those that search under a budget."""

    metric_calls: Budget = "heavy"  # heavy: as in the paper; or a number of scored attempts, validation included


class Optimizer(TextMethod):
    """A batch method whose state is one text. A subclass writes `fit` and names the extra that brings its library."""

    regimes: ClassVar[frozenset[Regime]] = frozenset({"gt", "outcome"})
    protocols: ClassVar[frozenset[str]] = frozenset({"offline"})
    extra: ClassVar[str]
    Settings: ClassVar[type[BaseModel]] = OptimizerSettings

    @classmethod
    def missing(cls, settings: Any = None) -> str | None:
        """Why this method cannot run here, with the command that helps; None when it can. Imports nothing."""
        return extras.missing(cls.extra)

    @classmethod
    def library(cls) -> str:
        """Name and version of the library, as the `candidates` rows tell it."""
        return extras.version(cls.extra)

    def start(self, run: Run) -> TextState:
        """The seed prompt."""
        return TextState(self.initial.render() if self.initial is not None else self.settings.seed_prompt)

    def prepare(self, state: TextState, task: Task, run: Run) -> Context:
        """The text, for every task."""
        return Context(state.render())

    def fit(self, state: TextState, train: Sequence[Task], select: Sequence[Task], run: FitRun) -> Update:
        """The search: from the seed prompt to the text that is scored on test."""
        raise NotImplementedError


def picked(state: TextState, text: str, unreadable: Sequence[str], why: str) -> Update:
    """The update of a fit: one change proposed, and each unreadable reply as a proposal that was rejected."""
    after = state if text == state.text else TextState(text, state.version + 1)
    rejected = [Rejection("malformed_reply", said) for said in unreadable]
    if after is state:
        rejected.append(Rejection("no_change", why))
    return Update(after, proposed=len(unreadable) + 1, applied=int(after is not state), rejected=tuple(rejected))


def need_validation(name: str, select: Sequence[Task]) -> int:
    """How many validation tasks there are; none is a `FitError`."""
    if not select:
        raise FitError(
            f"{name} compares candidates on the val split, which is empty; give benchmark.val a size or a file."
        )
    return len(select)


def need_budget(name: str, asked: int, least: int, meaning: str) -> None:
    """A budget that would end after a proposal or two looks like a success and is none (optimizers.md, issue 6)."""
    if asked < least:
        raise FitError(
            f"method.metric_calls={asked} is too small for {name}: {meaning} take {least}. "
            f"Give method.metric_calls={least} or more, or a smaller val split."
        )
