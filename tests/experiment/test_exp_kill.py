"""Killed with -9 and started again: the same tables, row by row, and no call paid twice."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ace_bench.store import read_table
from ace_bench.store.schema import TABLES

pytest.importorskip("hydra_plugins.ace_bench", reason="needs an install: pip install -e .")
# What time decides. `attempts` and `wall_s` count the starts themselves.
TIMED = {
    "cells": {"attempts", "wall_s", "instance"},
    "calls": {"queue_s"},
}
SMALL = ("method=ace,full_rewrite", "seed=0,1", "benchmark.test=25", "hydra.launcher.workers=2")


def command(results: Path, *overrides: str) -> list[str]:
    cli = [sys.executable, "-m", "ace_bench", "run"]
    return [*cli, f"results={results}", *overrides]


def rows(results: Path, experiment: str, *also: str) -> str:
    out = {}
    for table in TABLES:
        drop = TIMED.get(table, set()) | set(also)
        out[table] = [{k: v for k, v in r.items() if k not in drop}
                      for r in read_table(results / experiment, table).to_pylist()]  # fmt: skip
    return json.dumps(out, sort_keys=True)


def start(results: Path, *overrides: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(results, *overrides), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def survive(results: Path, overrides: tuple[str, ...], kills: int, longest: float) -> int:
    """Kill `kills` launches at random moments, then let one finish. -> kills that hit a live process."""
    rng, hits = random.Random(0), 0
    for _ in range(kills):
        process = start(results, *overrides)
        time.sleep(rng.uniform(0.5, longest))
        if process.poll() is None:
            hits += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert start(results, *overrides).wait() == 0
    return hits


def billed_once(results: Path, experiment: str) -> None:
    """Every stored response was paid by one call, and exactly these calls are billed in the rows."""
    with sqlite3.connect(results / "responses.db") as db:
        stored = db.execute("SELECT count(*), count(DISTINCT payer) FROM response").fetchone()
    assert stored[0] == stored[1]
    calls = read_table(results / experiment, "calls", ["billed", "needed"]).to_pylist()
    assert sum(c["billed"] for c in calls) == stored[0]


def test_a_small_launch_killed_three_times(tmp_path):
    overrides = ("name=small", *SMALL, "model.latency.sleep=0.02")
    assert start(tmp_path / "whole", *overrides).wait() == 0
    hits = survive(tmp_path / "cut", overrides, kills=3, longest=4.0)
    assert hits >= 1
    also = ("billed", "served_from")  # the cells share no request here, but a plan may
    assert rows(tmp_path / "whole", "small", *also) == rows(tmp_path / "cut", "small", *also)
    billed_once(tmp_path / "cut", "small")


@pytest.mark.kill
@pytest.mark.parametrize("kills", [20, 1, 2, 3])
def test_a_quickstart_killed_many_times(tmp_path, kills, request):
    # Calls that take their time: on a fast machine the work would else be done before the last kill.
    overrides = ("experiment=quickstart", f"model.latency.sleep={0.01 * kills}")
    assert start(tmp_path / "whole", *overrides).wait() == 0
    hits = survive(tmp_path / "cut", overrides, kills=kills, longest=8.0)
    assert hits == kills
    also = ("billed", "served_from", "billed_input_tokens", "billed_output_tokens", "billed_cost", "cached_share")
    assert rows(tmp_path / "whole", "quickstart", *also) == rows(tmp_path / "cut", "quickstart", *also)
    billed_once(tmp_path / "cut", "quickstart")
