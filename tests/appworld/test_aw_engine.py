"""The real engine on the generated root: scores, agreement with its own evaluation, lost worlds, ground truth out of reach."""

import json
import random
import subprocess
from dataclasses import replace

import pytest
from aw_tools import agent, appworld, block, gold, scored
from harness import method, run, simulated, stripped

from ace_bench.benchmarks.appworld import AppWorld, acting, figures, policy, pool
from ace_bench.benchmarks.appworld.acting import Acting, Rules
from ace_bench.benchmarks.appworld.pool import Seat
from ace_bench.data import appworld_setup
from ace_bench.llm.types import Reply
from ace_bench.protocols.frozen import frozen
from ace_bench.protocols.offline import offline

pytestmark = pytest.mark.appworld
DONE = "apis.supervisor.complete_task()"
WRONG = {"d4count_2": ("apis.supervisor.complete_task(answer=5)",), "e5send0_1": (DONE,), "f6crew0_2": ("x = 1", DONE)}
RULES = Rules(123, 100, 1000)


def whole(line, stream):
    return frozen(line, stream)


def test_the_gold_agent_has_full_marks_in_both_splits(tmp_path, root):
    benchmark = appworld(root, split="both")
    ran = run(tmp_path, method("base"), benchmark, transport=agent(benchmark), protocol=whole, workers=2)
    found = figures(scored(ran))
    for split in ("test_normal", "test_challenge"):
        part = found.parts[split]["all"]
        assert (part.tgc, part.sgc, part.tasks, part.scenarios) == (100.0, 100.0, 6, 2)
    assert (found.mean_two, found.mean_four, found.refused) == (100.0, 100.0, 0)


def test_a_planned_failure_gives_the_figures_worked_out_by_hand_and_those_of_the_engine(tmp_path, root):
    """normal: 5 of 6 tasks, 1 of 2 scenarios; challenge: 4 of 6, none. Mean of two 66.7 (66.65), of four 50.0."""
    benchmark = appworld(root, split="both")
    ran = run(tmp_path, method("base"), benchmark, transport=agent(benchmark, **WRONG), protocol=whole)
    found = figures(scored(ran))
    columns = {split: (part["all"].tgc, part["all"].sgc) for split, part in found.parts.items()}
    assert columns == {"test_normal": (83.3, 50.0), "test_challenge": (66.7, 0.0)}
    assert found.mean_four == 50.0
    assert found.mean_two == pytest.approx(66.65, abs=0.051)
    by_level = found.parts["test_normal"]
    assert [(by_level[f"difficulty_{d}"].tgc, by_level[f"difficulty_{d}"].sgc) for d in (1, 2, 3)] == [
        (100.0, 100.0), (66.7, 0.0), (None, None)
    ]  # fmt: skip
    scores = {row["sample"]: json.loads(row["scores"]) for row in scored(ran)}
    same_as_the_engine(benchmark, found, scores)


def same_as_the_engine(benchmark, found, scores):
    """The same blocks once more under one experiment name, and the engine's `evaluate_dataset` over it."""
    for sample in benchmark.samples("test"):
        with benchmark.pool.seat(sample.task.id) as seat:
            mine = Seat(seat.pool, seat.worker, "together")
            world = Acting(mine, sample.task.id, RULES)
            for code in WRONG.get(sample.task.id) or gold(sample.target):
                world.execute(code)
            seat.worker = mine.worker
    for split, part in found.parts.items():
        theirs = benchmark.pool.ask_grader("dataset", experiment="together", dataset=split)
        for task, report in theirs["individual"].items():
            assert scores[task]["tgc"] == report["success"]
            assert scores[task]["passes"] == len(report["passes"]) / report["num_tests"]
            assert scores[task]["difficulty"] == report["difficulty"]
        ours = [part[name] for name in ("all", "difficulty_1", "difficulty_2", "difficulty_3")]
        table = theirs["report"]
        assert [one.tgc or 0 for one in ours] == table["task_goal_completion"]
        assert [one.sgc or 0 for one in ours] == table["scenario_goal_completion"]
    benchmark.pool.ask_grader("forget", experiment="together")


def test_ace_runs_online_and_offline_with_and_without_ground_truth(tmp_path, root):
    benchmark = appworld(root)

    def adapted(line, stream):
        return offline(line, benchmark.samples("train"), (), stream, epochs=1, eval_every=100, select="last")

    for regime in ("gt", "execution"):
        for name, protocol in (("online", None), ("offline", adapted)):
            ran = run(
                tmp_path / f"{regime}-{name}", method("ace"), benchmark, transport=agent(benchmark, **WRONG), regime=regime,
                protocol=protocol,
            )  # fmt: skip
            found = figures(scored(ran)).parts["test_normal"]["all"]
            assert (found.tgc, found.sgc) == (83.3, 50.0)
            assert {"solve", "reflect", "curate"} <= ran.transport.purposes().keys()


