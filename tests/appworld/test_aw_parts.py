"""Policy, data root, figures, client and replay, without the engine: a script in its place for the faults."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ace_bench.benchmarks.appworld import AppWorld, client, figures, pool
from ace_bench.benchmarks.appworld.acting import RETRIES, Acting, Rules
from ace_bench.benchmarks.appworld.client import TimedOut, Worker, WorldLost
from ace_bench.benchmarks.appworld.policy import refusal
from ace_bench.benchmarks.appworld.pool import Seat
from ace_bench.benchmarks.appworld.tasks import RootError, read_split
from ace_bench.cli import app
from ace_bench.data import appworld_setup
from ace_bench.data.appworld_setup import Engine
from ace_bench.experiment import plugins
from ace_bench.prompts import Prompts

REFUSED = {
    "import os": "os", "import os.path as p": "os.path", "from os import environ": "os", "import json, pathlib": "pathlib",
    "from pathlib import Path": "pathlib", "from appworld.task import Task": "appworld", "import appworld as a": "appworld",
    "x = __import__('os')": "__import__", "open('x')": "open", "eval('1')": "eval", "exec('1')": "exec",
    "builtins.open('x')": "builtins.open", "builtins.getattr(x, y)": "builtins.getattr", "random._os.environ": "_os",
    "().__class__": "__class__", "getattr(random, '_o' + 's')": "getattr", "getattr(random, '_os')": "getattr",
    "calendar.sys.modules": "sys", "from random import _os": "_os", "vars(random)": "vars", "globals()": "globals",
    "get_ipython().system('ls')": "get_ipython", "ApiCollection.load()": "ApiCollection",
    "def f():\n    for i in []:\n        import os": "os", "x = '\\ud800'\ny = '\ud800'": "code that no parser reads",
    "x\0": "code that no parser reads", "(" * 5000 + ")" * 5000: None,
}  # fmt: skip
ALLOWED = (
    "apis.todoist.show_tasks(project_id=1)", "import json, re, datetime", "getattr(apis, app).login()", "re.compile('a')",
    "getattr(apis.venmo, name)(access_token=token)", "getattr(x, 'title', None)", "def f(:", "print(1)", "", "%ls",
    "if __name__ == '__main__':\n    print(1)", "for os_name in []: pass", "from collections import defaultdict",
)  # fmt: skip


@pytest.mark.parametrize("code", REFUSED)
def test_blocks_that_reach_out_are_refused(code):
    if REFUSED[code] is None:  # which of the two it is depends on Python; it must not raise
        assert refusal(code) in (None, "code that no parser reads")
    else:
        assert refusal(code) == REFUSED[code]


@pytest.mark.parametrize("code", ALLOWED)
def test_ordinary_blocks_are_not(code):
    assert refusal(code) is None


def row(sample, score, difficulty, challenge=0, refused=0):
    scores = {"difficulty": difficulty, "challenge": challenge, "refused": refused}
    return {"sample": sample, "group": sample.split("_")[0], "score": score, "scores": json.dumps(scores)}


def scenario(name, values, difficulty, challenge=0):
    return [row(f"{name}_{n}", value, difficulty, challenge) for n, value in enumerate(values, 1)]


def test_figures_by_hand():
    rows = [*scenario("a", (1, 1, 1), 1), *scenario("b", (1, 1, 0), 2), *scenario("c", (1, 1, 1), 2, 1),
            *scenario("d", (0, None, 1), 3, 1), *scenario("e", (1, 1, 1), 3, 1)]  # fmt: skip
    found = figures(rows)
    told = {(s, p): (c.tgc, c.sgc) for s, parts in found.parts.items() for p, c in parts.items()}
    assert told == {
        ("test_normal", "all"): (83.3, 50.0), ("test_normal", "difficulty_1"): (100.0, 100.0),
        ("test_normal", "difficulty_2"): (66.7, 0.0), ("test_normal", "difficulty_3"): (None, None),
        ("test_challenge", "all"): (77.8, 66.7), ("test_challenge", "difficulty_1"): (None, None),
        ("test_challenge", "difficulty_2"): (100.0, 100.0), ("test_challenge", "difficulty_3"): (66.7, 50.0),
    }  # fmt: skip
    assert found.mean_four == pytest.approx((83.3 + 50 + 77.8 + 66.7) / 4, abs=0.051)
    assert found.parts["test_challenge"]["all"].errors == 1


def test_an_unknown_column_makes_its_mean_unknown():
    found = figures(scenario("a", (1, 1, 1), 1))
    assert (found.mean_two, found.mean_four) == (100.0, None)


def test_refused_blocks_are_summed():
    assert figures([row("a_1", 1, 1, refused=2), row("a_2", 1, 1, refused=1)]).refused == 3


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.fixture
def tree(tmp_path):
    data = tmp_path / "data"
    write(data / "datasets" / "train.txt", "abc1234_2:tag\n\nabc1234_1\n")
    asker = {"first_name": "A", "last_name": "B", "email": "a@b.c", "phone_number": "1"}
    for n in (1, 2):
        task = data / "tasks" / f"abc1234_{n}"
        write(task / "specs.json", {"instruction": f"Do {n}.", "supervisor": asker})
        write(task / "ground_truth" / "metadata.json", {"difficulty": n})
        write(task / "ground_truth" / "answer.json", 4.5)
    write(
        data / "tasks" / "abc1234_1" / "ground_truth" / "compiled_solution.py",
        "def solution(apis, requester):\n    pass\n",
    )
    return tmp_path


def test_a_split_in_file_order(tree):
    two, one = read_split(tree, "train")
    assert (one.id, one.scenario, one.difficulty, one.answer) == ("abc1234_1", "abc1234", 1, 4.5)
    assert (two.id, two.solution) == ("abc1234_2", None)
    assert two.text == "My name is A B, my email address is a@b.c and my phone number is 1.\n\nDo 2."
    assert one.solution.startswith("def solution")


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("datasets/train.txt", None, "ace-bench data setup appworld"),
        ("datasets/train.txt", "abc", "names a task 'abc'"),
        ("tasks/abc1234_1/specs.json", None, "is missing"),
        ("tasks/abc1234_1/specs.json", "{", "is damaged"),
    ],
)
def test_a_broken_root_is_told(tree, file, text, sentence):
    path = tree / "data" / file
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(RootError, match=sentence):
        read_split(tree, "train")


def test_without_the_engine_the_way_to_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path))
    assert (
        AppWorld.missing(AppWorld.Settings())
        == "The engine of AppWorld is not set up; run: ace-bench data setup appworld"
    )
    with pytest.raises(RootError, match="not set up"):
        AppWorld(AppWorld.Settings(), Prompts())
    with pytest.raises(appworld_setup.SetupError, match="needed to unpack"):
        appworld_setup.setup_data(tmp_path / "x")


def test_with_the_engine_alone_the_tasks_are_missing(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(appworld_setup, "engine", lambda: appworld_setup.Engine(tmp_path, tmp_path))
    said = AppWorld.missing(AppWorld.Settings())
    assert said.startswith(
        f"There is no {tmp_path / 'home' / 'appworld' / 'root' / 'data' / 'datasets' / 'train.txt'}."
    )
    for split in ("dev", "test_normal"):
        assert f"{split}.txt" in AppWorld.missing(AppWorld.Settings(root=tree))
        (tree / "data" / "datasets" / f"{split}.txt").write_text("")
    assert AppWorld.missing(AppWorld.Settings(root=tree)) is None
    assert "test_challenge.txt" in AppWorld.missing(AppWorld.Settings(root=tree, split="both"))


def test_another_pin_is_another_engine(tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path))
    write(tmp_path / "appworld" / "venv" / "bin" / "python", "")
    write(tmp_path / "appworld" / "engine.json", {"pinned": list(appworld_setup.PINNED)})
    assert appworld_setup.engine() is not None
    write(tmp_path / "appworld" / "engine.json", {"pinned": ["appworld==0.1.2"]})
    assert appworld_setup.engine() is None


def test_a_failed_installation_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path))
    with pytest.raises(appworld_setup.SetupError, match="cannot be run"):
        appworld_setup.setup_engine(python=str(tmp_path / "none"))
    with pytest.raises(appworld_setup.SetupError, match="ended with exit code 1"):
        appworld_setup.setup_engine(python="false")
    assert appworld_setup.engine() is None


@pytest.mark.parametrize("named", ["0", "-1", "two"])
def test_the_number_of_worlds_is_checked(monkeypatch, named):
    monkeypatch.setenv(pool.WORLDS, named)
    with pytest.raises(ValueError, match="whole number"):
        pool._size()


def cli(*words):
    done = CliRunner().invoke(app, ["data", "setup", *words])
    return done.exit_code, done.output


def test_the_command_line_tells_what_it_did_and_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(appworld_setup, "setup_engine", lambda say, python: say("ready"))
    assert cli("venmo") == (2, "ace-bench: There is nothing to set up for 'venmo'. Known: appworld.\n")
    code, said = cli("appworld", "--root", str(tmp_path))
    assert code == 0
    assert said.startswith("ready\nThe official tasks are not here. There is no")
    write(tmp_path / "appworld" / "data-0.1.0.bundle", "short")
    code, said = cli("appworld", "--root", str(tmp_path))
    assert code == 2
    assert "is not the official bundle: it has 5 bytes and should have 34,280,074" in said


def test_it_is_registered():
    assert plugins.load("benchmarks", "appworld") is AppWorld


DOUBLE = """
import json, sys, os, time
print(json.dumps({"ok": "double"}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("code", asked["op"]):
        case "die": os._exit(3)
        case "hang": time.sleep(60)
        case "junk": print("no json", flush=True)
        case "fail": print(json.dumps({"error": "KeyError: 'x'"}), flush=True)
        case "env": print(json.dumps({"ok": sorted(os.environ)}), flush=True)
        case code: print(json.dumps({"ok": "x" * 300_000 if code == "much" else {"asked": asked}}), flush=True)
"""


@pytest.fixture
def double(tmp_path, monkeypatch):
    """Starts a worker whose engine is a script of ours."""
    script = tmp_path / "double.py"
    script.write_text(DOUBLE)
    monkeypatch.setattr(client, "_SCRIPT", script)
    made = []

    def start():
        made.append(Worker(Engine(Path(sys.executable), tmp_path), tmp_path, tmp_path / "log.txt"))
        return made[-1]

    yield start
    for worker in made:
        worker.kill()


@pytest.mark.parametrize(
    ("op", "sentence"),
    [
        ("die", r"The engine ended \(exit code 3\)\."), ("junk", "no message"), ("hang", "no answer in time"),
        ("fail", "The engine failed: KeyError: 'x'"),
    ],
)  # fmt: skip
def test_every_fault_is_a_lost_world(double, op, sentence):
    with pytest.raises(WorldLost, match=sentence):
        double().ask(op, 0.5 if op == "hang" else 20)


def test_a_worker_answers_and_gets_nothing_of_our_environment(double, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "x")
    worker = double()
    assert worker.ask("open", 20, task="t", seconds=3)["asked"] == {"op": "open", "task": "t", "seconds": 3}
    assert len(worker.ask("much", 20)) == 300_000
    assert "SOME_API_KEY" not in worker.ask("env", 20)
    worker.kill()
    with pytest.raises(WorldLost, match="ended"):
        worker.ask("open", 20)


def test_an_engine_that_is_not_there_is_a_lost_world(tmp_path):
    with pytest.raises(WorldLost, match="cannot be started"):
        Worker(Engine(tmp_path / "none", tmp_path), tmp_path, tmp_path / "log.txt")


class Scripted(Seat):
    """A seat whose world counts blocks and dies at the calls numbered in `dies`; `drifts`: it says other things later."""

    def __init__(self, dies=(), drifts=False, late=()):
        self.experiment, self.calls, self.blocks, self.opened = "e", 0, 0, 0
        self.dies, self.drifts, self.late = dies, drifts, late

    def ask(self, op, wait_s, /, **arguments):
        self.calls += 1
        if self.calls in self.dies:
            raise WorldLost("gone")
        if self.calls in self.late:
            raise TimedOut("late")
        if op == "open":
            self.blocks, self.opened = 0, self.opened + 1
            return None
        self.blocks += 1
        said = f"{arguments['code']}{self.blocks}{self.opened if self.drifts else ''}"
        return {"output": said, "completed": arguments["code"] == "done", "answer": None}


def acting(seat):
    return Acting(seat, "t", Rules(1, 7, 1000))


def test_a_lost_world_is_replayed_and_the_block_run_again():
    world = acting(seat := Scripted(dies={4}))
    assert [world.execute(code) for code in ("a", "b", "c")] == ["a1", "b2", "c3"]
    assert (world.lost, seat.opened, seat.calls) == (1, 2, 8)


def test_worlds_lost_too_often_end_the_episode():
    world = acting(Scripted(dies={2, 3, 4}))
    with pytest.raises(WorldLost, match="gone"):
        world.execute("a")
    assert world.lost == RETRIES + 1


def test_a_replay_that_differs_is_a_loss_too():
    world = acting(Scripted(dies={3}, drifts=True))
    world.execute("a")
    with pytest.raises(WorldLost, match="said something else"):
        world.execute("b")


def test_a_block_without_end_is_told_and_the_world_put_back():
    world = acting(seat := Scripted(late={3}))
    assert world.execute("a") == "a1"
    assert world.execute("b") == "Execution failed. Traceback:\nExecution timed out after 7 seconds."
    assert world.execute("done") == "done2"
    assert (world.lost, world.completed, seat.opened) == (0, True, 2)
    assert world.failures == ["Execution timed out after 7 seconds."]


def test_an_engine_that_hangs_while_opening_is_lost():
    with pytest.raises(WorldLost):
        acting(Scripted(late={1, 2, 3}))
    assert acting(Scripted(late={1})).lost == 1
