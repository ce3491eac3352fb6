"""MIPROv2 and BootstrapFewShot: the traps of dspy, one by one (docs/optimizers.md)."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fits import fit, made, needs, world
from harness import Recorder, simulated

from ace_bench.methods.optimizers import extras, libraries, miprov2_method
from ace_bench.methods.optimizers.base import FitError
from ace_bench.methods.optimizers.miprov2_method import MiproV2

pytestmark = needs("miprov2")
HERE = Path(__file__).parent


def bridge():
    return libraries.bridge("dspy_bridge")


@pytest.fixture
def asked(monkeypatch):
    """What the optimizer was made with, and compiled with."""
    dspy, seen = bridge().dspy, {}

    class Spy(dspy.MIPROv2):
        def __init__(self, **how):
            seen["made"] = how
            super().__init__(**how)

        def compile(self, program, **how):
            seen["compiled"] = how
            return super().compile(program, **how)

    monkeypatch.setattr(dspy, "MIPROv2", Spy)
    return seen


def shown(ran, purpose="propose"):
    return [m["content"] for asked, _, messages in ran.transport.seen if asked == purpose for m in messages]


def test_the_seed_goes_into_the_constructor(tmp_path, asked):
    """Trap 1: compile(seed=0) is ignored."""
    seeds = []
    for seed in (0, 1):
        fit(tmp_path / str(seed), made("miprov2"), seed=seed)
        assert "seed" not in asked["compiled"]
        seeds.append(asked["made"]["seed"])
    assert seeds[0] != seeds[1]


def test_one_thread_and_the_first_error_ends_it(tmp_path, asked):
    """Traps 2 and 3."""
    fit(tmp_path, made("miprov2"))
    assert asked["made"]["num_threads"] == 1
    assert asked["made"]["max_errors"] == 1


class Fake:
    """A run that answers with the number of the call."""

    def __init__(self):
        self.calls = []

    def ask(self, purpose, messages):
        from ace_bench.llm.types import Reply

        self.calls.append((purpose, messages))
        return Reply(f"reply {len(self.calls)}", "ok")


def test_equal_prompts_with_other_rollouts_are_other_calls():
    """dspy's rollout_id never reaches an engine; no cache of dspy's may answer in our place."""
    run = Fake()
    lm = bridge().language_model(run)
    replies = [lm.copy(rollout_id=i, temperature=1.0)("the same prompt") for i in (1, 2, 2)]
    assert len(run.calls) == 3
    assert len({str(reply) for reply in replies}) == 3
    assert {purpose for purpose, _ in run.calls} == {"propose"}


def test_repeated_prompts_of_a_fit_get_draws_of_their_own(tmp_path):
    ran = fit(tmp_path, made("miprov2"))
    assert len({digest for _, digest, _ in ran.transport.seen}) == len(ran.transport.seen)


def test_the_prompt_model_is_told_questions_and_no_more(tmp_path):
    """Traps 4 and 5: whole examples go into its prompt, and by default the program's source."""
    ran = fit(tmp_path, made("miprov2"))
    told = "\n".join(shown(ran))
    assert "A parcel of" in told
    for word in ("train-0000", "val-0000", "ContextProgram", "class ", "Item(", "pool"):
        assert word not in told, word


def test_zero_demos_still_bootstrap_and_are_counted(tmp_path):
    """Trap 6: attempts that look for demos are metric calls of ours too."""
    ran = fit(tmp_path, made("miprov2", max_labeled_demos=0))
    assert ran.transport.purposes()["solve"] - len(ran.rows["steps"]) <= 100
    adapt = [
        c for c in ran.rows["calls"] if c["purpose"] == "solve" and c["phase"] == "adapt" and c["call_phase"] == "adapt"
    ]
    assert adapt


@pytest.mark.parametrize("calls", [50, 77, 100, 131])
def test_the_call_count_is_never_passed(tmp_path, calls):
    """Trap 8: the library has no cap. What a cut leaves is a row, and the best program so far is picked."""
    ran = fit(tmp_path, made("miprov2", metric_calls=calls))
    assert ran.transport.purposes()["solve"] - len(ran.rows["steps"]) <= calls
    last = ran.rows["candidates"][-1]
    assert ran.texts.get(last["state"]) == ran.state.render()
    full = [row for row in ran.rows["candidates"][:-1] if row["items"] == 10 and row["accepted"]]
    assert last["score"] == max(row["score"] for row in full)


def test_a_cut_trial_is_a_row_and_decides_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(miprov2_method, "plan", lambda calls, validation: (9, 4, 10))  # more trials than fit
    ran = fit(tmp_path, made("miprov2", metric_calls=60))
    assert ran.transport.purposes()["solve"] - len(ran.rows["steps"]) == 60
    cut = [row for row in ran.rows["candidates"] if "cut" in row["reason"]]
    assert [row["accepted"] for row in cut] == [False]


