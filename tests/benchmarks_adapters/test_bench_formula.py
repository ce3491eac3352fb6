"""Formula: both scoring rules by table, feedback that keeps the target apart, the bundled set, the released files."""

from __future__ import annotations

import dataclasses

import pytest

from ace_bench.benchmarks.formula import NUMBER_FORMAT, tolerant_equal, upstream_equal
from ace_bench.benchmarks.numbers import Percent

from .fakes import episode, finance, formula, mean

RULES = [  # answer, target, upstream, tolerant (known faults R02, R03, B27)
    ("12.5", "12.5", 1, 1), ("12.50", "12.5", 1, 1), ("1,250", "1250.0", 1, 1), ("1250", "1250.0", 1, 1),
    ("12.5%", "12.5", 0, 1), ("$12.5", "12.5", 0, 1), ("(5)", "-5.0", 0, 1), ("12.499999", "12.5", 0, 1),
    ("1_250", "1250.0", 1, 0), ("1e3", "1000.0", 1, 1), ("12.505", "12.5", 0, 1), ("12.495", "12.5", 0, 1),
    ("12.5051", "12.5", 0, 0), ("12.51", "12.5", 0, 0), ("nan", "12.5", 0, 0), ("inf", "12.5", 0, 0),
    ("", "12.5", 0, 0),
    ("1,0,0,0", "1000.0", 1, 0), ("5 million", "5000000.0", 0, 0), ("12.5 is it", "12.5", 0, 0),
    (" 12.5 ", "12.5", 1, 1),
    ("１２.５", "12.5", 1, 1), ("\u221212.5", "-12.5", 0, 1), ("-0.0", "0.0", 1, 1), ("1e999", "12.5", 0, 0),
    ("[12.5]", "12.5", 0, 0), ("5*2.5", "12.5", 0, 0), ("len('ab')", "2.0", 0, 0), ("\ud83d", "2.0", 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "target", "upstream", "tolerant"), RULES)
def test_both_rules(answer: str, target: str, upstream: int, tolerant: int) -> None:
    assert (upstream_equal(answer, target), tolerant_equal(answer, target)) == (upstream, tolerant)


@pytest.mark.parametrize(("policy", "right"), [("as_is", False), ("fraction", True)])
def test_percent_policy(policy: Percent, right: bool) -> None:
    assert tolerant_equal("20%", "0.2", policy) is right


@pytest.mark.parametrize("primary", ["upstream", "tolerant"])
def test_gold_and_empty_agent(primary: str) -> None:
    benchmark = formula(primary=primary)
    for split in benchmark.splits():
        assert mean(benchmark, split, lambda sample: sample.target) == 1.0
        assert mean(benchmark, split, lambda sample: "") == 0.0


@pytest.mark.parametrize(
    ("answer", "primary", "outcome"),
    [
        ("x", "upstream", "unparsed"), ("12.5%", "upstream", "unparsed"), ("-1", "upstream", "wrong"),
        ("nan", "upstream", "unparsed"), ("1_2", "tolerant", "unparsed"), ("-1%", "tolerant", "wrong"),
        ("", "tolerant", "unparsed"),
    ],
)  # fmt: skip
def test_an_unreadable_answer_is_named(answer: str, primary: str, outcome: str) -> None:
    benchmark = formula(primary=primary)
    sample = benchmark.samples("test")[0]
    score = benchmark.score(sample, episode(sample, answer))
    assert (score.value, score.correct, score.outcome) == (0.0, False, outcome)


@pytest.mark.parametrize("status", ["unparsed", "refused", "truncated", "empty", "overflow", "error"])
def test_no_answer_keeps_its_name(status: str) -> None:
    benchmark = formula()
    sample = benchmark.samples("test")[0]
    score = benchmark.score(sample, episode(sample, None, status))
    assert (score.value, score.correct, score.outcome) == (None if status == "error" else 0.0, False, status)
    assert benchmark.observe(sample, episode(sample, None, status), score).environment


@pytest.mark.parametrize("answer", ["12.5", "no idea", "", "nan", "\ud83d", "1" * 5000])
def test_environment_depends_on_no_target(answer: str) -> None:
    for benchmark in (formula(), formula(primary="tolerant")):
        sample = benchmark.samples("test")[0]
        seen = set()
        for target in ("12.5", "77.0"):
            other = dataclasses.replace(sample, target=target)
            made = episode(other, answer)
            seen.add(benchmark.observe(other, made, benchmark.score(other, made)).environment)
        assert len(seen) == 1


def test_feedback_holds_everything() -> None:
    benchmark = formula()
    sample = dataclasses.replace(benchmark.samples("test")[0], target="12.5")
    made = episode(sample, "13")
    feedback = benchmark.observe(sample, made, benchmark.score(sample, made))
    assert feedback.environment == "The answer was read as the number 13.0."
    assert (feedback.regime, feedback.correct, feedback.target) == ("gt", False, "12.5")
    assert "13" in (feedback.details or "")
    assert "12.5" in (feedback.details or "")


def test_upstream_prompt_drops_the_formula() -> None:
    full, bare = formula().samples("train")[0], formula(prompt="upstream").samples("train")[0]
    assert "Explanation:" in full.task.input
    assert "Formula:" not in bare.task.input
    assert bare.task.input.endswith(NUMBER_FORMAT)
    assert not bare.task.input.startswith('"')
    assert (full.task.id, full.task.group, full.target) == (bare.task.id, bare.task.group, bare.target)


def test_released_files() -> None:
    folder = finance()
    paths = {"train": "formula_train_subset_500.jsonl", "val": "formula_val_subset_300.jsonl"}
    benchmark = formula(**{split: str(folder / name) for split, name in paths.items()})
    assert [len(benchmark.samples(split)) for split in benchmark.splits()] == [500, 300, 0]
    groups = [{sample.task.group for sample in benchmark.samples(split)} for split in paths]
    assert len(groups[0]) == 50
    assert groups[0] == groups[1]
    assert benchmark.shared() == {}
    for split in paths:
        assert mean(benchmark, split, lambda sample: sample.target) == 1.0
        assert mean(benchmark, split, lambda sample: "") == 0.0
        loaded = benchmark.file(split)
        assert loaded is not None
        assert (loaded.bad, loaded.duplicates) == ((), ())
    bare = formula(prompt="upstream", train=str(folder / paths["train"])).samples("train")
    assert not any("Explanation:" in sample.task.input for sample in bare)
