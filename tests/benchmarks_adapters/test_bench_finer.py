"""FiNER: both families of rules by table, feedback, unanswerable rows, the bundled set, the released file."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from ace_bench.benchmarks.finer import (
    read_tags,
    row_problem,
    strict_labels,
    tag_options,
    upstream_labels,
)
from ace_bench.benchmarks.jsonl import DataError

from .fakes import episode, finance, finer, mean

GOLD = "A,B,C,D"
RULES = [  # answer, label_upstream, label_strict (known faults B28, R01, R02)
    ("A,B,C,D", 1, 1), ("a, b, c, d", 1, 1), ("A,B,C", 0.75, 0.75), ("A,B,C,D,E", 1, 0.8), ("D,C,B,A", 0, 0),
    ('["A","B","C","D"]', 0, 1), ("['A', 'B', 'C', 'D']", 0, 1), ("[A,B,C,D]", 0.5, 1), ("", 0, 0), ("A;B;C;D", 0, 1),
    ("A\nB\nC\nD", 0, 1), ("1. A\n2. B\n3. C\n4. D", 0, 1), ("1) A, 2) B, 3) C, 4) D", 0, 1), ("A,B,C,D,", 1, 1),
    ("us-gaap:A,us-gaap:B,us-gaap:C,us-gaap:D", 0, 1), ("A,,C,D", 0.75, 0.75), ("A,A,A,A", 0.25, 0.25), (",,,", 0, 0),
    ("B,C,D", 0, 0), ("A,B,C,D,D,D,D,D", 1, 0.5), ("A,\nB,\nC,\nD", 1, 1), ("A\u200b,B,C,D", 0.75, 1),
    ("A,B,C,D.", 0.75, 1),
    ("- A\n- B\n- C\n- D", 0, 1), ("\ud83d,B,C,D", 0.75, 0.75), ("A,B,C,D\x00", 0.75, 0.75),
]  # fmt: skip
HOSTILE = ("len('ab')", "__import__('os').remove('x')", "{target}", "%s", "A' or '1'='1", "exec('raise SystemExit')")


@pytest.mark.parametrize(("answer", "upstream", "strict"), RULES)
def test_both_rules(answer: str, upstream: float, strict: float) -> None:
    assert (upstream_labels(answer, GOLD), strict_labels(answer, GOLD)) == (upstream, strict)


@pytest.mark.parametrize("answer", HOSTILE)
def test_hostile_answers_have_no_effect(answer: str) -> None:
    assert upstream_labels(answer, "2,B,C,D") == strict_labels(answer, "2,B,C,D") == 0.0


def test_composed_and_decomposed_are_the_same_to_the_strict_rule() -> None:
    assert strict_labels("e\u0301", "\u00e9") == 1.0


def test_tags_are_read() -> None:
    assert read_tags(" 1. us-gaap:Goodwill;\n2. `Revenues`\n") == ("Goodwill", "Revenues")
    assert read_tags("[]") == ()


@pytest.mark.parametrize("primary", ["label_upstream", "row_upstream", "label_strict", "row_strict"])
def test_gold_and_empty_agent(primary: str) -> None:
    benchmark = finer(primary=primary)
    for split in benchmark.splits():
        assert mean(benchmark, split, lambda sample: sample.target.split(",")) == 1.0
        assert mean(benchmark, split, lambda sample: "") == 0.0
    assert benchmark.unanswerable() == {}


def test_value_label_and_row() -> None:
    benchmark = finer()
    sample = dataclasses.replace(benchmark.samples("test")[0], target=GOLD)
    three = benchmark.score(sample, episode(sample, "A,B,C,X"))
    assert (three.value, three.correct, three.outcome) == (0.75, False, "wrong")
    surplus = benchmark.score(sample, episode(sample, "A,B,C,D,E"))
    assert (surplus.value, surplus.correct, surplus.outcome) == (1.0, True, "right")
    assert surplus.named == {"label_upstream": 1.0, "row_upstream": 1.0, "label_strict": 0.8, "row_strict": 0.0}
    strict = finer(primary="label_strict").score(sample, episode(sample, "A,B,C,D,E"))
    assert (strict.value, strict.correct) == (0.8, False)


@pytest.mark.parametrize("status", ["unparsed", "refused", "truncated", "empty", "overflow", "error"])
def test_no_answer_keeps_its_name(status: str) -> None:
    benchmark = finer()
    sample = benchmark.samples("test")[0]
    score = benchmark.score(sample, episode(sample, None, status))
    assert (score.value, score.correct, score.outcome) == (None if status == "error" else 0.0, False, status)
    assert benchmark.observe(sample, episode(sample, None, status), score).environment


@pytest.mark.parametrize("answer", [GOLD, "", "Goodwill", "\ud83d", "1,2,3,4,5", "Depreciation," * 300])
def test_environment_depends_on_no_target(answer: str) -> None:
    benchmark = finer()
    first, second = benchmark.samples("test")[:2]
    texts = set()
    for target in (first.target, second.target):
        sample = dataclasses.replace(first, target=target)
        made = episode(sample, answer)
        texts.add(benchmark.observe(sample, made, benchmark.score(sample, made)).environment)
    assert len(texts) == 1


def test_feedback_says_which_question_was_wrong() -> None:
    benchmark = finer()
    sample = benchmark.samples("test")[0]
    gold = sample.target.split(",")
    made = episode(sample, ",".join([gold[0], "Nonsense", *gold[2:]]))
    feedback = benchmark.observe(sample, made, benchmark.score(sample, made))
    assert feedback.environment == "The answer gave 4 tags for 4 questions. Not among the options: 'Nonsense'."
    lines = (feedback.details or "").split("\n")
    assert [": right" in line for line in lines] == [True, False, True, True]
    assert gold[1] in lines[1]
    assert (feedback.correct, feedback.target) == (False, sample.target)


def test_groups_tell_nothing() -> None:
    assert {sample.task.group for sample in finer().samples("train")} == {"all"}


def _row(target: str) -> dict[str, str]:
    asked = "\n".join(f'{i}. What is best tag for entity "{i}" in sentence: "It paid {i} .?"' for i in (1, 2))
    return {"context": f"The options: ,Aa,Bb,Cc. Answer these.\n{asked}\nOutput:", "target": target}


def test_unanswerable_rows_are_listed_and_scored(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(_row(target)) + "\n" for target in ("Aa,Cc", "Aa,Dd")))
    benchmark = finer(test=str(path))
    odd = benchmark.samples("test")[1]
    assert benchmark.unanswerable() == {odd.task.id: ["Dd"]}
    assert benchmark.score(odd, episode(odd, "Aa,Dd")).value == 1.0


def test_the_last_option_is_read_without_its_full_stop() -> None:
    assert tag_options(_row("Aa,Bb")["context"]) == ("Aa", "Bb", "Cc")


@pytest.mark.parametrize(
    ("context", "target", "problem"),
    [
        (_row("")["context"], "Aa", "2 questions but 1 target tags"), (_row("")["context"], "Aa,", "has an empty tag"),
        ("No list here", "Aa", "no list of tag options"), ("options: ,A,B. Nothing asked", "A", "no question"),
    ],
)  # fmt: skip
def test_rows_that_are_none(context: str, target: str, problem: str) -> None:
    assert problem in (row_problem(context, target) or "")


def test_empty_gold_is_a_data_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(_row("")) + "\n")
    with pytest.raises(DataError, match="line 1: column 'target' is empty"):
        finer(test=str(path)).samples("test")


def test_released_file() -> None:
    benchmark = finer(val=str(finance() / "finer_val_batched_500_samples.jsonl"))
    samples = benchmark.samples("val")
    assert len(samples) == 500
    assert sum(len(sample.meta["entities"]) for sample in samples) == 2000
    assert {len(sample.meta["options"]) for sample in samples} == {139}
    assert len({id(sample.meta["options"]) for sample in samples}) == 1
    loaded = benchmark.file("val")
    assert loaded is not None
    assert len(loaded.duplicates) == 1
    # The reference counts 5 unanswerable targets: they are the list's last tag, taken with the list's full stop.
    last = samples[0].meta["options"][-1]
    assert sum(sample.target.split(",").count(last) for sample in samples) == 5
    assert benchmark.unanswerable() == {}
    for rule in ("label_upstream", "row_strict"):
        scored = finer(val=str(loaded.path), primary=rule)
        assert mean(scored, "val", lambda sample: sample.target) == 1.0
        assert mean(scored, "val", lambda sample: "") == 0.0
