"""What the way through litellm costs beside the harness's own share: CPU per call, the server in a process of its own."""

import multiprocessing
import time

import pytest
from loopback import Loopback

from ace_bench.llm import Client, ModelSettings, ResponseStore, Session
from ace_bench.llm.transports.litellm import LitellmSettings, LitellmTransport
from ace_bench.llm.transports.scripted import ScriptedTransport, answer

pytestmark = pytest.mark.benchmark
pytest.importorskip("litellm", reason="the extra litellm is not installed")
CALLS = 150


def _serve(pipe):
    server = Loopback("2.0")
    pipe.send(server.url)
    server.serve_forever()


@pytest.fixture
def url():
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    yield ours.recv()
    process.terminate()


def cpu_per_call(folder, transport, endpoint):
    store = ResponseStore(folder / f"{type(transport).__name__}.db")
    session = Session(Client(transport, store), ModelSettings("stub", endpoint, {"max_tokens": 100}), 0, "c", "i")
    message = [{"role": "user", "content": "x" * 20_000}]
    session.step("score", 0, 0, -1).ask("solve", message, call_phase="score", sample="warm")  # imports
    began = time.process_time()
    for i in range(CALLS):
        session.step("score", 0, 0, i).ask("solve", message, call_phase="score", sample=str(i))
    spent = (time.process_time() - began) / CALLS * 1000
    store.close()
    return spent


def test_the_overhead_is_litellms(tmp_path, url):
    own = cpu_per_call(tmp_path, ScriptedTransport([answer()] * (CALLS + 1)), "scripted")
    through = cpu_per_call(tmp_path, LitellmTransport(LitellmSettings(endpoint=url)), url)
    print(f"CPU per call at a 20 kB prompt: harness {own:.2f} ms, through litellm {through:.2f} ms")
    assert own < through  # and the harness is the small part of it
    assert own < 0.5 * through
