"""What a cell asks: draws, addresses, rows, one repair, and staying stopped (B09, B14, B38)."""

import threading

import pytest
from pydantic import BaseModel

from ace_bench.llm import Client, Limits, ModelSettings, Price, Session
from ace_bench.llm.transports.scripted import ScriptedTransport, answer
from ace_bench.llm.types import BudgetExceeded, ProviderFailure, ReplayMiss, TransportError, Usage
from ace_bench.store.schema import columns

ASK = [{"role": "user", "content": "q"}]
PRICE = Price(1.0, 0.1, 1.25, 4.0, 4.0, "a test", "2026-01-01")


class Answer(BaseModel):
    answer: int


def session(store, script=None, *, seed=7, cell="c", instance="i", used=(), limits=None, retry=None, **settings):
    transport = ScriptedTransport(script or (lambda r, p, d: answer(f"draw {r.draw} seed {r.seed}")))
    model = ModelSettings("m", "e", **{"params": {"temperature": 0.7, "max_tokens": 50}, **settings})
    return Session(Client(transport, store, limits, retry, PRICE), model, seed, cell, instance, used)


def ask(step, sample="s1", messages=ASK, **more):
    return step.ask("solve", messages, call_phase="score", sample=sample, **more)


def stable(rows):
    """Rows without what a clock measured."""
    return [{**row, "queue_s": None} for row in rows]


def test_a_row_has_exactly_the_columns_of_the_schema_and_no_null_where_none_is_allowed(store, quick):
    script = [TransportError("busy", retryable=True, charged=False), answer("42", usage=Usage(1000, 200, 0, 10, 5))]
    step = session(store, script, retry=quick).step("adapt", 0, 0, 3)
    ask(step, shapes_state=True)
    assert [list(row) for row in step.rows] == [[c.name for c in columns("calls")]] * 2
    for row in step.rows:
        assert [c.name for c in columns("calls") if not c.null and row[c.name] is None] == []
    failed, done = step.rows
    assert (failed["status"], failed["error"], failed["needed"], failed["billed"]) == ("error", "busy", False, True)
    assert (done["attempt"], done["needed"], done["billed"], done["cached_input"]) == (1, True, True, 200)
    assert done["cost"] == pytest.approx((1000 + 20 + 60) / 1e6)
    assert (failed["cost"], failed["response"], len(done["response"])) == (0.0, None, 64)


def test_repeated_draws_differ_and_are_the_same_four_when_warm(store):
    cold = [ask(session_step).text for session_step in [session(store).step("score", 0, 0, 0)] for _ in range(4)]
    again = session(store, [], cell="other")
    step = again.step("score", 0, 0, 0)
    assert [ask(step).text for _ in range(4)] == cold
    assert len(set(cold)) == 4
    assert [row["draw"] for row in step.rows] == [0, 1, 2, 3]
    assert {row["billed"] for row in step.rows} == {False}
    assert ask(session(store, seed=8).step("score", 0, 0, 0)).text not in cold


def test_draws_are_counted_per_sample_and_go_on_after_a_resume(store):
    first = session(store)
    step = first.step("adapt", 0, 0, 0)
    texts = [ask(step, sample).text for sample in ("s1", "s1", "s2", None)]
    assert [row["draw"] for row in step.rows] == [0, 1, 0, 0]
    assert len(set(texts)) == 4
    resumed = session(store, used=[row["request"] for row in step.rows])
    later = resumed.step("adapt", 1, 0, 0)
    ask(later), ask(later)
    assert [row["draw"] for row in later.rows] == [2, 3]


