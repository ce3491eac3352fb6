"""The one place where a call is tried again. Every transport makes one attempt (known fault B15)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ace_bench.llm.types import NO_TOKENS, Attempt, CallStopped, Completion, TransportError, Usage


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently: at most `max_attempts`, within `wall_s` seconds from the first attempt on.

    The wait before repetition n (from 1) is `base_s * 2**(n-1)`, at most `longest_s`, times a jitter in [0.5, 1] that
    follows from the request digest and n, so that it is the same in every run. A Retry-After of the provider is waited
    out in full, or, where `wall_s` does not allow it, not at all: then the call ends.
    """

    max_attempts: int = 4
    base_s: float = 1.0
    longest_s: float = 60.0
    wall_s: float = 900.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts}; it counts the first attempt, so give 1 or more.")

    def wait_s(self, digest: str, attempt: int, retry_after_s: float | None = None) -> float:
        """Seconds to wait before `attempt` (1 = the first repetition)."""
        seed = hashlib.sha256(f"{digest}/{attempt}".encode()).digest()
        jitter = 0.5 + int.from_bytes(seed[:4], "big") / 2**33
        return max(retry_after_s or 0.0, min(self.longest_s, self.base_s * 2.0 ** (attempt - 1)) * jitter)


@dataclass(frozen=True, slots=True)
class Tries:
    """All attempts at one call. `completion` is None when the last one failed."""

    completion: Completion | None
    attempts: tuple[Attempt, ...]

    @property
    def queue_s(self) -> float:
        """Seconds spent waiting for a place and backing off, over all attempts."""
        return sum(a.queue_s for a in self.attempts)


# One attempt: gives the completion and how long it waited for its place. Raises `Failed` (with that wait) or a stop.
Once = Callable[[], tuple[Completion, float]]


class Failed(Exception):
    """An attempt that failed, with the seconds it queued and the seconds the provider took."""

    def __init__(self, error: TransportError, queue_s: float, latency_s: float) -> None:
        super().__init__(str(error))
        self.error, self.queue_s, self.latency_s = error, queue_s, latency_s


def attempt_call(policy: RetryPolicy, digest: str, once: Once) -> Tries:
    """Call `once` until it gives something other than an empty completion or a retryable error, within the policy.

    A `CallStopped` raised by `once` (a limit) leaves with the attempts made so far in its `attempts`.
    """
    start, made, waited = policy.clock(), list[Attempt](), 0.0
    while True:
        completion: Completion | None = None
        try:
            completion, queue_s = once()
            made.append(replace(of_completion(completion), queue_s=waited + queue_s))
            again, retry_after = completion.status == "empty", None
        except Failed as failed:
            made.append(_of_failure(failed, waited))
            again, retry_after = failed.error.retryable, failed.error.retry_after_s
        except CallStopped as stop:
            stop.attempts = tuple(made)
            raise
        if not again or len(made) >= policy.max_attempts:
            return Tries(completion, tuple(made))
        waited = policy.wait_s(digest, len(made), retry_after)
        if policy.clock() - start + waited > policy.wall_s:
            return Tries(completion, tuple(made))
        policy.sleep(waited)


def of_completion(completion: Completion) -> Attempt:
    """The record of an attempt that reached an answer."""
    return Attempt(completion.status, None, completion.usage, completion.latency_s, completion.finish_reason)


def _of_failure(failed: Failed, waited: float) -> Attempt:
    usage = Usage() if failed.error.charged else NO_TOKENS
    return Attempt("error", str(failed.error), usage, failed.latency_s, None, waited + failed.queue_s)
