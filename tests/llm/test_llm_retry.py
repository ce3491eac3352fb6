"""Retries: in one place, bounded, repeatable (B10, B15)."""

import pytest

from ace_bench.llm.retry import Failed, RetryPolicy, attempt_call
from ace_bench.llm.transports.scripted import answer
from ace_bench.llm.types import NO_TOKENS, BudgetExceeded, TransportError, Usage


class Play:
    """A script of attempts, a clock that only sleeping moves."""

    def __init__(self, *items, each_s=0.0, **policy):
        self.items, self.calls, self.slept, self.now, self.each_s = items, 0, [], 0.0, each_s
        self.policy = RetryPolicy(sleep=self.sleep, clock=lambda: self.now, **policy)

    def sleep(self, s):
        self.slept.append(s)
        self.now += s

    def once(self):
        item = self.items[min(self.calls, len(self.items) - 1)]
        self.calls += 1
        self.now += self.each_s
        if isinstance(item, TransportError):
            raise Failed(item, 0.25, 2.0)
        if isinstance(item, BaseException):
            raise item
        return item, 0.5

    def run(self, digest="d"):
        return attempt_call(self.policy, digest, self.once)


def busy(**kw):
    return TransportError("429 busy", retryable=True, **kw)


def test_two_retries_are_three_attempts_each_with_its_own_record():
    play = Play(busy(), max_attempts=3)
    tries = play.run()
    assert tries.completion is None
    assert play.calls == 3
    assert [(a.status, a.error, a.latency_s) for a in tries.attempts] == [("error", "429 busy", 2.0)] * 3
    assert tries.queue_s == pytest.approx(3 * 0.25 + sum(play.slept))


def test_a_success_after_failures_keeps_them():
    tries = Play(busy(), answer("", "empty"), answer("42")).run()
    assert tries.completion.text == "42"
    assert [a.status for a in tries.attempts] == ["error", "empty", "ok"]


@pytest.mark.parametrize("status", ["ok", "truncated", "refused", "overflow"])
def test_an_answer_is_not_tried_again(status):
    assert len(Play(answer("x", status)).run().attempts) == 1


def test_an_error_that_time_will_not_mend_is_not_tried_again():
    assert len(Play(TransportError("401", retryable=False)).run().attempts) == 1


def test_empty_to_the_end_comes_back_as_empty():
    tries = Play(answer("", "empty")).run()
    assert (tries.completion.status, len(tries.attempts)) == ("empty", 4)


def test_waits_grow_follow_from_the_digest_and_obey_the_provider():
    one, two, other = Play(busy()), Play(busy()), Play(busy())
    one.run("a"), two.run("a"), other.run("b")
    assert one.slept == two.slept != other.slept
    assert all(0.5 * 2**n <= s <= 2**n for n, s in enumerate(one.slept))
    told = Play(busy(retry_after_s=33.0), answer())
    told.run()
    assert told.slept == [33.0]


def test_the_wall_time_is_bounded():
    play = Play(busy(retry_after_s=40.0), max_attempts=99, wall_s=100.0, each_s=1.0)
    play.run()
    assert play.now <= 100
    assert play.calls == 3


def test_a_limit_met_between_attempts_keeps_what_was_paid():
    with pytest.raises(BudgetExceeded) as stop:
        Play(busy(), BudgetExceeded("enough")).run()
    assert [a.status for a in stop.value.attempts] == ["error"]


def test_uncharged_failures_are_known_to_have_used_nothing():
    tries = Play(busy(charged=False), busy(), answer()).run()
    assert [a.usage for a in tries.attempts[:2]] == [NO_TOKENS, Usage()]


def test_no_attempt_at_all_is_refused():
    with pytest.raises(ValueError, match="max_attempts is 0"):
        RetryPolicy(max_attempts=0)