def test_greedy_sharing_is_asked_for_and_needs_temperature_zero(store):
    greedy = {"temperature": 0, "max_tokens": 50}
    shared = session(store, params=greedy, share_greedy=True)
    step = shared.step("score", 0, 0, 0)
    assert ask(step, "s1").text == ask(step, "s2").text
    assert ask(session(store, seed=8, params=greedy, share_greedy=True).step("score", 0, 0, 0)).text == ask(step).text
    assert shared.route("solve").client.transport.calls == 1
    assert {(row["draw"], row["seed"]) for row in step.rows} == {(0, 0)}
    assert [row["billed"] for row in step.rows] == [True, False, False]
    for settings in ({"params": greedy}, {"share_greedy": True}, {"params": {"max_tokens": 50}, "share_greedy": True}):
        step = session(store, **settings).step("score", 0, 0, 0)
        ask(step), ask(step)
        assert [row["seed"] for row in step.rows] == [7, 7]
        assert [row["draw"] for row in step.rows] == [0, 1]


def test_a_step_killed_in_the_middle_and_asked_again_has_the_same_rows(store, quick):
    script = [answer("", "empty"), answer("one"), answer("two"), answer("three")]
    whole = session(store, script, retry=quick).step("adapt", 0, 0, 0)
    ask(whole), ask(whole), ask(whole, "s2")
    resumed = session(store, []).step("adapt", 0, 0, 0)  # same cell, same instance; nothing left to be sent
    ask(resumed), ask(resumed), ask(resumed, "s2")
    assert resumed.rows == whole.rows
    assert [row["billed"] for row in resumed.rows] == [True] * 4
    elsewhere = session(store, [], instance="other").step("adapt", 0, 0, 0)
    ask(elsewhere), ask(elsewhere), ask(elsewhere, "s2")
    assert [(row["billed"], row["served_from"]) for row in elsewhere.rows] == [(False, "cache")] * 3
    needed = [row for row in whole.rows if row["needed"]]
    same = ("input", "output", "cost", "latency_s", "response", "request", "status")
    assert [[row[k] for k in same] for row in elsewhere.rows] == [[row[k] for k in same] for row in needed]


def test_a_reply_that_does_not_fit_is_repaired_once_and_both_are_needed_and_billed(store):
    run = session(store, [answer("seven"), answer('{"answer": 7}')])
    step = run.step("adapt", 0, 0, 0)
    reply = ask(step, schema=Answer)
    assert reply.data == Answer(answer=7)
    assert reply.problem is None
    assert reply.extra == {"key": step.rows[1]["request"], "latency_s": 0.25}
    assert [(r["ordinal"], r["repair"], r["needed"], r["billed"]) for r in step.rows] == [
        (0, False, True, True),
        (1, True, True, True),
    ]
    sent = run.route("solve").client.transport.requests[1].messages
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == "seven"
    assert "no JSON object" in sent[2]["content"]
    assert "answer" in sent[2]["content"]


def test_a_reply_that_never_fits_comes_back_with_its_text_and_problem(store):
    step = session(store, [answer("seven"), answer('{"answer": "x"}')]).step("adapt", 0, 0, 0)
    reply = ask(step, schema=Answer)
    assert (reply.data, reply.text, len(step.rows)) == (None, '{"answer": "x"}', 2)
    assert "valid integer" in reply.problem


@pytest.mark.parametrize("status", ["refused", "overflow", "empty", "truncated"])
def test_no_repair_of_what_is_not_a_whole_reply(store, quick, status):
    text = {"empty": "", "overflow": "", "truncated": '{"answer": 4'}.get(status, "I cannot")
    step = session(store, lambda *_: answer(text, status), retry=quick).step("adapt", 0, 0, 0)
    reply = ask(step, schema=Answer)
    assert (reply.status, reply.data, reply.problem) == (status, None, status)
    assert {row["ordinal"] for row in step.rows} == {0}
    assert [row["needed"] for row in step.rows] == [False] * (len(step.rows) - 1) + [True]


def test_a_cut_reply_that_still_parses_is_used(store):
    reply = ask(session(store, [answer('{"answer": 4}', "truncated")]).step("adapt", 0, 0, 0), schema=Answer)
    assert (reply.status, reply.data, reply.problem) == ("truncated", Answer(answer=4), None)