def test_the_simulated_model_cannot_act_here(tmp_path, root):
    """It knows the forms of miniworld only: its base rate is 0, and every episode has its name for it."""
    ran = run(tmp_path, method("base"), appworld(root, steps=3), transport=simulated(), protocol=whole)
    found = figures(scored(ran)).parts["test_normal"]["all"]
    assert (found.tgc, found.sgc) == (0.0, 0.0)
    assert {row["outcome"] for row in scored(ran)} == {"unparsed"}


def test_the_number_of_worlds_changes_no_row(tmp_path, root):
    benchmark = appworld(root)
    runs = [
        run(tmp_path / str(n), method("base"), benchmark, transport=agent(benchmark), protocol=whole, workers=n)
        for n in (1, 2)
    ]
    assert stripped(runs[0].rows) == stripped(runs[1].rows)


@pytest.mark.parametrize("regime", ["execution", "none"])
def test_permuting_targets_changes_no_request(tmp_path, root, regime):
    def digests(path, shuffle):
        benchmark = appworld(root)
        transport = agent(benchmark, **WRONG)
        if shuffle:
            some = list(benchmark.samples("test"))
            targets = [s.target for s in some]
            random.Random(1).shuffle(targets)
            mixed = tuple(replace(s, target=t) for s, t in zip(some, targets, strict=True))
            benchmark.__dict__["_samples"] = {**benchmark._samples, "test": mixed}
        return run(path, method("ace"), benchmark, transport=transport, regime=regime).transport.digests()

    assert digests(tmp_path / "a", False) == digests(tmp_path / "b", True)


def episode(benchmark, *codes, sample=0, before=lambda step: None):
    """One episode with these blocks; `before` is called before each reply."""
    chosen, steps = benchmark.samples("test")[sample], iter(range(1000))

    def ask(purpose, messages):
        step = next(steps)
        before(step)
        return Reply(block(codes[min(step, len(codes) - 1)]), "ok")

    made = benchmark.solve("", chosen.task, ask)
    return made, benchmark.score(chosen, made), chosen


def test_ground_truth_is_told_under_gt_only(root):
    benchmark = appworld(root)
    made, score, sample = episode(benchmark, DONE)
    told = benchmark.observe(sample, made, score)
    assert "failed: assert exactly the one task was updated" in told.details
    assert "passed: assert answers match." in told.details
    assert "apis.todoist.update_task" in told.target
    assert told.environment == "The task was marked as completed."


def test_a_player_holds_no_ground_truth_and_no_key(root, monkeypatch):
    """Also when our policy is not there: neither under its root, nor through the package, nor in its environment."""
    monkeypatch.setattr(policy, "refusal", lambda code: None)
    monkeypatch.setenv("SOME_API_KEY", "secret-of-ours")
    monkeypatch.setattr(pool, "_pools", {})
    benchmark = appworld(root)
    task = benchmark.samples("test")[0].task.id
    made, _, _ = episode(
        benchmark,
        "import os, pathlib\nhere = pathlib.Path(os.environ['APPWORLD_ROOT'])\n"
        "print(sorted(p.name for p in here.rglob('*') if 'truth' in p.name or 'solution' in p.name), dict(os.environ))",
        f"from appworld.task import Task\nprint(Task.load('{task}').ground_truth)",
        DONE,
    )
    outputs = made.trace.split("Output:\n")
    assert outputs[1].startswith("[] {")
    assert "secret-of-ours" not in made.trace
    assert str(root) not in made.trace
    assert "The ground_truth directory" in outputs[2]
    assert "doesn't exist" in outputs[2]
    benchmark.pool.close()


def test_refused_blocks_are_told_counted_and_change_nothing(root):
    made, score, sample = episode(appworld(root), "import os\napis.supervisor.complete_task()", "x = 1", DONE)
    assert "Usage of the following is not allowed: os." in made.trace
    assert (score.named["refused"], made.world.steps) == (1.0, 3)
    said = appworld(root).observe(sample, made, score).environment
    assert "Blocks that were refused: 1 (os)." in said


def killer(benchmark, when):
    """Kills every engine process of the pool's players before the steps `when`."""

    def before(step):
        if step in when:
            for process in players(benchmark):
                process.kill()
                process.wait()

    return before


def players(benchmark):
    return [one.worker.process for one in SEATS if one.worker is not None]


SEATS: list[Seat] = []


@pytest.fixture
def seats(monkeypatch):
    """Every seat taken while the test runs."""
    SEATS.clear()
    plain = Seat.__init__

    def noted(self, *arguments):
        plain(self, *arguments)
        SEATS.append(self)

    monkeypatch.setattr(Seat, "__init__", noted)


