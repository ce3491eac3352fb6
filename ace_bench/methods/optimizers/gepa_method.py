"""GEPA (arXiv 2507.19457) through the `gepa` library: reflective mutation on a Pareto front of candidates.

The library proposes, keeps the pool and picks; attempts and reflections are ours. The paper's setting is the budget
`auto=heavy` of dspy.GEPA for one predictor, 1035 + 7V metric calls (V: validation tasks), minibatch 3, merge on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from ace_bench.contracts import Expected, FitRun, Task, Update
from ace_bench.methods.optimizers.attempts import Attempts, Item, Scored, answer_text, asked_text, told_text
from ace_bench.methods.optimizers.base import BudgetedSettings, Optimizer, need_budget, need_validation, picked
from ace_bench.methods.optimizers.passing import carried, landed
from ace_bench.methods.text_state import TextState

NAME = "context"  # the one component of a candidate


class Gepa(Optimizer):
    """GEPA."""

    extra = "gepa"

    class Settings(BudgetedSettings):
        """Knobs."""

        name: Literal["gepa"] = "gepa"
        minibatch: int = Field(3, ge=1)  # training tasks a proposal is made from and compared on

    @classmethod
    def expected_fit_calls(cls, settings: Gepa.Settings, train: int, select: int) -> Expected:
        """The library looks at its budget between iterations; each costs a minibatch at least, and may ask twice."""
        asked, size = settings.metric_calls, settings.minibatch
        calls = heavy(select) if asked == "heavy" else asked
        proposals = -(-(calls - select) // size)
        return {"solve": (calls, calls + 2 * size + select - 1), "propose": (0, 2 * max(0, proposals))}

    def budget(self, validation: int) -> int:
        """The metric calls the library may use. Raises `FitError` below a seed pass and three proposals that could win."""
        asked, size = self.settings.metric_calls, self.settings.minibatch
        if asked == "heavy":
            return heavy(validation)
        least = validation + 3 * (2 * size + validation)
        need_budget("gepa", asked, least, f"the seed prompt on {validation} validation tasks and three proposals")
        return int(asked)

    def fit(self, state: TextState, train: Sequence[Task], select: Sequence[Task], run: FitRun) -> Update:
        """Run the library on one component, the whole context."""
        import gepa

        budget = self.budget(need_validation("gepa", select))
        attempts = Attempts(run)
        book, reflector = Book(run, attempts), Reflector(run)
        with landed():
            result = gepa.optimize(
                seed_candidate={NAME: state.text},
                trainset=[Item(task, "adapt") for task in train],
                valset=[Item(task, "select") for task in select],
                adapter=Adapter(attempts), reflection_lm=reflector, callbacks=[book], logger=Silent(),
                max_metric_calls=budget,
                # A loop that spends nothing would never end (gepa issue 46). Counted in iterations, not seconds:
                # time must not decide a result.
                stop_callbacks=lambda progress: progress.i >= budget,
                reflection_minibatch_size=self.settings.minibatch, candidate_selection_strategy="pareto",
                use_merge=True, max_merge_invocations=5, skip_perfect_score=True, perfect_score=1.0,
                seed=run.rng("gepa").getrandbits(31),
                # Off, as the cache of 0.1.4 mixes training and validation ids; no run_dir, as its resume is not the
                # same run (ours replays the response cache).
                cache_evaluation=False, run_dir=None, raise_on_exception=True, display_progress_bar=False,
            )  # fmt: skip
        best = result.best_idx
        why = f"{self.library()}: {result.total_metric_calls} metric calls by its count, {attempts.note()}"
        run.candidate(
            result.best_candidate[NAME], parents=[book.numbers[best]], score=result.val_aggregate_scores[best],
            items=len(select), accepted=True, reason=f"picked by {why}",
        )  # fmt: skip
        return picked(state, result.best_candidate[NAME], reflector.unreadable, f"no candidate beat the seed ({why})")


def heavy(validation: int) -> int:
    """The metric calls of `auto=heavy` for one predictor (dspy.GEPA.auto_budget)."""
    return 1035 + 7 * validation


class Adapter:
    """The library's view of the harness: evaluate candidates, and say what happened."""

    propose_new_texts = None  # 0.1.4 reads the attribute without looking whether it is there

    def __init__(self, attempts: Attempts) -> None:
        self.attempts = attempts

    @carried
    def evaluate(self, batch: Sequence[Item], candidate: Mapping[str, str], capture_traces: bool = False) -> Any:
        """One scored attempt a task, in order, in this thread."""
        from gepa import EvaluationBatch

        rows = [self.attempts.score(candidate[NAME], item) for item in batch]
        return EvaluationBatch(
            outputs=[row.experience.episode.answer for row in rows],
            scores=[row.score for row in rows],
            trajectories=rows if capture_traces else None,
        )

    @carried
    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, str]]]:
        """What the reflection prompt shows of each attempt."""
        return {name: [_record(row) for row in eval_batch.trajectories] for name in components_to_update}


