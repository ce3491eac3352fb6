"""The door: keys, durability, single flight, who pays (B07, B09, B10, B11, B14)."""

import subprocess
import sys
import threading

import pytest

from ace_bench.llm import Client, Limits, ResponseStore, StoreError
from ace_bench.llm import cache as cache_module
from ace_bench.llm.transports.scripted import ScriptedTransport, answer
from ace_bench.llm.types import ProviderFailure, ReplayMiss, TransportError, Usage


def echo(request, purpose, digest):
    return answer(f"{request.model}@{request.endpoint}#{request.draw[1]}/{request.seed}")


def test_model_endpoint_draw_and_seed_each_have_their_own_answer(store, request_of):
    transport = ScriptedTransport(echo)
    client = Client(transport, store)
    asked = [
        request_of(model="A"),
        request_of(model="B"),
        request_of(model="A", endpoint="http://127.0.0.1:2/v1"),
        *(request_of(model="A", draw=("s", n)) for n in (1, 2, 3)),
        request_of(model="A", seed=2),
    ]
    cold = [client.complete(r, "solve", f"p{i}", "c") for i, r in enumerate(asked)]
    assert transport.calls == len({o.completion.text for o in cold}) == 7
    warm = [client.complete(r, "solve", "another", "c") for r in asked]
    assert transport.calls == 7
    assert [o.completion for o in warm] == [o.completion for o in cold]


def test_another_cell_needs_but_does_not_pay_and_keeps_the_latency_first_measured(store, request_of, quick):
    transport = ScriptedTransport([TransportError("busy", retryable=True), answer("42", latency_s=7.5)])
    client = Client(transport, store, retry=quick)
    paid = client.complete(request_of(), "solve", "i/c1/adapt/0/0/0/0", "c1")
    hit = client.complete(request_of(), "solve", "i/c2/adapt/0/0/0/0", "c2")
    assert (paid.billed, paid.served_from, len(paid.attempts)) == (True, "provider", 2)
    assert (hit.billed, hit.served_from, len(hit.attempts), hit.queue_s) == (False, "cache", 1, 0.0)
    assert hit.completion == paid.completion
    assert hit.attempts[0].latency_s == 7.5
    assert hit.attempts[0].usage == Usage(100, 0, 0, 10, 0)
    assert client.limits.spent("c2").calls == 0


def test_the_payer_itself_coming_back_is_billed_as_if_never_killed(store, request_of, quick):
    transport = ScriptedTransport([answer("", "empty"), answer("42")])
    first = Client(transport, store, retry=quick).complete(request_of(), "solve", "i/c/adapt/0/0/0/0", "c")
    limits = Limits()
    again = Client(ScriptedTransport([]), store, limits).complete(request_of(), "solve", "i/c/adapt/0/0/0/0", "c")
    assert again == first
    assert len(again.attempts) == 2
    assert (limits.spent("c").calls, limits.spent("c").tokens) == (2, 220)


KILLED = """
import os, signal, sys
from ace_bench.llm import Client, ResponseStore
from ace_bench.llm.transports.scripted import ScriptedTransport, answer
from ace_bench.llm.types import Request
def play(request, purpose, digest):
    if request.messages[0]["content"] == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer("a" + request.messages[0]["content"], latency_s=0.5)
client = Client(ScriptedTransport(play), ResponseStore(sys.argv[1]))
for i in range(6):
    r = Request("m", "e", ({"role": "user", "content": str(i)},), (("max_tokens", 9),), 1, ("s", 0))
    print(client.complete(r, "solve", f"inst/cell/adapt/0/0/0/{i}", "cell"))
print(client.transport.calls, file=sys.stderr)
"""


def test_killed_and_resumed_gives_the_same_bill_as_uninterrupted(tmp_path):
    def run(path, die_at):
        done = subprocess.run([sys.executable, "-c", KILLED, str(path), die_at], capture_output=True, text=True)
        return done.stdout, done.stderr.strip()

    whole, asked = run(tmp_path / "a.sqlite", "never")
    assert asked == "6"
    assert run(tmp_path / "b.sqlite", "4")[1] == ""  # killed while the fifth call was with the provider
    resumed, asked = run(tmp_path / "b.sqlite", "never")
    assert asked == "2"
    cut = [line.rsplit("queue_s", 2)[0] for line in whole.splitlines()]
    assert [line.rsplit("queue_s", 2)[0] for line in resumed.splitlines()] == cut
    assert len(cut) == 6
    assert resumed.count("billed=True") == 6


def test_failures_are_never_kept(store, request_of, quick):
    script = [
        TransportError("200 with an error object", retryable=True),
        answer("", "empty"),
        answer("42"),
        answer("43"),
    ]
    transport = ScriptedTransport(script)
    client = Client(transport, store, retry=quick)
    kept_before = []

    def play(request, purpose, digest):
        kept_before.append(store.get(digest))
        return script[len(kept_before) - 1]

    transport.script = play
    assert client.complete(request_of(), "solve", "p", "c").completion.text == "42"
    assert kept_before == [None] * 3
    assert client.complete(request_of(), "solve", "q", "c").completion.text == "42"


@pytest.mark.parametrize(
    ("status", "kept"), [("ok", 1), ("truncated", 1), ("refused", 1), ("overflow", 1), ("empty", 4)]
)
def test_what_is_kept_is_marked(store, request_of, quick, status, kept):
    client = Client(ScriptedTransport(lambda *_: answer("part" * (status != "empty"), status)), store, retry=quick)
    outcomes = [client.complete(request_of(), "solve", f"p{i}", "c") for i in range(2)]
    assert [o.completion.status for o in outcomes] == [status] * 2
    assert client.transport.calls == (1 if kept == 1 else 8)


