"""Limits: reserved before, settled after, under one lock (B13, B16)."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.llm import Client, Limits, Price, ResponseStore, Spent, cost
from ace_bench.llm.limits import output_bound, prompt_bytes
from ace_bench.llm.transports.scripted import ScriptedTransport, answer
from ace_bench.llm.types import BudgetExceeded, TransportError, Usage

PRICE = Price(1.0, 0.1, 1.25, 4.0, 4.0, "a test", "2026-01-01")


def off_client(tmp_path, transport, limits, quick=None, price=None):
    return Client(transport, ResponseStore(tmp_path / "none", "off"), limits, quick, price)


def hammer(client, request_of, threads=16, each=10):
    """How many asks of `threads` x `each` were stopped by a limit."""
    stopped = []

    def work(t):
        for i in range(each):
            try:
                client.complete(request_of(f"{t}/{i}"), "solve", "p", "cell")
            except BudgetExceeded as stop:
                stopped.append(str(stop))

    pool = [threading.Thread(target=work, args=(t,)) for t in range(threads)]
    [t.start() for t in pool]
    [t.join() for t in pool]
    return stopped


@pytest.mark.parametrize("option", ["calls", "cell_calls"])
def test_of_many_threads_exactly_the_cap_starts(tmp_path, request_of, option):
    transport = ScriptedTransport(lambda *_: answer(), latency_s=0.002)
    limits = Limits(**{option: 60})
    stopped = hammer(off_client(tmp_path, transport, limits), request_of)
    assert (transport.calls, len(stopped)) == (60, 100)
    assert f"Raise limits.{option}" in stopped[0]
    assert "60 model calls" in stopped[0]
    assert limits.spent().calls == limits.spent("cell").calls == 60


def test_a_dollar_cap_is_never_passed_and_is_used_up(tmp_path, request_of):
    usage = Usage(1000, 0, 0, 250, 0)  # 0.002 dollars; the worst case reserved is dearer
    transport = ScriptedTransport(lambda *_: answer(usage=usage), latency_s=0.005)
    limits = Limits(dollars=0.02)
    client = off_client(tmp_path, transport, limits, price=PRICE)
    stopped = hammer(client, lambda text: request_of("x" * 1000 + text, max_tokens=300), threads=20, each=1)
    assert limits.spent().dollars == pytest.approx(0.002 * transport.calls)
    assert transport.calls == 9  # a tenth may need 0.0025 more, and 0.018 is used
    assert len(stopped) == 11


def test_an_unknown_price_never_counts_as_zero(tmp_path):
    assert cost(None, Usage(1, 0, 0, 1, 0)) is None
    for caps in ({"dollars": 1.0}, {"cell_dollars": 1.0}):
        with pytest.raises(ValueError, match="has no price, so the cap could never fire"):
            off_client(tmp_path, ScriptedTransport([]), Limits(**caps))


def test_unreported_usage_keeps_the_worst_case(tmp_path, request_of):
    limits, request = Limits(tokens=10_000), request_of("\u00e9" * 10)
    off_client(tmp_path, ScriptedTransport([answer(usage=Usage())]), limits).complete(request, "solve", "p", "c")
    assert limits.spent() == Spent(1, prompt_bytes(request.messages) + 100, 0.0)
    assert prompt_bytes(request.messages) >= 20


@pytest.mark.parametrize(("charged", "tokens"), [(True, 100 + 5 + 4 + 8), (False, 0)])
def test_a_failed_attempt_counts_as_a_call(tmp_path, request_of, quick, charged, tokens):
    script = [TransportError("x", retryable=True, charged=charged), answer(usage=Usage(0, 0, 0, 0, 0))]
    limits = Limits()
    off_client(tmp_path, ScriptedTransport(script), limits, quick).complete(request_of(), "solve", "p", "c")
    assert limits.spent() == Spent(2, tokens, 0.0)


def test_a_cap_too_small_for_one_call_is_refused_before_it_is_sent(tmp_path, request_of):
    transport = ScriptedTransport([answer()])
    client = off_client(tmp_path, transport, Limits(cell_tokens=50))
    with pytest.raises(BudgetExceeded, match=r"for cell c is reached: 0 used.*limits\.cell_tokens"):
        client.complete(request_of(), "solve", "p", "c")
    assert transport.calls == 0


def test_token_caps_need_a_bound_on_the_output():
    with pytest.raises(ValueError, match="Set max_tokens"):
        Limits(tokens=10).check("m", {"temperature": 0}, None)
    assert output_bound({"max_tokens": 5, "max_completion_tokens": 7}) == 7


def test_earlier_spending_counts():
    limits = Limits(cell_calls=2)
    limits.charge("c", Spent(2, 10, 0.5))
    assert limits.spent("c") == Spent(2, 10, 0.5) == limits.spent()


def test_concurrency_is_per_endpoint_and_waiting_is_measured_apart(tmp_path, request_of):
    transport = ScriptedTransport(lambda *_: answer(), latency_s=0.02)
    client = off_client(tmp_path, transport, Limits(concurrency=2))
    waits = []
    work = [
        threading.Thread(
            target=lambda i=i: waits.append(client.complete(request_of(str(i)), "solve", "p", "c").queue_s)
        )
        for i in range(6)
    ]
    [t.start() for t in work]
    [t.join() for t in work]
    assert transport.most_in_flight == 2
    assert max(waits) >= 0.02
    assert min(waits) < 0.01


@pytest.mark.parametrize("pace", [{"requests_per_minute": 60}, {"tokens_per_minute": 60 * (100 + (1 + 4 + 8) / 4)}])
def test_rates_queue_and_never_reject(tmp_path, request_of, pace):
    now = [1000.0]

    def sleep(s):
        now[0] += s

    client = off_client(
        tmp_path, ScriptedTransport(lambda *_: answer()), Limits(**pace, clock=lambda: now[0], sleep=sleep)
    )
    waits = [client.complete(request_of(str(i)), "solve", "p", "c").queue_s for i in range(5)]
    assert waits == pytest.approx([0, 1, 1, 1, 1])


def test_a_pace_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no call could ever start"):
        Limits(concurrency=0)


@given(st.lists(st.integers(0, 10**6), min_size=5, max_size=5))
def test_the_worst_case_bounds_every_split_of_the_tokens(counts):
    usage = Usage(*counts)
    assert cost(PRICE, usage) <= PRICE.worst_case(usage.input_total(), usage.output_total()) + 1e-9


def test_cost_is_the_sum_over_the_classes():
    million = Usage(10**6, 10**6, 10**6, 10**6, 10**6)
    assert cost(PRICE, million) == pytest.approx(1 + 0.1 + 1.25 + 4 + 4)
    assert cost(PRICE, Usage(10**6, None, None, 0, None)) == pytest.approx(1.0)
    assert cost(PRICE, Usage()) is None


def test_waiting_callers_leave_when_a_call_dies_of_an_interrupt(tmp_path, request_of):
    transport = ScriptedTransport([KeyboardInterrupt(), answer()], latency_s=0.01)
    client = off_client(tmp_path, transport, Limits(calls=2, concurrency=1))
    with pytest.raises(KeyboardInterrupt):
        client.complete(request_of("a"), "solve", "p", "c")
    began = time.monotonic()
    client.complete(request_of("b"), "solve", "p", "c")
    assert time.monotonic() - began < 5
