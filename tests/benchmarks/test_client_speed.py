"""CPU time of the harness for one model call, all of it: request, digest, store, limits, rows.

CPU, not wall time: the machine that runs this may be busy, and calls wait for providers, not for us. Many calls per
second share one interpreter, so this is what bounds how many cells can run at once.
"""

import time

import pytest

from ace_bench.llm import Client, Limits, ModelSettings, ResponseStore, Session
from ace_bench.llm.transports.scripted import ScriptedTransport, answer

CALLS = 150
BASE_S, PER_KB_S = 1e-3, 10e-6  # allowed: 1 ms at a 20 kB prompt, 10 us for each kB beyond


def cpu_per_call(path, kilobytes):
    """Seconds of CPU (all threads) for an ask of a fresh prompt that is recorded on disk."""
    store = ResponseStore(path)
    client = Client(ScriptedTransport(lambda *_: answer("x" * 1000)), store, Limits(calls=10**6, tokens=10**12))
    session = Session(client, ModelSettings("m", "e", {"temperature": 0.7, "max_tokens": 100}), 1, "cell", "instance")
    playbook = ("[lesson-00001] helpful=3 harmful=0 :: When the task says so, do it.\n" * 40 * kilobytes)[
        : kilobytes * 1000
    ]
    step = session.step("adapt", 0, 0, 0)
    began = time.process_time()
    for i in range(CALLS):
        messages = [{"role": "system", "content": playbook}, {"role": "user", "content": f"task {i}"}]
        step.ask("solve", messages, call_phase="score", sample=f"s{i}")
    spent = (time.process_time() - began) / CALLS
    store.close()
    return spent


@pytest.mark.benchmark
@pytest.mark.parametrize("kilobytes", [20, 200])
def test_the_harness_costs_little_cpu_for_a_call(tmp_path, kilobytes, record_property):
    spent = min(cpu_per_call(tmp_path / f"{i}.sqlite", kilobytes) for i in range(3))
    record_property("cpu_ms_per_call", round(spent * 1e3, 3))
    print(f"{kilobytes} kB: {spent * 1e3:.3f} ms CPU per call")
    assert spent <= BASE_S + PER_KB_S * (kilobytes - 20)