def test_a_response_is_on_disk_before_it_is_returned(store, request_of, monkeypatch):
    def full(db, batch):
        raise OSError("disk full")

    monkeypatch.setattr(cache_module, "_commit", full)
    with pytest.raises(ProviderFailure, match=r"Could not write the response store.*disk full") as stop:
        Client(ScriptedTransport([answer()]), store).complete(request_of(), "solve", "p", "c")
    assert len(stop.value.attempts) == 1


def test_equal_keys_in_flight_pay_once(store, request_of):
    client = Client(ScriptedTransport(lambda *_: answer(), latency_s=0.05), store)
    outcomes = at_once(12, lambda i: client.complete(request_of(), "solve", f"p{i}", "c"))
    assert client.transport.calls == 1
    assert sorted(o.served_from for o in outcomes) == ["cache"] * 11 + ["provider"]
    assert sum(o.billed for o in outcomes) == 1
    assert client._flights == {}


def test_when_the_leader_fails_a_follower_leads(store, request_of, quick):
    script = [TransportError("gone", retryable=False)] * 2 + [answer("42")]
    client = Client(ScriptedTransport(script, latency_s=0.02), store, retry=quick)
    outcomes = at_once(5, lambda i: client.complete(request_of(), "solve", f"p{i}", "c"))
    assert [type(o) for o in outcomes].count(ProviderFailure) == 2
    assert [o.completion.text for o in outcomes if not isinstance(o, ProviderFailure)] == ["42"] * 3
    assert client.transport.calls == 3


def test_two_processes_worth_of_clients_agree_on_one_answer(store, request_of):
    other_store = ResponseStore(store.path)

    def slow(*_):
        fast_outcomes.append(Client(ScriptedTransport([answer("fast")]), other_store).complete(request_of(), *where))
        return answer("slow")

    fast_outcomes, where = [], ("solve", "p-fast", "c")
    outcome = Client(ScriptedTransport(slow), store).complete(request_of(), "solve", "p-slow", "c")
    assert [o.completion.text for o in (outcome, *fast_outcomes)] == ["fast", "fast"]
    assert [o.billed for o in (outcome, *fast_outcomes)] == [True, True]
    other_store.close()


def test_a_provider_failure_names_model_endpoint_and_last_error(store, request_of, quick):
    client = Client(ScriptedTransport(lambda *_: TransportError("500 boom", retryable=True)), store, retry=quick)
    with pytest.raises(ProviderFailure, match=r"'m' at http://127.0.0.1:1/v1 .* in 4 attempts.*500 boom") as stop:
        client.complete(request_of(), "solve", "p", "c")
    assert len(stop.value.attempts) == 4
    assert not isinstance(stop.value, Exception)


def test_a_transport_that_breaks_its_contract_is_a_provider_failure(store, request_of):
    client = Client(ScriptedTransport([ZeroDivisionError("oops")]), store)
    with pytest.raises(ProviderFailure, match="ScriptedTransport broke with ZeroDivisionError: oops"):
        client.complete(request_of(), "solve", "p", "c")


def test_replay_hits_without_a_transport_and_a_miss_shows_the_request(store, request_of):
    Client(ScriptedTransport([answer("42")]), store).complete(request_of(), "solve", "p", "c")
    replay = ResponseStore(store.path, "replay")
    transport = ScriptedTransport([])
    client = Client(transport, replay)
    assert client.complete(request_of(), "solve", "q", "c").completion.text == "42"
    request = request_of("START" + "x" * 5000 + "END")
    with pytest.raises(ReplayMiss) as miss:
        client.complete(request, "curate", "q", "c")
    shown = str(miss.value)
    assert all(part in shown for part in ("'m'", "curate", request.digest(), "START", "END", "5008 characters"))
    assert len(shown) < 1500
    assert transport.calls == 0
    replay.close()


@pytest.mark.parametrize("body", ["{", "{}", '{"text": 1}'])
def test_an_unreadable_body_is_a_sentence(store, request_of, body):
    store.put(request_of().digest(), body, "p")
    with pytest.raises(ProviderFailure, match=r"cannot be read.*fresh store file"):
        Client(ScriptedTransport([]), store).complete(request_of(), "solve", "p", "c")


def test_lone_surrogates_and_reasoning_survive_the_store(store, request_of):
    said = answer("half \ud83d \x00")
    Client(ScriptedTransport([said]), store).complete(request_of(), "solve", "p", "c")
    assert Client(ScriptedTransport([]), store).complete(request_of(), "solve", "q", "c").completion == said


def test_without_a_store_every_call_is_made(tmp_path, request_of):
    client = Client(ScriptedTransport(lambda *_: answer(), latency_s=0.01), ResponseStore(tmp_path / "x", "off"))
    outcomes = at_once(3, lambda i: client.complete(request_of(), "solve", "p", "c"))
    assert client.transport.calls == sum(o.billed for o in outcomes) == 3


def test_a_closed_store_is_a_sentence(store, request_of):
    store.close()
    with pytest.raises(ProviderFailure, match="closed") as stop:
        Client(ScriptedTransport([]), store).complete(request_of(), "solve", "p", "c")
    assert isinstance(stop.value.__cause__, StoreError)


def at_once(n, call):
    """The results (or exceptions) of `call(i)` in n threads, by i."""
    out, gate = [None] * n, threading.Barrier(n)

    def work(i):
        gate.wait()
        try:
            out[i] = call(i)
        except BaseException as error:
            out[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return out
