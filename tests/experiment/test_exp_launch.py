"""Launchers: the same cells everywhere, all failures told, stops within a step."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import exp_fakes
import pytest
from exp_fakes import BASE, statuses

from ace_bench.experiment import stopping
from ace_bench.experiment.sweeper import launch

HERE = Path(__file__).parent
SCRIPT = """
import sys, exp_fakes
from pathlib import Path
from ace_bench.experiment import plugins
from ace_bench.experiment.sweeper import launch, plan
plugins.found = exp_fakes.found
sys.modules["ace_bench.experiment.cell"] = sys.modules["ace_bench.experiment.finish"] = exp_fakes
"""


def _files(root: str) -> dict[str, dict]:
    return {p.parent.name: json.loads(p.read_text()) for p in Path(root).rglob("config.json")}


def _python(code: str, cwd: Path, **env: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(HERE), *sys.path[1:]])  # the same package as in this process
    full = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"} | env
    command = [sys.executable, "-c", SCRIPT + code]
    return subprocess.Popen(command, cwd=cwd, env=full, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _comparable(root: str) -> dict[str, dict]:
    own = ("results", "cache")
    return {cell: {k: v for k, v in config.items() if k not in own} for cell, config in _files(root).items()}


def test_same_cells_and_results_under_every_launcher(conf: Path) -> None:
    sweep = ["experiment=points", "seed=0"]
    others = {"basic": []}
    if importlib.util.find_spec("hydra_plugins.hydra_joblib_launcher"):
        others["joblib"] = ["hydra.launcher.n_jobs=2"]
    threads = launch([*sweep, "results=threads"], conf, exp_fakes.task)
    assert len(_files("threads")) == 5
    for name, settings in others.items():
        other = launch([*sweep, f"results={name}", f"hydra/launcher={name}", *settings], conf, exp_fakes.task)
        assert [r.cell for r in other.results] == [r.cell for r in threads.results]
        assert _comparable(name) == _comparable("threads")
        assert other.exit_code == threads.exit_code == 0


@pytest.mark.parametrize("launcher", ["threads", "basic"])
def test_every_failure_is_told_and_the_others_finish(
    conf: Path, launcher: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = launch([*BASE, "seed=100,101,102,103", f"hydra/launcher={launcher}"], conf, exp_fakes.task)
    assert statuses(outcome) == ["finished", "failed", "finished", "failed"]
    assert outcome.exit_code == 1
    out = capsys.readouterr().out
    assert "ValueError: seed 101 went wrong" in out
    assert "ValueError: seed 103 went wrong" in out
    assert "4 cells: 2 finished, 2 failed, 0 stopped" in out
    assert len(_files("results")) == 2
    ((experiment_dir, results),) = exp_fakes.finished
    assert experiment_dir == Path("results/adhoc")
    assert len(results) == 4


def test_launching_again_and_after_a_failure(conf: Path) -> None:
    assert launch([*BASE, "seed=101"], conf, exp_fakes.task).exit_code == 1
    assert launch([*BASE, "seed=1"], conf, exp_fakes.task).exit_code == 0
    assert launch([*BASE, "seed=2"], conf, exp_fakes.task).exit_code == 0
    assert len(_files("results")) == 2


def test_two_launches_at_once_lose_nothing(conf: Path, tmp_path: Path) -> None:
    code = "sys.exit(launch(%r, Path(%r), exp_fakes.task).exit_code)"
    runs = [_python(code % ([*BASE, f"seed={s},1{s}"], str(conf)), tmp_path) for s in (1, 2)]
    for run in runs:
        _, err = run.communicate(timeout=60)
        assert run.returncode == 0, err
    assert len(_files(str(tmp_path / "results"))) == 4


def test_a_broken_report_is_told(
    conf: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(experiment_dir: Path, results: list) -> None:
        raise ValueError("no rows")

    monkeypatch.setattr(exp_fakes, "finish", broken)
    assert launch([*BASE], conf, exp_fakes.task).exit_code == 1
    assert "ace-bench report results/adhoc" in capsys.readouterr().out


def test_handlers_are_restored_and_a_stop_does_not_outlive_its_launch(conf: Path) -> None:
    before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
    stopping.stop()
    assert launch(BASE, conf, exp_fakes.task).exit_code == 0
    assert [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)] == before


def test_launching_from_another_thread(conf: Path) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(launch(BASE, conf, exp_fakes.task).exit_code))
    thread.start()
    thread.join(30)
    assert codes == [0]


def _interrupted(
    conf: Path, cwd: Path, signals: list[int], launcher: str = "threads", **env: str
) -> tuple[int, str, float]:
    overrides = [*BASE, "seed=range(0,4)", f"hydra/launcher={launcher}"]
    overrides += ["hydra.launcher.workers=2"] if launcher == "threads" else []
    code = f"outcome = launch({overrides!r}, Path({str(conf)!r}))\nsys.exit(outcome.exit_code)"
    run = _python(code, cwd, **env)
    assert run.stdout is not None
    while "started" not in run.stdout.readline():
        assert run.poll() is None
    start = time.monotonic()
    for number in signals:
        run.send_signal(number)
        time.sleep(0.3)
    out, err = run.communicate(timeout=30)
    return run.returncode, out + err, time.monotonic() - start


@pytest.mark.parametrize(("number", "launcher"), [(signal.SIGINT, "threads"), (signal.SIGTERM, "basic")])
def test_a_signal_stops_each_cell_at_its_next_step(conf: Path, tmp_path: Path, number: int, launcher: str) -> None:
    code, said, took = _interrupted(conf, tmp_path, [number], launcher)
    assert code == 130, said
    assert took < 3, said
    assert "4 cells: 0 finished, 0 failed, 4 stopped" in said
    assert "Stopping: each cell ends at its next step" in said


def test_a_second_signal_ends_the_process(conf: Path, tmp_path: Path) -> None:
    code, said, took = _interrupted(conf, tmp_path, [signal.SIGINT, signal.SIGTERM], EXP_STUBBORN="1")
    assert code == 130, said
    assert took < 3, said
    assert "Stopped at once" in said


def test_ids_do_not_depend_on_the_hash_seed(conf: Path, tmp_path: Path) -> None:
    code = f"print([p.id for p in plan([*exp_fakes.BASE, 'seed=0,1,2'], Path({str(conf)!r}))])"
    runs = [_python(code, tmp_path, PYTHONHASHSEED=seed) for seed in ("1", "2")]
    (a, err), (b, _) = (run.communicate(timeout=60) for run in runs)
    assert a.count("alpha") == 3, err
    assert a == b
