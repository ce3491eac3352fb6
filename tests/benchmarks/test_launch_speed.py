"""Speed: what 64 cells at once cost over their own model latency, and what starting costs. CPU time and ratios only."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ace_bench.experiment import plugins, shared
from ace_bench.experiment.cell import run_cell
from ace_bench.experiment.sweeper import plan
from ace_bench.llm import ModelSettings
from ace_bench.llm.types import Completion, Usage

pytestmark = pytest.mark.benchmark
REPLY = json.dumps({
    "reasoning": "r", "bullet_ids": [], "final_answer": "amber", "error_identification": "none",
    "root_cause_analysis": "none", "correct_approach": "none", "key_insight": "Read the mark first.", "bullet_tags": [],
    "operations": [{"type": "ADD", "section": "OTHERS", "content": "Read the mark first."}],
})  # fmt: skip


class Stub:
    """Waits as long as the request's digest says (100 to 300 ms) and keeps what each thread waited."""

    simulated = True
    waited: dict[int, float]
    span: list[float]

    def __init__(self, settings):
        self.lock = threading.Lock()

    def complete(self, request, purpose, digest):
        began = time.perf_counter()
        latency = 0.1 + 0.2 * int(digest[:8], 16) / 2**32
        time.sleep(latency)
        with self.lock:
            me = threading.get_ident()
            Stub.waited[me] = Stub.waited.get(me, 0.0) + latency
            Stub.span[:] = [min(Stub.span[0], began), max(Stub.span[1], time.perf_counter())]
        return Completion(REPLY, "ok", "stop", Usage(100, 0, 0, 50, 0), "stub", latency)

    class Settings(plugins.load("transports", "simulated").Settings):
        def asked(self, name):
            return ModelSettings(name, "stub", {"max_tokens": 100})


def test_64_cells_take_little_longer_than_their_slowest_one(tmp_path, monkeypatch):
    """First call to last, against the drawn latencies of the slowest cell: at most 1.10."""
    configs = [p.config for p in plan(
        [f"results={tmp_path}", "name=speed", "method=ace", "benchmark.test=20", "seed=" + ",".join(map(str, range(64)))]
    )]  # fmt: skip
    load = plugins.load
    monkeypatch.setattr(plugins, "load", lambda group, name: Stub if group == "transports" else load(group, name))
    Stub.waited, Stub.span = {}, [float("inf"), 0.0]
    with ThreadPoolExecutor(64) as pool:
        done = list(pool.map(run_cell, configs))
    shared.close()
    assert {r.status for r in done} == {"finished"}
    assert len(Stub.waited) == 64
    ratio = (Stub.span[1] - Stub.span[0]) / max(Stub.waited.values())
    print(f"64 cells x 60 calls: {ratio:.3f} of the slowest cell's own latency")
    assert ratio <= 1.10


def cpu(*command):
    """CPU seconds of a process, best of five."""
    best = float("inf")
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        best = min(best, after.children_user + after.children_system - before.children_user - before.children_system)
    return best


def test_starting_is_quick():
    """`import ace_bench` at most 0.3 s of CPU, `ace-bench --help` at most 0.5 s, the bare interpreter's share included."""
    imported, helped = cpu("-c", "import ace_bench"), cpu("-m", "ace_bench", "--help")
    print(f"import ace_bench {imported:.2f} s, ace-bench --help {helped:.2f} s of CPU")
    assert imported <= 0.3
    assert helped <= 0.5