def _record(row: Scored) -> dict[str, str]:
    return {
        "Inputs": asked_text(row.experience.task),
        "Generated Outputs": f"{answer_text(row.experience)}\n{row.experience.episode.trace}",
        "Feedback": told_text(row.experience),
    }


class Unreadable(Exception):
    """A reflection without a new text. An ordinary exception: the library asks once more, then lets the proposal go."""


class Reflector:
    """The reflection model: prompt in, reply out. Without a whole fence the library would adopt a reply as it stands."""

    def __init__(self, run: FitRun) -> None:
        self.run = run
        self.unreadable: list[str] = []

    def __call__(self, prompt: Any) -> str:
        messages = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
        reply = carried(self.run.ask)("propose", messages)
        text = reply.text
        start, end = text.find("```"), text.rfind("```")
        if reply.status != "ok" or start < 0 or not text[start + 3 : end].strip():
            self.unreadable.append(f"A reflection ({reply.status}) holds no text between two fences.")
            raise Unreadable(self.unreadable[-1])
        return text


class Book:
    """Callbacks: every candidate becomes a row when it is decided on. `numbers` maps the library's index to the row's."""

    def __init__(self, run: FitRun, attempts: Attempts) -> None:
        self.run, self.attempts = run, attempts
        self.numbers: dict[int, int] = {}
        self.parent, self.proposed, self.minibatch = 0, "", 0

    @carried
    def on_candidate_selected(self, event: Mapping[str, Any]) -> None:
        """Whose child the next proposal is."""
        self.parent = event["candidate_idx"]

    @carried
    def on_minibatch_sampled(self, event: Mapping[str, Any]) -> None:
        """How many tasks it will be compared on."""
        self.minibatch = len(event["minibatch_ids"])

    @carried
    def on_proposal_end(self, event: Mapping[str, Any]) -> None:
        """A rejected candidate's text is told here only."""
        self.proposed = event["new_instructions"][NAME]

    @carried
    def on_candidate_rejected(self, event: Mapping[str, Any]) -> None:
        """Not better than its parent on the minibatch."""
        self.run.candidate(
            self.proposed, parents=[self.numbers[self.parent]], score=event["new_score"] / max(1, self.minibatch),
            items=self.minibatch, accepted=False, reason=f"minibatch: {event['reason']}; {self.attempts.note()}",
        )  # fmt: skip

    @carried
    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """The seed, and each candidate that enters the pool."""
        parents = [self.numbers[i] for i in event["parent_ids"]]
        reason = "entered the pool" if parents else "seed prompt"
        self.numbers[event["candidate_idx"]] = self.run.candidate(
            event["candidate"][NAME], parents=parents, score=event["average_score"],
            items=event["num_examples_evaluated"], accepted=True, reason=f"{reason}; {self.attempts.note()}",
        )  # fmt: skip


class Silent:
    """The library's logger. Without one it would replace stdout and stderr of the whole process."""

    def log(self, message: str) -> None:
        """Nothing: the rows tell what happened."""
