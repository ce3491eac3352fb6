"""GEPA: the traps of the library, one by one (docs/optimizers.md)."""

from __future__ import annotations

import subprocess
import sys

import pytest
from fits import fit, made, needs, world
from harness import Recorder, simulated

from ace_bench.methods.optimizers.attempts import Attempts
from ace_bench.methods.optimizers.gepa_method import Gepa
from ace_bench.prompts import Prompts

pytestmark = needs("gepa")


def saying(text: str) -> Recorder:
    """A model whose every proposal is `text`."""
    return Recorder(simulated().inner, lambda purpose, reply: text if purpose == "propose" else reply)


@pytest.fixture
def asked(monkeypatch):
    """What gepa.optimize was called with."""
    import gepa

    seen, real = {}, gepa.optimize
    monkeypatch.setattr(gepa, "optimize", lambda **how: seen.update(how) or real(**how))
    return seen


@pytest.mark.parametrize("reply", ["Look at the mark. IF chilled THEN amber seems", "```\ncut in the mid", "``````"])
def test_a_reply_without_a_whole_fence_never_becomes_a_candidate(tmp_path, reply):
    """Trap 3: the library adopts it verbatim. It is asked for once more, then the proposal is let go."""
    ran = fit(tmp_path, made("gepa"), transport=saying(reply))
    assert {ran.texts.get(row["state"]) for row in ran.rows["candidates"]} == {made("gepa").start(None).text}
    proposals = ran.transport.purposes()["propose"]
    assert proposals > 2
    assert proposals % 2 == 0
    assert f'"malformed_reply": {proposals}' in ran.rows["states"][-1]["rejections"]
    assert ran.state.version == 0


def test_a_cut_reply_is_no_candidate_even_with_a_fence(tmp_path):
    class Cut(Recorder):
        def complete(self, request, purpose, digest):
            from dataclasses import replace

            done = super().complete(request, purpose, digest)
            return replace(done, status="truncated", finish_reason="length") if purpose == "propose" else done

    ran = fit(tmp_path, made("gepa"), transport=Cut(simulated().inner))
    assert ran.state.version == 0


def test_rejected_candidates_are_rows_too(tmp_path):
    """They exist in callbacks only. A useless proposal is seldom better on its minibatch."""
    ran = fit(tmp_path, made("gepa"), transport=saying("```\nDo what seems best.\n```"))
    rows = ran.rows["candidates"]
    assert len(rows) == ran.transport.purposes()["propose"] + 2  # the seed, and the one picked
    rejected = [row for row in rows if not row["accepted"]]
    assert rejected
    assert all(row["items"] == 3 and 0 <= row["score"] <= 1 and "not better" in row["reason"] for row in rejected)
    assert [row["calls"] for row in rows] == sorted(row["calls"] for row in rows)


def test_reported_scores_are_the_means_of_validation_attempts(tmp_path, monkeypatch):
    """Trap 1: with the library's cache a candidate is given training scores for validation tasks."""
    played, real = [], Attempts.score

    def score(self, text, item):
        done = real(self, text, item)
        played.append((text, item.pool, done.score))
        return done

    monkeypatch.setattr(Attempts, "score", score)
    ran = fit(tmp_path, made("gepa"))
    for row in ran.rows["candidates"]:
        if row["accepted"] and row["items"] == 10:
            text = ran.texts.get(row["state"])
            scores = [value for shown, pool, value in played if (shown, pool) == (text, "select")]
            assert round(10 * row["score"]) in {sum(scores[i : i + 10]) for i in range(0, len(scores), 10)}


def test_the_library_gets_no_folder_no_cache_and_a_logger(tmp_path, asked):
    """Traps 1, 4, 6."""
    fit(tmp_path, made("gepa"))
    assert asked["run_dir"] is None
    assert asked["cache_evaluation"] is False
    assert asked["logger"] is not None
    assert asked["use_merge"] is True
    assert asked["max_merge_invocations"] == 5


def test_a_loop_that_spends_nothing_ends(tmp_path, asked):
    """Issue 46: a stopper on iterations, as time must not decide a result."""
    fit(tmp_path, made("gepa"))

    class Progress:
        i = 80

    assert asked["stop_callbacks"](Progress)
    Progress.i = 79
    assert not asked["stop_callbacks"](Progress)


def test_the_papers_budget():
    heavy = Gepa(Gepa.Settings(), Prompts())
    assert [heavy.budget(v) for v in (50, 100, 300)] == [1385, 1735, 3135]


def test_the_plain_budget_is_the_librarys(tmp_path, asked):
    fit(tmp_path, made("gepa", metric_calls=90), benchmark=world(val=5))
    assert asked["max_metric_calls"] == 90


def test_other_run_seeds_seed_the_library(tmp_path, asked):
    seeds = []
    for seed in (0, 1):
        fit(tmp_path / str(seed), made("gepa"), seed=seed)
        seeds.append(asked["seed"])
    assert seeds[0] != seeds[1]


def test_importing_the_method_imports_no_library():
    code = (
        "import sys, ace_bench.methods.optimizers.gepa_method, ace_bench.methods.optimizers.miprov2_method\n"
        "import ace_bench.methods.optimizers.bootstrap_method, ace_bench.methods.optimizers.textgrad_method\n"
        "print([m for m in ('gepa', 'dspy', 'textgrad', 'optuna', 'litellm') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
