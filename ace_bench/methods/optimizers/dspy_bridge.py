"""dspy as the harness sees it: an engine for the optimiser's calls, a program for ours, and a quiet process.

Importing this module imports dspy. What dspy keeps process-wide is set here, once (`libraries.load` lets one thread at a
time in): no cache of its own, no log lines, no progress bars, no prints.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import dspy
import optuna
import tqdm
from dspy.lm15 import Message, Response, Usage, response_to_events
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import AdapterParseError

from ace_bench.contracts import FitRun, Task
from ace_bench.methods.optimizers.attempts import Item
from ace_bench.methods.optimizers.passing import carried
from ace_bench.methods.optimizers.player import Player, Question, rendered

ASKED, ANSWER = "question", "answer"


class _NoBar(tqdm.tqdm):  # type: ignore[misc]
    """A progress bar that shows nothing, whatever it is told."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "disable": True})


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Stands in for `print` in the modules of dspy that use it."""


def _quiet() -> None:
    """Redirecting stdout would take it from all other threads, so the names are shadowed where they are used."""
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    dspy.disable_logging()
    logging.getLogger("dspy").setLevel(logging.CRITICAL)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    for name in ("teleprompt.utils", "teleprompt.bootstrap", "propose.utils", "propose.grounded_proposer",
                 "propose.dataset_summary_generator"):  # fmt: skip
        vars(importlib.import_module(f"dspy.{name}"))["print"] = _nothing
    for name in ("teleprompt.bootstrap", "evaluate.evaluate", "utils.parallelizer"):
        vars(importlib.import_module(f"dspy.{name}"))["tqdm"] = SimpleNamespace(tqdm=_NoBar)


_quiet()


class Engine:
    """dspy's engine contract (`complete(Request) -> Response`) over `run.ask`: no cache, no retry.

    Sampling parameters are the run's model's, not dspy's. dspy's `rollout_id`, which tells equal prompts apart, never
    reaches an engine; the session gives every repeated request of a cell a draw of its own, so nothing is lost.
    """

    def __init__(self, run: FitRun) -> None:
        self.run = run

    def __deepcopy__(self, memo: object) -> Engine:
        return self  # dspy copies its LM for each proposal; the run is one

    @carried
    def complete(self, request: Any) -> Any:
        """One call of purpose `propose`."""
        system = request.system if isinstance(request.system, str | None) else "".join(p.text for p in request.system)
        messages = [{"role": "system", "content": system}] if system else []
        messages += [{"role": m.role, "content": m.text or ""} for m in request.messages]
        reply = self.run.ask("propose", messages)
        message = Message.assistant(reply.text or " ")
        # No usage: our meter has it, from the reply itself.
        return Response(id=None, model=request.model, message=message, finish_reason="stop", usage=Usage())

    def stream(self, request: Any) -> Any:
        """Not used by the optimisers; part of the contract."""
        return response_to_events(self.complete(request))

    def close(self) -> None:
        """Nothing to close."""


def language_model(run: FitRun) -> Any:
    """The prompt model for an optimiser."""
    return dspy.LM("ace_bench/run", engine=Engine(run), cache=False, num_retries=0)


class Patient(dspy.ChatAdapter):  # type: ignore[misc]
    """dspy's chat format; a reply that cannot be read even when asked again as JSON costs one proposal, not the fit.

    In its place stands the basic instruction the request carried (or nothing, for a summary). `proposed` hears of every
    instruction that could be read.
    """

    def __init__(self, proposed: Callable[[str], None]) -> None:
        super().__init__()
        self.proposed = carried(proposed)
        self.unreadable: list[str] = []

    def __deepcopy__(self, memo: object) -> Patient:
        return self

    def __call__(self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any) -> Any:
        try:
            found = super().__call__(lm, lm_kwargs, signature, demos, inputs)
        except AdapterParseError:
            self.unreadable.append(f"A reply had no readable {' or '.join(signature.output_fields)}.")
            return [{name: str(inputs.get("basic_instruction", "")) for name in signature.output_fields}]
        for fields in found:
            if text := fields.get("proposed_instruction"):
                self.proposed(str(text))
        return found


class ContextPredict(dspy.Predict):  # type: ignore[misc]
    """A predictor whose answer comes from an attempt of ours, with instructions and demos rendered to one context."""

    def __init__(self, player: Player, instructions: str) -> None:
        super().__init__(dspy.Signature(f"{ASKED} -> {ANSWER}", instructions))
        self.player = player

    def forward(self, **kwargs: Any) -> Any:
        """Attempt the question. The trace holds what a demo is made of, the prediction also the score."""
        question = kwargs[ASKED]
        answer, score = self.play(question)
        if dspy.settings.trace is not None:
            dspy.settings.trace.append((self, {ASKED: question}, dspy.Prediction(**{ANSWER: answer})))
        return dspy.Prediction(**{ANSWER: answer, "score": score})

    @carried
    def play(self, question: Question) -> tuple[str, float]:
        """The answer and its metric."""
        return self.player.play(self.signature.instructions, self.demos, question)


class ContextProgram(dspy.Module):  # type: ignore[misc]
    """Answer the question."""

    def __init__(self, player: Player, instructions: str) -> None:
        super().__init__()
        self.predict = ContextPredict(player, instructions)

    def forward(self, question: Question) -> Any:
        """One question."""
        return self.predict(question=question)


def context_of(program: Any) -> str:
    """The context a program stands for."""
    predict = program.predictors()[0]
    return rendered(predict.signature.instructions, predict.demos)


def metric(example: Any, prediction: Any, trace: Any = None) -> float:
    """dspy's metric. With a trace it decides on a demo, and only a wholly right attempt makes one."""
    score = float(prediction.score)
    return score if trace is None else float(score >= 1.0)


def training(tasks: Sequence[Task], run: FitRun) -> list[Any]:
    """Training tasks for dspy: question and, where the regime tells it, answer. Nothing else: every field of an example
    is shown to the prompt model."""
    told = [{ANSWER: run.label(task)} if run.regime == "gt" else {} for task in tasks]
    items = [Question.of(Item(task, "adapt")) for task in tasks]
    return [
        dspy.Example(**{ASKED: item}, **answer).with_inputs(ASKED) for item, answer in zip(items, told, strict=True)
    ]


def validation(tasks: Sequence[Task]) -> list[Any]:
    """Validation tasks for dspy: the question; nobody reads a label off them."""
    return [dspy.Example(**{ASKED: Question.of(Item(task, "select"))}).with_inputs(ASKED) for task in tasks]


class Watcher(BaseCallback):  # type: ignore[misc]
    """Tells of every evaluation of a program: its context and the scores (fewer than asked for, when it was cut)."""

    def __init__(self, evaluated: Callable[[str, int, Sequence[float] | None], None]) -> None:
        self.evaluated = carried(evaluated)
        self.program, self.asked = None, 0

    def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Remember what is evaluated."""
        self.program, self.asked = inputs["program"], len(inputs["devset"] or instance.devset)

    def on_evaluate_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """Pass on the scores, unrounded."""
        scores = None if outputs is None else [float(score) for _, _, score in outputs.results]
        self.evaluated(context_of(self.program), self.asked, scores)
