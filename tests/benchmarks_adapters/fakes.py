"""Small stand-ins: prompts that show their fields, and a model that says what it is told to say."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ace_bench.benchmarks.finer import Finer
from ace_bench.benchmarks.formula import Formula
from ace_bench.contracts import Episode, Sample, Task
from ace_bench.llm.types import Reply
from ace_bench.prompts import Prompts
from ace_bench.prompts.replies import Solution

ROOT = Path(__file__).resolve().parents[2]
TASK = Task("t1", "g", "What is it?")


def finer(**settings: Any) -> Finer:
    return Finer(Finer.Settings(**settings), Prompts())


def formula(**settings: Any) -> Formula:
    return Formula(Formula.Settings(**settings), Prompts())


def says(answer: Any, status: str = "ok", **more: Any) -> Callable[..., Reply]:
    """An `ask` whose reply parses to `answer` (None: it does not parse)."""

    def ask(purpose: str, messages: Any, schema: Any = None, repair: bool = True) -> Reply:
        assert (purpose, schema, repair) == ("solve", Solution, False)
        data = None if answer is None else Solution.model_validate({"final_answer": answer, **more})
        return Reply("the reply text", status, data=data)  # type: ignore[arg-type]

    return ask


def episode(sample: Sample, answer: str | None, status: str = "ok") -> Episode:
    return Episode(sample.task, "trace", answer, status)


def mean(benchmark: Any, split: str, answer: Callable[[Sample], Any]) -> float:
    """Mean primary value of an agent over a split, through solve and score."""
    values: list[float] = []
    for sample in benchmark.samples(split):
        made = benchmark.solve("", sample.task, says(answer(sample)))
        values.append(benchmark.score(sample, made).value)
    return sum(values) / len(values)


def finance() -> Path:
    """The folder of the released files; the test is skipped where it is not at hand."""
    root = os.environ.get("ACE_BENCH_DATA")
    if not root:
        pytest.skip("ACE_BENCH_DATA is not set: the released finance files are not at hand")
    return Path(root) / "finance"