STEPS = (
    "x = 41\nprint(apis.supervisor.show_profile())",
    "print(x + 1)\nprint(random.random())",
    DONE,
)


def test_a_lost_world_is_found_again_and_nothing_is_different(root, seats):
    benchmark = appworld(root)
    plain, _, _ = episode(benchmark, *STEPS)
    made, score, _ = episode(benchmark, *STEPS, before=killer(benchmark, {1, 2}))
    assert made.world.lost == 2
    assert made.trace == plain.trace
    assert (score.outcome, score.value) == ("wrong", 0.0)  # it did nothing, and that is what counts


def test_a_world_lost_too_often_is_an_error_without_a_score(root, seats):
    benchmark = appworld(root)
    made, score, sample = episode(benchmark, "x = 1", before=killer(benchmark, {1, 2, 3}))
    assert (made.status, score.value, score.outcome) == ("error", None, "error")
    assert made.trace == "The engine ended (signal 9)."
    assert benchmark.observe(sample, made, score).environment == "The environment was lost before the episode ended."
    assert episode(benchmark, *STEPS)[1].outcome == "wrong"  # the pool is whole again


def test_a_lost_grader_is_replaced(root):
    benchmark = appworld(root)
    episode(benchmark, DONE)
    benchmark.pool._grader.process.kill()
    assert episode(benchmark, DONE)[1].outcome == "wrong"


def test_code_that_runs_too_long_is_the_codes_own_doing(root, monkeypatch):
    """Once by the engine's clock, once in code that no signal interrupts: the world is put back before the block."""
    monkeypatch.setattr(acting, "_GRACE_S", 2)
    made, score, _ = episode(
        appworld(root, block_seconds=1), "x = 5", "while True: pass", "y = 3 ** (10 ** 9)", "print(x)", DONE
    )
    assert made.trace.count("Execution timed out after 1 seconds.") == 2
    assert "Output:\n5\n" in made.trace
    assert (made.world.lost, score.outcome) == (0, "wrong")


def test_memory_without_end_is_told_to_the_agent(root):
    made, score, _ = episode(appworld(root), "x = 'a' * (10 ** 11)", DONE)
    assert "MemoryError" in made.trace
    assert (made.world.lost, score.outcome) == (0, "wrong")


KNOBS = {"split": "test_challenge", "steps": 1, "output_chars": 100, "history_chars": 1000, "block_seconds": 1, "calls": 1,
         "world_seed": 5}  # fmt: skip
EFFORT = (
    "print(apis.supervisor.show_profile(), 'y' * 900)\napis.supervisor.show_profile()",
    "start = 0\nfor i in range(4 * 10 ** 7): start += i\nprint('slow')", "print(random.random())", "print(5)",
)  # fmt: skip


def effort(root, **settings):
    """What an agent that tries these blocks sees under the settings."""
    benchmark, seen = appworld(root, **{"steps": 4} | settings), []

    def ask(purpose, messages):
        seen.append(messages)
        return Reply(block(EFFORT[min(len(messages) // 2, 3)]), "ok")

    return benchmark.solve("", benchmark.samples("test")[0].task, ask).trace, seen


@pytest.fixture(scope="module")
def usual(root):
    return effort(root)


@pytest.mark.parametrize("knob", sorted(KNOBS))
def test_every_knob_changes_what_happens(root, usual, knob):
    assert set(KNOBS) == set(AppWorld.Settings.model_fields) - {"name", "root"}
    assert effort(root, **{knob: KNOBS[knob]}) != usual


def test_a_bundle_is_unpacked_whole_or_not_at_all(root, engine, tmp_path, monkeypatch):
    """Our root packed with the engine's own packer stands for the official bundle."""
    bundle = tmp_path / "small.bundle"
    pack = (
        "import sys; from appworld.common.constants import PASSWORD, SALT; from appworld.common.utils import pack_bundle; "
        "pack_bundle(sys.argv[1], sys.argv[2], ['data'], PASSWORD, SALT, include_license=False)"
    )
    variables = appworld_setup.environment(engine, tmp_path)
    subprocess.run([str(engine.python), "-c", pack, str(bundle), str(root)], env=variables, check=True)
    home, real = tmp_path / "home" / "appworld", appworld_setup.home()
    home.mkdir(parents=True)
    (home / "engine.json").write_text((real / "engine.json").read_text())
    for part in ("venv", "cache"):
        (home / part).symlink_to(real / part)
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path / "home"))
    with pytest.raises(appworld_setup.SetupError, match="3 tasks of train, not 90"):
        appworld_setup.setup_data(bundle)
    assert not (home / "root").exists()
    sizes = {"train": 3, "dev": 3, "test_normal": 6, "test_challenge": 6}
    unpacked = appworld_setup.setup_data(bundle, expected=sizes)
    assert appworld(unpacked).data_digest() == appworld(root).data_digest()
