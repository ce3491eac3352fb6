"""textgrad as the harness sees it: an engine, a loss, and the repairs without which no run can be repeated.

Importing this module imports textgrad (and with it litellm). What is process-wide is set here, once (`libraries.load` lets
one thread at a time in).
"""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

from ace_bench.contracts import FitRun
from ace_bench.llm.types import Purpose
from ace_bench.methods.optimizers.passing import carried


def _imported() -> Any:
    """Import without the network (litellm's price list) and without `./logs`, where textgrad writes every prompt."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    before, folder = os.environ.get("TEXTGRAD_LOG_DIR"), tempfile.mkdtemp(prefix="ace-bench-textgrad-")
    os.environ["TEXTGRAD_LOG_DIR"] = folder
    try:
        library = importlib.import_module("textgrad")
    finally:
        del os.environ["TEXTGRAD_LOG_DIR"]
        if before is not None:
            os.environ["TEXTGRAD_LOG_DIR"] = before
    for handler in [h for h in library.logger.handlers if isinstance(h, logging.FileHandler)]:
        library.logger.removeHandler(handler)
        handler.close()
    shutil.rmtree(folder, ignore_errors=True)
    library.logger.setLevel(logging.CRITICAL + 1)
    return library


class InsertionSet(dict[Any, None]):
    """Stands in for `set` in textgrad: it keeps gradients in sets of objects hashed by address, so their order in the
    optimizer's prompt is that of memory. As a dict, this keeps the order of insertion."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__((item, None) for item in items)

    def add(self, item: Any) -> None:
        """Append, unless it is there."""
        self[item] = None


def _repeatable() -> None:
    for name in ("variable", "optimizer.optimizer", "autograd.algebra"):
        vars(importlib.import_module(f"textgrad.{name}"))["set"] = InsertionSet  # shadows the builtin there only


tg = _imported()
_repeatable()
string_ops = importlib.import_module("textgrad.autograd.string_based_ops")


class Engine(tg.EngineLM):  # type: ignore[misc,name-defined]
    """All textgrad needs: engine(prompt, system_prompt=...) -> str. No cache of its own; sampling is the run's model's."""

    model_string = "ace_bench/run"

    def __init__(self, run: FitRun, purpose: Purpose) -> None:
        self.run, self.purpose = run, purpose

    @carried
    def generate(self, prompt: Any, system_prompt: str | None = None, **kwargs: Any) -> str:
        """One call: `reflect` for a gradient, `propose` for the optimizer."""
        text = prompt if isinstance(prompt, str) else "\n".join(map(str, prompt))
        messages = [
            {"role": "system", "content": system_prompt or self.system_prompt},
            {"role": "user", "content": text},
        ]
        return self.run.ask(self.purpose, messages).text

    def __call__(self, prompt: Any, **kwargs: Any) -> str:
        return self.generate(prompt, **kwargs)


class WholeVariable(tg.Variable):  # type: ignore[misc,name-defined]
    """A variable the optimizer sees whole, where textgrad shows the first and last ten words."""

    def get_short_value(self, n_words_offset: int = 10) -> str:
        """All of it."""
        return str(self.value)


def variable(text: str, whole: bool) -> Any:
    """The context as what is optimised."""
    kind = WholeVariable if whole else tg.Variable
    return kind(text, requires_grad=True, role_description="context placed before the model for every task")


def loss(attempt: Callable[[str], str], context: Any) -> Any:
    """A whole episode as one function of the context: its value is what the feedback says (the loss of textgrad)."""
    function = string_ops.StringBasedFunction(
        lambda context: carried(attempt)(context.value), "attempt the task with the context and evaluate the answer"
    )
    return function({"context": context})