@pytest.mark.parametrize(("validation", "calls", "trials"), [(30, 150, 3), (10, 100, 7), (10, 50, 3)])
def test_the_plan_of_a_plain_count(validation, calls, trials):
    assert miprov2_method.plan(calls, validation)[0] == trials


def test_heavy_is_the_librarys_own_setting(tmp_path, asked):
    """9 instructions and 18 demo sets, 27 trials: with V <= 50, 28V attempts on validation."""
    ran = fit(tmp_path, made("miprov2", metric_calls="heavy"), benchmark=world(val=6))
    assert asked["made"]["auto"] == "heavy"
    assert sum("instruction proposed" in row["reason"] for row in ran.rows["candidates"]) == 9
    evaluated = [row for row in ran.rows["candidates"][:-1] if row["items"] == 6]
    assert len(evaluated) == 28
    assert f"{28 * 6} evaluation calls by its count" in ran.rows["candidates"][-1]["reason"]


@pytest.mark.slow
def test_heavy_beyond_fifty_tasks_tries_on_minibatches(tmp_path):
    ran = fit(tmp_path, made("miprov2", metric_calls="heavy"), benchmark=world(val=80))
    rows = ran.rows["candidates"][:-1]
    assert sum(row["items"] == 35 and not row["accepted"] for row in rows) == 27
    assert sum(row["items"] == 80 for row in rows) == 7
    assert f"{945 + 7 * 80} evaluation calls by its count" in ran.rows["candidates"][-1]["reason"]


def test_unreadable_proposals_cost_a_proposal_and_not_the_fit(tmp_path):
    """dspy asks again as JSON, then fails; the basic instruction takes the place, and the row says how many."""
    deaf = Recorder(simulated().inner, lambda purpose, reply: "no" if purpose == "propose" else reply)
    ran = fit(tmp_path, made("miprov2"), transport=deaf)
    assert not any("instruction proposed" in row["reason"] for row in ran.rows["candidates"])
    assert "malformed_reply" in ran.rows["states"][-1]["rejections"]
    assert ran.state.render().startswith(made("miprov2").start(None).text)


def test_demos_are_right_attempts_and_known_answers(tmp_path):
    bench = world()
    truth = {sample.task.input: sample.target for sample in bench.samples("train")}
    text = fit(tmp_path, made("bootstrap_fewshot"), benchmark=bench).state.render()
    demos = text.split("## Example ")[1:]
    assert len(demos) == 16
    for demo in demos:
        task = demo.split("Attempt at: ")[1].split("\nAnswer given: ")[0]
        assert demo.strip().endswith(f"Feedback: The right answer is: {truth[task]}")


def test_under_outcome_only_right_attempts_make_demos(tmp_path):
    bench = world()
    truth = {sample.task.input: sample.target for sample in bench.samples("train")}
    text = fit(tmp_path, made("bootstrap_fewshot"), benchmark=bench, regime="outcome").state.render()
    demos = text.split("## Example ")[1:]
    assert 1 <= len(demos) <= 4
    for demo in demos:
        task = demo.split("Attempt at: ")[1].split("\nAnswer given: ")[0]
        assert demo.strip().endswith(truth[task])


def test_copies_of_a_program_share_one_count():
    from ace_bench.methods.optimizers.player import Player

    player = Player(None)
    program = bridge().ContextProgram(player, "seed")
    assert program.deepcopy().predict.player is player
    assert copy.deepcopy(player) is player


def test_optuna_is_asked_for_before_anything_is_paid(monkeypatch):
    """Without it compile fails only after bootstrapping and proposing."""
    real = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "optuna" else real(name))
    assert 'pip install "ace-bench[dspy]"' in MiproV2.missing()


def test_no_cache_folder_and_no_litellm(tmp_path):
    """Trap 7: dspy keeps up to 30 GB in the home folder by default."""
    code = (
        f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]\n"
        "import fits, pathlib\nfits.fit(pathlib.Path('run'), fits.made('miprov2'))\nprint('litellm' in sys.modules)"
    )
    home = tmp_path / "home"
    home.mkdir()
    env = {**os.environ, "HOME": str(home)}
    env.pop("DSPY_CACHEDIR", None)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=tmp_path, check=True
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
    assert not [path for path in home.rglob("*") if path.is_file()]
    assert not bridge().dspy.cache.enable_disk_cache
    assert not bridge().dspy.cache.enable_memory_cache


def test_too_small_counts_say_what_would_do():
    with pytest.raises(FitError, match=r"Give method.metric_calls=150 or more"):
        miprov2_method.plan(149, 30)
