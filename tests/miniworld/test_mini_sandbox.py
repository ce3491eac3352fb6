"""Code that means harm, and what became of it. Every try goes round the refusal of names, to meet the kernel's limits."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ace_bench.benchmarks import sandbox_filter
from ace_bench.benchmarks.sandbox import CallFailed, Limits, Sandbox, SandboxLost, SandboxUnavailable

OS = "import random\nos = random._os\n"
NOT = "PermissionError: [Errno 1] Operation not permitted"
GONE = " The interpreter was restarted; its variables are gone."
DROPPED = "[99990000 more characters were printed and dropped]"
# What was tried, the code, and the last line that came back. docs/miniworld.md shows the same table.
TRIES = {
    "fork bomb": (OS + "while True:\n    os.fork()", NOT),
    "thread bomb": (
        OS + "while True:\n    os.sys.modules['_thread'].start_new_thread(print, ())", "RuntimeError: can't start new thread"
    ),
    "memory bomb": ("x = []\nwhile True:\n    x.append(bytearray(10**7))", "MemoryError: "),
    "endless loop": ("while True:\n    pass", "Exception: Execution used up its 1 seconds of processor time." + GONE),
    "sleeping for ever": ("import time\nnap = time.sleep\nnap(1000)", "Exception: Execution timed out after 3 seconds." + GONE),
    "file write": (OS + "os.open('PLACE', os.O_WRONLY | os.O_CREAT)", NOT + ": 'PLACE'"),
    "file read": (OS + "os.open('/etc/passwd', 0)", NOT + ": '/etc/passwd'"),
    "socket": ("__import__('socket').socket()", "ModuleNotFoundError: No module named 'socket'"),
    "running a program": (OS + "os.execv('/bin/true', ['true'])", NOT),
    "reading the answer in the parent's memory": (OS + "os.open('/proc/PARENT/mem', 0)", NOT + ": '/proc/PARENT/mem'"),
    "reading the answer in our code": (OS + "os.listdir('PACKAGE')", NOT + ": 'PACKAGE'"),
    "import of ace_bench": ("__import__('ace_bench')", "ModuleNotFoundError: No module named 'ace_bench'"),
    "looking for ace_bench among the modules": (OS + "print([m for m in os.sys.modules if 'ace_bench' in m])", "[]"),
    "printing 100 MB": ("for _ in range(100):\n    print('x' * (10**6 - 1))", DROPPED),
    "killing another process": (OS + "os.kill(VICTIM, 9)", NOT),
    "finding the parent": (OS + "os.kill(os.getppid(), 0)", NOT),
    "leaving": (OS + "os._exit(0)", "Exception: The interpreter ended (exit code 0)." + GONE),
    "crashing": (
        OS + "os.sys.modules['ctypes'].string_at(0)", "Exception: The interpreter ended (signal 11)." + GONE
    ),
    "garbage on the pipe": (OS + "os.write(1, b'{[\\n')",
                            "Exception: The interpreter sent something that is no message." + GONE),
    "a message without end": (OS + "while True:\n    os.write(1, b'x' * 60000)",
                              "Exception: The interpreter sent a message without end." + GONE),
    "calls whose answers are never read": (
        OS + "while True:\n    os.write(1, b'{\"call\": [\"app\", \"large\", {}]}\\n')",
        "Exception: Execution timed out after 3 seconds." + GONE,
    ),
    "calling without end": (
        "while True:\n    apis.app.small()",
        "Exception: Number of requests exceeded the limit of 50. Is there a loop without end?"
    ),
    "deep recursion": ("def f():\n    f()\nf()", "RecursionError: maximum recursion depth exceeded"),
}  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs" / "miniworld.md"


def answered(app, api, arguments):
    if api == "bad":
        raise CallFailed('Response status code is 422:\n{"message":"no"}')
    return "x" * 100_000 if api == "large" else [app, api, arguments]


def boxed(wall_s=60):
    return Sandbox(answered, Limits(wall_s=wall_s, cpu_s=1, calls=50, output_chars=10_000))


@pytest.fixture
def box():
    with boxed() as made:
        yield made


@pytest.mark.parametrize("name", TRIES)
def test_what_was_tried_and_what_became_of_it(tmp_path, name):
    box = boxed(3 if "after 3 seconds" in TRIES[name][1] else 60)  # a loaded machine may need long for 1 second of work
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    place = tmp_path / "written"
    try:
        code, said = (
            text.replace("PLACE", str(place)).replace("VICTIM", str(victim.pid)).replace("PARENT", str(victim.pid))
            .replace("PACKAGE", str(DOCS.parents[1] / "ace_bench"))
            for text in TRIES[name]
        )  # fmt: skip
        assert box.execute(code).rstrip("\n").split("\n")[-1] == said
        assert victim.poll() is None
        assert not place.exists()
        assert box.execute("x = None\nprint(1 + 1)") == "2\n"  # the next block runs, in this interpreter or a new one
        assert box.restarts == (GONE in said)
    finally:
        box.close()
        victim.kill()
        victim.wait()


def test_the_same_tries_give_the_same_bytes():
    quick = [code for name, (code, said) in TRIES.items() if GONE not in said and name != "memory bomb"]

    def outputs():
        with Sandbox(answered, Limits(calls=50)) as box:
            return [box.execute(code) for code in [*quick, "print({'a', 'b', 'c', 'd'}, hash('a'))"]]

    assert outputs() == outputs()


def test_the_docs_show_this_table():
    shown = dict(re.findall(r"^\| ([^|`]+?) \| `(.+?)` \|$", DOCS.read_text(encoding="utf-8"), re.M))
    assert shown.keys() == TRIES.keys()
    assert {name: said for name, (_, said) in TRIES.items()} == {name: f"{s} " if s == "MemoryError:" else s
                                                                 for name, s in shown.items()}  # fmt: skip


SHAPES = {
    "x = 1": "Execution successful.",
    "1 + 1": "Execution successful.",
    "": "No code available to execute.",
    " \n": "No code available to execute.",
    "print([1, {'a': None}])": '[1, {"a": null}]\n',
    "print(list(range(40)))": "[\n 0,\n 1,",
    "def f(:": "Execution failed. Traceback:\nSyntax error in line:\ndef f(:\nMessage: invalid syntax",
    "!ls": "Execution failed. Traceback:\nSyntax error in line:\n!ls\nMessage: invalid syntax",
    "print(1)\n1/0": '1\nExecution failed. Traceback:\n  File "<python-input>", line 2, in <module>\n    1/0\n'
    "ZeroDivisionError: division by zero",
    "apis.app.bad()": 'Exception: Response status code is 422:\n{"message":"no"}',
    "apis.app.small(1)": "TypeError: APIs take keyword arguments only: name=value",
    "apis.app()": "TypeError: Only an API can be called: apis.<app>.<api>(name=value, ...)",
    "input()": "Exception: input(..) is not allowed. Use the APIs.",
    "import os": "Execution failed. Traceback:\nUsage of the following module is not allowed: os.\nThese can be imported: ",
    "from os.path import join": "Usage of the following module is not allowed: os.path.",
    "open('x')": "Execution failed. Traceback:\nUsage of the following function is not allowed: open.",
    "raise SystemExit": "SystemExit: ",
    "print('\\ud83d')": "\\ud83d\n",
    "class E(Exception):\n  def __str__(s): 1/0\nraise E": "E: (its text cannot be shown)",
    "x = '\\0'\nprint(len(x))": "1\n",
    "a\0b": "Execution failed. Traceback:\nSyntax error in line:\n",
    "(" * 5000: "Execution failed. Traceback:\nSyntax error in line:\n",
}


@pytest.fixture(scope="module")
def shared():
    with Sandbox(answered) as made:
        yield made


@pytest.mark.parametrize("code", SHAPES, ids=lambda code: repr(code[:20]))
def test_the_shape_of_outputs(shared, code):
    assert SHAPES[code] in shared.execute(code)


def test_variables_live_from_block_to_block_and_die_with_the_interpreter(box):
    assert box.execute("kept = [1]\ndef more():\n    kept.append(2)") == "Execution successful."
    assert box.execute("more()\nprint(kept)") == "[1, 2]\n"
    box.execute(OS + "os._exit(1)")
    assert "NameError" in box.execute("print(kept)")


def test_a_child_killed_from_outside_is_no_fault_of_the_code(box):
    box.execute("x = 1")
    box._child.process.kill()
    with pytest.raises(SandboxLost, match=r"killed from outside \(signal 9\)"):
        box.execute("x = 2")


def test_no_child_is_left_behind(box):
    box.execute("x = 1")
    process = box._child.process
    box.close()
    box.close()
    assert process.poll() is not None


def test_without_a_filter_nothing_runs(monkeypatch):
    monkeypatch.setattr(sandbox_filter.sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailable, match="needs Linux"):
        Sandbox(answered)
    with pytest.raises(ValueError, match="Linux container"):
        sandbox_filter.program()


def test_a_filter_that_the_kernel_refuses_stops_everything(monkeypatch):
    monkeypatch.setattr(sandbox_filter, "program", lambda: b"")
    with pytest.raises(SandboxUnavailable, match="the kernel refused the filter"), Sandbox(answered) as box:
        box.execute("x = 1")


def test_starting_is_quick():
    start = time.process_time()
    with Sandbox(answered) as box:
        box.execute("x = 1")
    assert time.process_time() - start < 1  # our side; the child's own start is not in it
