"""Whole runs through the protocol, with the sandbox: gold, empty, failing and simulated agents."""

import random
from dataclasses import replace

import pytest
from harness import method, run, simulated, stripped
from mini_tools import agent, miniworld

from ace_bench.benchmarks.completion import goal_completion
from ace_bench.benchmarks.miniworld import Miniworld
from ace_bench.benchmarks.sandbox import Sandbox, SandboxLost
from ace_bench.experiment import plugins
from ace_bench.llm.types import Reply
from ace_bench.protocols.frozen import frozen


def scored(ran):
    return [row for row in ran.rows["steps"] if row["phase"] == "score"]


@pytest.mark.parametrize("split", ["test_normal", "test_challenge"])
def test_the_gold_agent_has_full_marks(tmp_path, split):
    benchmark = miniworld(split=split)
    ran = run(tmp_path, method("base"), benchmark, transport=agent(benchmark))
    found = goal_completion(scored(ran))
    assert (found.tgc, found.sgc) == (100.0, 100.0)
    assert {row["outcome"] for row in scored(ran)} == {"right"}
    assert len(ran.rows["calls"]) == 2 * found.tasks


def test_the_empty_agent_has_none(tmp_path):
    benchmark = miniworld(steps=3)
    ran = run(tmp_path, method("base"), benchmark, transport=agent(benchmark, silent=True))
    found = goal_completion(scored(ran))
    assert (found.tgc, found.sgc) == (0.0, 0.0)
    assert {row["outcome"] for row in scored(ran)} == {"unparsed"}
    assert len(ran.rows["calls"]) == 3 * found.tasks


def test_a_planned_failure_gives_the_figures_worked_out_by_hand(tmp_path):
    benchmark = miniworld(split="test_challenge")
    ran = run(tmp_path, method("base"), benchmark, transport=agent(benchmark, fails=("finish-list_2",)))
    found = goal_completion(scored(ran))
    assert (found.tgc, found.sgc) == (83.3, 50.0)


def test_a_frozen_pass_in_threads_gives_the_same_rows(tmp_path):
    runs = [
        run(tmp_path / str(n), method("base"), benchmark, transport=agent(benchmark), workers=n,
            protocol=lambda line, stream: frozen(line, stream))
        for n in (1, 4) for benchmark in [miniworld()]
    ]  # fmt: skip
    assert stripped(runs[0].rows) == stripped(runs[1].rows)


def simulated_run(path, name, regime="gt", **parameters):
    fixed = {"use": 1.0, "reflect": 1.0, "malformed": 0.0} | parameters
    return run(path, method(name), miniworld(), transport=simulated(**fixed), regime=regime)


@pytest.mark.parametrize(("prior", "tgc"), [(1.0, 0.0), (0.0, 100.0)])
def test_the_simulated_agent_has_a_known_base_rate(tmp_path, prior, tgc):
    assert goal_completion(scored(simulated_run(tmp_path, "base", prior=prior))).tgc == tgc


def test_a_lesson_makes_the_simulated_agent_right(tmp_path):
    """Three cues in test_normal, each met first without a lesson: 3 of 9 tasks fail, one in each scenario."""
    ran = simulated_run(tmp_path, "ace", prior=1.0)
    found = goal_completion(scored(ran))
    assert (found.tgc, found.sgc) == (66.7, 0.0)
    assert [row["score"] for row in scored(ran) if row["first"]] == [0.0] * 3
    assert all(row["used"] != "[]" for row in scored(ran) if row["score"])  # it names the lesson it went by


def test_execution_feedback_alone_does_not_tell_that_an_amount_was_cents(tmp_path):
    assert goal_completion(scored(simulated_run(tmp_path, "ace", "execution", prior=1.0))).tgc == 0.0


@pytest.mark.parametrize("regime", ["execution", "none"])
def test_permuting_targets_changes_no_request(tmp_path, regime):
    def digests(path, shuffle):
        benchmark = miniworld()
        if shuffle:
            some = list(benchmark.samples("test"))
            targets = [s.target for s in some]
            random.Random(1).shuffle(targets)
            mixed = tuple(replace(s, target=t) for s, t in zip(some, targets, strict=True))
            benchmark.__dict__["_samples"] = {**benchmark._samples, "test": mixed}
        return run(path, method("ace"), benchmark, transport=simulated(), regime=regime).transport.digests()

    assert digests(tmp_path / "a", False) == digests(tmp_path / "b", True)


def test_a_lost_interpreter_is_an_error_without_a_score(monkeypatch):
    def lost(self, code):
        raise SandboxLost("The sandboxed interpreter was killed from outside (signal 9).")

    monkeypatch.setattr(Sandbox, "execute", lost)
    benchmark = miniworld()
    [sample, *_] = benchmark.samples("test")
    episode = benchmark.solve("", sample.task, lambda *a, **k: Reply("```python\nx\n```", "ok"))
    assert (episode.status, benchmark.score(sample, episode).value) == ("error", None)


def test_code_that_breaks_its_limits_is_a_wrong_answer_with_a_message():
    benchmark = miniworld(steps=2, cpu_seconds=1)
    [sample, *_] = benchmark.samples("test")
    episode = benchmark.solve("", sample.task, lambda *a, **k: Reply("```python\nwhile True: pass\n```", "ok"))
    score = benchmark.score(sample, episode)
    assert (score.value, score.outcome) == (0.0, "wrong")
    assert episode.trace.count("used up its 1 seconds of processor time") == 2
    assert benchmark.observe(sample, episode, score).environment == (
        "The task was not marked as completed; 2 of 2 steps were taken.\n"
        "The interpreter broke its limits and was restarted: 2 times."
    )


# For each knob another value, and the code on which it makes a difference.
SHOW = "print(apis.supervisor.show_profile(), 'x' * 1500)"
KNOBS = {
    "world": (1, SHOW), "split": ("test_challenge", SHOW), "copies": (2, SHOW), "steps": (1, SHOW),
    "output_chars": (100, SHOW), "history_chars": (1000, SHOW), "memory_mb": (128, "x = bytearray(150 * 2**20)"),
    "block_seconds": (0.3, "import time\nnap = time.sleep\nnap(0.6)"),
    "cpu_seconds": (1, "import time\nwhile time.process_time() < 1.3: pass"),
    "calls": (1, "for _ in range(2): apis.docs.show_app_descriptions()"),
}  # fmt: skip


@pytest.mark.parametrize("knob", KNOBS)
def test_every_knob_changes_what_happens(knob):
    assert set(KNOBS) == set(Miniworld.Settings.model_fields) - {"name"}
    value, code = KNOBS[knob]

    def outcome(**settings):
        benchmark, seen = miniworld(**{"steps": 2 if code is not SHOW else 5} | settings), []

        def ask(purpose, messages):
            seen.append(messages)
            return Reply(f"```python\n{code if len(seen) == 1 else 'print(5)'}\n```", "ok")

        samples = benchmark.samples("test")
        return len(samples), benchmark.solve("", samples[0].task, ask).trace, seen

    assert outcome(**{knob: value}) != outcome()


def test_it_is_registered_with_a_config():
    assert plugins.load("benchmarks", "miniworld").Settings(name="miniworld") == miniworld().settings
