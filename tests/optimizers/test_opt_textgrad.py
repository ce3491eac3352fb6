"""TextGrad: the traps of the library, one by one (docs/optimizers.md)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fits import fit, made, needs, world
from harness import PROMPTS, Recorder, simulated

from ace_bench.methods.optimizers import libraries
from ace_bench.methods.optimizers.textgrad_method import TextGrad

pytestmark = needs("textgrad")
HERE = Path(__file__).parent


def bridge():
    return libraries.bridge("textgrad_bridge")


def test_gradients_keep_the_order_they_came_in():
    """The library's sets are ordered by address; no two of its runs need have the same calls."""
    found = bridge().InsertionSet("cab")
    found.add("a")
    assert list(found) == ["c", "a", "b"]
    for name in ("variable", "optimizer.optimizer", "autograd.algebra"):
        assert sys.modules[f"textgrad.{name}"].set is bridge().InsertionSet
    assert "set" not in vars(sys.modules["textgrad.config"])
    variable = bridge().variable("text", False)
    assert isinstance(variable.gradients, bridge().InsertionSet)


@pytest.mark.parametrize("reply", ["A better prompt, without tags.", "<IMPROVED_VARIABLE>  </IMPROVED_VARIABLE>"])
def test_a_reply_without_a_prompt_changes_nothing(tmp_path, reply):
    """The library raises IndexError, or takes the empty text."""
    deaf = Recorder(simulated().inner, lambda purpose, text: reply if purpose == "propose" else text)
    ran = fit(tmp_path, made("textgrad"), transport=deaf)
    rewrites = ran.transport.purposes()["propose"]
    assert rewrites > 2
    assert f'"malformed_reply": {rewrites}' in ran.rows["states"][-1]["rejections"]
    assert ran.state.version == 0
    texts = {ran.texts.get(row["state"]) for row in ran.rows["candidates"]}
    assert texts == {made("textgrad").start(None).text}


@pytest.mark.slow
def test_no_logs_folder_and_no_network_switches_left_out(tmp_path):
    """It writes every prompt to ./logs at import, and imports litellm, which fetches a price list."""
    code = (
        f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]\n"
        "import fits, pathlib, os, logging\nos.environ.pop('LITELLM_LOCAL_MODEL_COST_MAP', None)\n"
        "fits.fit(pathlib.Path('run'), fits.made('textgrad'))\n"
        "print(os.environ['LITELLM_LOCAL_MODEL_COST_MAP'], os.environ.get('TEXTGRAD_LOG_DIR'), "
        "logging.getLogger('textgrad').handlers)"
    )
    env = {k: v for k, v in os.environ.items() if k not in ("LITELLM_LOCAL_MODEL_COST_MAP", "TEXTGRAD_LOG_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=tmp_path, check=True
    )
    assert done.stdout == "True None []\n"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


LONG = "First words of a long prompt. " + "Padding that nobody reads. " * 30 + "MIDDLE. " + "More padding here. " * 30


@pytest.mark.parametrize("whole", [False, True])
def test_the_optimizer_sees_ten_words_at_each_end_or_the_whole(tmp_path, whole):
    how = made("textgrad", full_value=whole, seed_prompt=LONG)
    ran = fit(tmp_path, how)
    first = next(messages for purpose, _, messages in ran.transport.seen if purpose == "propose")
    assert ("MIDDLE" in first[-1]["content"]) is whole
    assert f"full_value={whole}" in ran.rows["candidates"][-1]["reason"]


def test_calls_of_a_step(tmp_path):
    """3 attempts, 3 gradients, 1 rewrite, V on validation; a batch without an error gives no step."""
    ran = fit(tmp_path, made("textgrad", metric_calls=49))  # 10 + 3 * 13
    steps = ran.transport.purposes()["propose"]
    assert steps == 3
    assert ran.transport.purposes()["reflect"] == 3 * steps
    assert ran.transport.purposes()["solve"] - len(ran.rows["steps"]) == 49


def test_a_perfect_prompt_is_left_alone(tmp_path):
    ran = fit(tmp_path, made("textgrad"), benchmark=world(obvious=1.0, exceptions=0.0), transport=simulated(prior=1.0))
    assert ran.transport.purposes()["propose"] == 0
    assert ran.state.version == 0


def test_a_worse_prompt_is_undone(tmp_path):
    """The next gradient is of the prompt before it."""
    turns = iter(["GOOD", "BAD", "LATER", "LATER", "LATER", "LATER"])
    seen: list[str] = []

    class Turning(Recorder):
        def complete(self, request, purpose, digest):
            from dataclasses import replace

            done = super().complete(request, purpose, digest)
            if purpose == "propose":
                seen.append(request.messages[-1]["content"])
                return replace(done, text=f"<IMPROVED_VARIABLE>{next(turns)}</IMPROVED_VARIABLE>")
            return done

    bench = world(train=3, val=4)
    real = bench.score
    told = {"GOOD": 0.5, "BAD": 0.0, "LATER": 0.25}
    contexts: dict[str, str] = {}
    solve = bench.solve

    def noting(context, task, ask):
        contexts[task.id] = context
        return solve(context, task, ask)

    def scored(sample, episode):
        from dataclasses import replace

        value = told.get(contexts[sample.task.id], 0.25)
        return replace(real(sample, episode), value=value, correct=False)

    bench.solve, bench.score = noting, scored
    ran = fit(tmp_path, made("textgrad", metric_calls=35), benchmark=bench, transport=Turning(simulated().inner))
    rows = ran.rows["candidates"]
    assert [row["accepted"] for row in rows[:4]] == [True, True, False, False]
    assert "<VARIABLE> GOOD </VARIABLE>" in seen[2]
    assert ran.state.text == "GOOD"


def test_the_papers_budget():
    how = TextGrad(TextGrad.Settings(), PROMPTS)
    assert how.budget(30) == 30 + 12 * 33