def test_no_repair_when_none_is_wanted(store):
    step = session(store, [answer("seven")]).step("adapt", 0, 0, 0)
    assert ask(step, schema=Answer, repair=False).data is None
    assert len(step.rows) == 1


def test_thinking_that_used_up_the_budget_is_truncated_and_never_wrong(store):
    thought = answer("", "truncated")
    step = session(store, [thought]).step("score", 0, 0, 0)
    reply = ask(step)
    assert (reply.status, reply.text, reply.finish_reason) == ("truncated", "", "length")
    assert len(step.rows) == 1


def test_json_mode_puts_the_schema_into_the_request_and_its_key(store):
    plain, mode = (session(store, [answer('{"answer": 7}')], json_mode=m) for m in (False, True))
    for run in (plain, mode):
        ask(run.step("adapt", 0, 0, 0), schema=Answer)
    assert plain.route("solve").client.transport.requests[0].schema is None
    assert '"answer"' in mode.route("solve").client.transport.requests[0].schema


@pytest.mark.parametrize("kind", ["provider", "budget", "replay"])
def test_once_stopped_it_stays_stopped(store, kind, quick):
    script = {"provider": [TransportError("gone", retryable=True)] * 4}.get(kind, [])
    limits = Limits(cell_calls=0) if kind == "budget" else None
    run = session(store, script, limits=limits, retry=quick)
    if kind == "replay":
        store.mode = "replay"
    stop = {"provider": ProviderFailure, "budget": BudgetExceeded, "replay": ReplayMiss}[kind]
    step = run.step("adapt", 0, 0, 0)
    with pytest.raises(stop) as first:
        ask(step)
    paid = len(step.rows)
    run.route("solve").client.transport.script = [answer()] * 20
    with pytest.raises(stop, match="^" + "".join("." if c in "\\^$.|?*+()[]{}" else c for c in str(first.value)[:60])):
        ask(run.step("adapt", 0, 0, 1))
    assert (paid, len(step.rows)) == ((4, 4) if kind == "provider" else (0, 0))
    assert all(row["billed"] and not row["needed"] for row in step.rows)
    ask(session(store, [answer()], cell="another").step("adapt", 0, 0, 0)) if kind != "replay" else None


def test_steps_of_a_pool_do_not_disturb_each_other(store):
    run = session(store)
    steps = [run.step("score", 0, 0, i) for i in range(8)]

    def work(i):
        for _ in range(3):
            ask(steps[i], f"s{i}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert [[r["draw"] for r in step.rows] for step in steps] == [[0, 1, 2]] * 8
    alone = session(store, [], used=())
    for i, step in enumerate(steps):
        again = alone.step("score", 0, 0, i)
        [ask(again, f"s{i}") for _ in range(3)]
        assert stable(again.rows) == stable(step.rows)


def test_what_the_caller_does_to_its_messages_afterwards_is_its_own_affair(store):
    run, messages = session(store), [{"role": "user", "content": "q"}]
    ask(run.step("score", 0, 0, 0), messages=messages)
    messages[0]["content"] = "changed"
    assert run.route("solve").client.transport.requests[0].messages[0]["content"] == "q"


def test_parameters_that_are_not_the_users_are_refused():
    with pytest.raises(ValueError, match="sets n, stream, which ace_bench sets itself"):
        ModelSettings("m", "e", {"stream": True, "n": 2})
    assert ModelSettings("m", "e", {"top_p": None, "max_tokens": 5, "a": 1}).sent() == (("a", 1), ("max_tokens", 5))


def test_a_token_cap_without_a_bound_on_output_is_refused_at_the_start(store):
    with pytest.raises(ValueError, match="Set max_tokens"):
        session(store, limits=Limits(tokens=100), params={"temperature": 0})
