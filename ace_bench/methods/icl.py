"""In-context learning: solved training tasks before the model (paper, baselines: all of them, or as many as fit).

A batch method without any completion: it reads the labels of the training set, so it runs under `gt` alone.
What is ours: the paper does not say which samples it takes when not all fit. Here they are drawn at random, with the run's
seed, or, with `pick: nearest`, chosen for each task by the cosine of the embeddings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from ace_bench.contracts import Context, Expected, FitRun, Regime, Run, Task, Update, token_estimate
from ace_bench.methods.base import MethodSettings
from ace_bench.methods.retrieval import nearest
from ace_bench.methods.text_state import Pair, TextMethod, TextState
from ace_bench.playbook import Playbook
from ace_bench.prompts import Prompts

GAP = "\n\n"  # between two shots


class Icl(TextMethod):
    """In-context learning: solved training tasks before the model."""

    regimes: ClassVar[frozenset[Regime]] = frozenset({"gt"})
    protocols: ClassVar[frozenset[str]] = frozenset({"offline"})

    class Settings(MethodSettings):
        """Knobs."""

        name: Literal["icl"] = "icl"
        shots: int | None = Field(None, ge=1)  # at most so many; None: all that fit
        budget: int = Field(100_000, ge=1)  # tokens of context, estimated as UTF-8 bytes / 4
        pick: Literal["random", "nearest"] = "random"

    def __init__(self, settings: Any, prompts: Prompts, initial: Playbook | None = None) -> None:
        if initial is not None:
            raise ValueError("method icl has only its examples as context: leave out start=.")
        super().__init__(settings, prompts)

    @classmethod
    def embeds(cls, settings: Icl.Settings) -> bool:
        """Whether the run needs an embedder: only nearest shots do."""
        return settings.pick == "nearest"

    @classmethod
    def expected_calls(cls, settings: Icl.Settings) -> Expected:
        """None: there are no updates."""
        return {}

    @classmethod
    def expected_fit_calls(cls, settings: Icl.Settings, train: int, select: int) -> Expected:
        """A fit asks for no completion; nearest shots need the embeddings of the training tasks."""
        return {"embed": (1, train)} if cls.embeds(settings) else {}

    @classmethod
    def expected_prepare_calls(cls, settings: Icl.Settings) -> Expected:
        """Nearest shots: the embedding of the task."""
        return {"embed": (0, 1)} if cls.embeds(settings) else {}

    def start(self, run: Run) -> TextState:
        """No examples yet."""
        return TextState("")

    def fit(self, state: TextState, train: Sequence[Task], select: Sequence[Task], run: FitRun) -> Update:
        """Read the labels that are needed; asks for no completion."""
        order = list(train)
        run.rng("shots").shuffle(order)
        if self.settings.pick == "nearest":
            run.embed([task.input for task in order])  # asked here, so that no scored task pays for it
            fitted = TextState("", state.version + 1, tuple(Pair(task.input, run.label(task)) for task in order))
        else:
            drawn = self.fitting(Pair(task.input, run.label(task)) for task in order[: self.settings.shots])
            fitted = TextState(self.shown(drawn), state.version + 1, tuple(drawn))
        run.candidate(fitted.text, parents=(), score=None, items=0, accepted=True, reason="the only candidate")
        return Update(fitted, proposed=len(fitted.pairs), applied=len(fitted.pairs))

    def prepare(self, state: TextState, task: Task, run: Run) -> Context:
        """The same shots for every task, or the nearest ones, the most similar last."""
        if self.settings.pick == "random":
            return Context(state.text)
        return Context(self.shown(self.fitting(pair for _, pair in nearest(state.pairs, task.input, run))[::-1]))

    def fitting(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Pairs from the front until the next one would pass the budget, or the number of shots is reached.

        Stops at the first that does not fit: going on to shorter ones would favour short tasks. Each shot is counted on
        its own and rounded up, so the whole text never passes the budget.
        """
        taken: list[Pair] = []
        used = token_estimate(self.prompts.text("shots", shots=""))
        for pair in pairs:
            used += token_estimate(self.shot(len(taken) + 1, pair) + GAP)
            if used > self.settings.budget or len(taken) == self.settings.shots:
                break
            taken.append(pair)
        return taken

    def shot(self, number: int, pair: Pair) -> str:
        """One solved task as text."""
        return self.prompts.text("shot", number=str(number), input=pair.input, answer=pair.output)

    def shown(self, pairs: Sequence[Pair]) -> str:
        """The shots as text; "" for none."""
        shots = [self.shot(i, pair) for i, pair in enumerate(pairs, 1)]
        return self.prompts.text("shots", shots=GAP.join(shots)) if shots else ""
