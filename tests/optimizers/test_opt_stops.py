"""What must pass straight through the libraries, and what they must not do to the process."""

from __future__ import annotations

import random
import sys
from collections import Counter

import pytest
from fits import METHODS, SMALL, fit, log, made, needs, world
from harness import Recorder, simulated

from ace_bench.llm.types import BudgetExceeded, ProviderFailure, ReplayMiss

ALL = [pytest.param(name, marks=needs(name)) for name in METHODS]


class Stopped(BaseException):
    """As the one that a first Ctrl-C raises."""


def failing(at: int, error: BaseException, purpose: str) -> Recorder:
    """A model that raises at the `at`-th call of a purpose, and at every later call."""
    inner = simulated()

    class Broken:
        simulated = True
        asked = 0

        def complete(self, request, asked_for, digest):
            self.asked += asked_for == purpose
            if self.asked >= at:
                raise error
            return inner.complete(request, asked_for, digest)

    return Recorder(Broken())


@pytest.mark.parametrize("purpose", ["solve", "propose", "reflect"])
@pytest.mark.parametrize("error", [BudgetExceeded, ProviderFailure, ReplayMiss, Stopped])
@pytest.mark.parametrize("name", ALL)
def test_a_stop_passes_through_the_library(tmp_path, name, error, purpose):
    if purpose not in {"gepa": "propose solve", "textgrad": "propose reflect solve", "miprov2": "propose solve"}.get(
        name, "solve"
    ):
        return  # it asks for no such thing
    broken = failing(2, error("enough"), purpose)
    with pytest.raises(error, match="enough"):
        fit(tmp_path, made(name), transport=broken)
    asked = broken.purposes()[purpose]
    assert asked == 2, "the library asked again after the stop"


@pytest.mark.parametrize("at", [7, 40])
@pytest.mark.parametrize("name", ALL)
def test_an_error_of_ours_is_no_wrong_answer(tmp_path, name, at):
    """dspy would score it 0 and go on, gepa would skip the iteration (traps 2)."""
    broken = world(test=60)
    solve, count = broken.solve, []

    def fails(context, task, ask):
        count.append(1)
        if len(count) == at:
            raise ValueError("the environment is gone")
        return solve(context, task, ask)

    broken.solve = fails
    with pytest.raises(ValueError, match="the environment is gone"):
        fit(tmp_path, made(name), benchmark=broken)
    assert at <= len(count) <= at + 1  # scoring has one more in flight


@pytest.mark.parametrize("name", ALL)
def test_the_process_stays_as_it_was(tmp_path, name, capfd, monkeypatch):
    """No prints, no bars, no ./logs, no swapped stdout, no global engine; the global generator decides nothing."""
    monkeypatch.chdir(tmp_path)
    streams = sys.stdout, sys.stderr
    random.seed(1)
    one = fit(tmp_path / "1", made(name))
    random.seed(2)
    two = fit(tmp_path / "2", made(name))
    assert log(one) == log(two)
    assert (sys.stdout, sys.stderr) == streams
    assert capfd.readouterr() == ("", "")
    assert {path.name for path in tmp_path.iterdir()} == {"1", "2"}
    if "textgrad" in sys.modules:
        from textgrad.config import SingletonBackwardEngine

        assert SingletonBackwardEngine().get_engine() is None


@pytest.mark.parametrize("name", [p for p in ALL if p.values[0] != "bootstrap_fewshot"])
def test_a_budget_that_is_no_search_is_refused_before_the_first_call(tmp_path, name):
    how, asked = made(name, metric_calls=20), simulated()
    with pytest.raises(
        Exception, match=r"method.metric_calls=20 is too small for .* take \d+\. Give method.metric_calls="
    ):
        fit(tmp_path, how, transport=asked)
    assert not asked.seen


@pytest.mark.parametrize("name", [p for p in ALL if p.values[0] != "bootstrap_fewshot"])
def test_without_validation_there_is_no_search(tmp_path, name):
    asked = simulated()
    with pytest.raises(Exception, match="compares candidates on the val split, which is empty"):
        fit(tmp_path, made(name), benchmark=world(val=0), transport=asked)
    assert not asked.seen


@pytest.mark.parametrize("name", [p for p in ALL if p.values[0] != "bootstrap_fewshot"])
def test_candidates_tell_versions_and_both_counts(tmp_path, name):
    ran = fit(tmp_path, made(name))
    rows = ran.rows["candidates"]
    assert [row["candidate"] for row in rows] == list(range(len(rows)))
    assert METHODS[name].library() in rows[-1]["reason"]
    assert ran.texts.get(rows[-1]["state"]) == ran.state.render()
    ours = ran.transport.purposes()["solve"] - len(ran.rows["steps"])
    assert f"{ours} metric calls by our count" in rows[-1]["reason"]
    if name == "gepa":
        assert f"{ours} metric calls by its count" in rows[-1]["reason"]
    assert ours <= SMALL[name]["metric_calls"] + (2 * 3 + 10 if name == "gepa" else 0)  # gepa looks between iterations


@pytest.mark.parametrize("regime", ["gt", "outcome"])
@pytest.mark.parametrize("name", ALL)
def test_the_ledger_has_every_attempt_and_no_more_than_the_regime(tmp_path, name, regime):
    """dspy reads the answers of its training examples: labels, one row each."""
    ran = fit(tmp_path, made(name), regime=regime)
    labels = [row for row in ran.rows["feedback"] if row["fields"] == "target"]
    assert len(labels) == (24 if regime == "gt" and name in ("miprov2", "bootstrap_fewshot") else 0)
    rows = [row for row in ran.rows["feedback"] if row["fields"] != "target"]
    assert len(rows) == ran.transport.purposes()["solve"] - len(ran.rows["steps"])
    assert {row["fields"] for row in rows} == {"correct,target,score" if regime == "gt" else "correct"}


@pytest.mark.parametrize("calls", ["heavy", "small"])
@pytest.mark.parametrize("name", ALL)
def test_a_fit_asks_what_was_expected(tmp_path, name, calls):
    how = made(name, **({"metric_calls": "heavy"} if calls == "heavy" and name in ("miprov2", "textgrad") else {}))
    ran = fit(tmp_path, how)
    asked = ran.transport.purposes() - Counter(solve=len(ran.rows["steps"]))
    expected = how.expected_fit_calls(how.settings, 24, 10)
    assert set(asked) <= set(expected)
    for purpose, (low, high) in expected.items():
        assert low <= asked[purpose] <= high, purpose


@pytest.mark.parametrize("name", ALL)
def test_under_outcome_no_request_tells_a_target(tmp_path, name):
    """The same bits with other targets: the same requests, byte for byte, as long as the bits agree."""
    ran = fit(tmp_path, made(name), regime="outcome")
    texts = [m["content"] for purpose, _, messages in ran.transport.seen if purpose != "solve" for m in messages]
    assert not any("The right answer is" in text for text in texts)
