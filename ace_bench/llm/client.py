"""The only door to a model: look in the store, pay once, retry within bounds, record before use."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from ace_bench.llm.cache import ResponseStore, Stored, StoreError
from ace_bench.llm.limits import Limits
from ace_bench.llm.prices import Price
from ace_bench.llm.retry import Failed, RetryPolicy, Tries, attempt_call
from ace_bench.llm.types import (
    NO_TOKENS,
    Attempt,
    Completion,
    ProviderFailure,
    Purpose,
    ReplayMiss,
    Request,
    Status,
    Transport,
    TransportError,
    Usage,
)

# What is kept: answers, also cut or refused ones, and "the prompt does not fit", which is as true the next time.
# An empty answer or an error says nothing about the request and is never kept (known fault B10).
KEPT: frozenset[Status] = frozenset({"ok", "truncated", "refused", "overflow"})
_SHOWN = 300  # characters of a message at each end, in a replay miss


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one ask and what it took. `queue_s` is waiting and back-off, apart from provider latency.

    `billed`: this run paid for it, in this process or before it was killed. A hit on somebody else's response is not
    billed, shows only its final attempt and keeps the latency first measured.
    """

    completion: Completion
    attempts: tuple[Attempt, ...]
    served_from: Literal["provider", "cache"]
    billed: bool
    queue_s: float


class Client:
    """Completions through one transport, one store and one set of limits. Thread-safe; one serves many sessions.

    Raises ValueError when `limits` caps dollars and `price` is None.
    """

    def __init__(
        self,
        transport: Transport,
        store: ResponseStore,
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        price: Price | None = None,
        model: str = "this model",
    ) -> None:
        self.transport, self.store, self.price = transport, store, price
        self.limits, self.retry = limits or Limits(), retry or RetryPolicy()
        self.limits.check(model, {"max_tokens": 1}, price)  # the output bound is the session's to check
        self._flights: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request, purpose: Purpose, payer: str, cell: str, digest: str | None = None) -> Outcome:
        """The answer to `request`, from the store or else from the provider; durable before it is returned.

        `payer` is the full address of this call (instance/cell/phase/epoch/round/position/ordinal), `cell` whose limits
        count, `digest` that of the request when the caller has it. Raises ProviderFailure, BudgetExceeded, ReplayMiss.
        """
        key = digest or request.digest()
        with self._turn(key):
            try:
                stored = self.store.get(key)
                if stored is not None:
                    return self._hit(stored, payer, cell)
                if self.store.mode == "replay":
                    raise ReplayMiss(_miss(request, purpose, key, self.store))
                return self._ask(request, purpose, payer, cell, key)
            except StoreError as error:
                raise ProviderFailure(str(error)) from error

    def _hit(self, stored: Stored, payer: str, cell: str) -> Outcome:
        completion, attempts = decode(stored, self.store)
        if stored.payer != payer:
            return Outcome(completion, (replace(attempts[-1], queue_s=0.0),), "cache", False, 0.0)
        for attempt in attempts:  # this very call was paid before a kill: it counts as if it had been made now
            self.limits.charge_attempt(cell, attempt.usage, self.price)
        return Outcome(completion, attempts, "provider", True, sum(a.queue_s for a in attempts))

    def _ask(self, request: Request, purpose: Purpose, payer: str, cell: str, key: str) -> Outcome:
        tries = attempt_call(self.retry, key, lambda: self._once(request, purpose, cell, key))
        completion = tries.completion
        if completion is None:
            raise _stopped(_failure(request, tries), tries)
        if completion.status in KEPT:
            try:
                kept = self.store.put(key, encode(completion, tries.attempts), payer)
            except StoreError as error:
                raise _stopped(str(error), tries) from error
            if kept.payer != payer:  # another process was first: all use its answer, we still paid for ours
                completion = decode(kept, self.store)[0]
        return Outcome(completion, tries.attempts, "provider", True, tries.queue_s)

    def _once(self, request: Request, purpose: Purpose, cell: str, key: str) -> tuple[Completion, float]:
        with self.limits.place(request, cell, self.price) as place:
            began = time.perf_counter()
            try:
                completion = self.transport.complete(request, purpose, key)
            except Exception as error:
                if not isinstance(error, TransportError):
                    text = f"{type(self.transport).__name__} broke with {type(error).__name__}: {error}"
                    error = TransportError(text, retryable=False)
                if not error.charged:
                    place.usage = NO_TOKENS
                raise Failed(error, place.queue_s, time.perf_counter() - began) from error
            place.usage = completion.usage
        return completion, place.queue_s

    @contextmanager
    def _turn(self, key: str) -> Iterator[None]:
        """One caller at a time for each key (single flight): who comes second finds the first one's response stored.

        If the first failed, nothing is stored and the second asks the provider itself. Without recording nothing could
        be found, so then all go at once.
        """
        if self.store.mode != "write":
            yield
            return
        mine = threading.Event()
        while True:
            with self._lock:
                other = self._flights.setdefault(key, mine)
            if other is mine:
                break
            other.wait()
        try:
            yield
        finally:
            with self._lock:
                del self._flights[key]
            mine.set()


def encode(completion: Completion, attempts: tuple[Attempt, ...]) -> str:
    """The stored body of a completion and its attempts. ASCII (escapes), so that lone surrogates survive."""
    body = {
        "text": completion.text,
        "status": completion.status,
        "finish_reason": completion.finish_reason,
        "usage": _five(completion.usage),
        "model": completion.model,
        "latency_s": completion.latency_s,
        "reasoning_text": completion.reasoning_text,
        "attempts": [(a.status, a.error, _five(a.usage), a.latency_s, a.finish_reason, a.queue_s) for a in attempts],
        "queue_s": sum(a.queue_s for a in attempts),
    }
    return json.dumps(body, allow_nan=False)


def _five(usage: Usage) -> tuple[int | None, ...]:
    return (usage.input, usage.cached_input, usage.cache_write, usage.output, usage.reasoning)


def decode(stored: Stored, store: ResponseStore) -> tuple[Completion, tuple[Attempt, ...]]:
    """What `encode` wrote. Raises StoreError when it cannot be read."""
    try:
        body: dict[str, Any] = json.loads(stored.body)
        completion = Completion(
            body["text"], body["status"], body["finish_reason"], Usage(*body["usage"]), body["model"],
            body["latency_s"], body["reasoning_text"],
        )  # fmt: skip
        attempts = tuple(
            Attempt(status, error, Usage(*usage), latency_s, finish, queue_s)
            for status, error, usage, latency_s, finish, queue_s in body["attempts"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"A response in {store.path} (paid by {stored.payer}) cannot be read: {error!r}. "
            "It was written by another version or damaged: use a fresh store file."
        ) from error
    return completion, attempts


def _stopped(sentence: str, tries: Tries) -> ProviderFailure:
    failure = ProviderFailure(sentence)
    failure.attempts = tries.attempts
    return failure


def _failure(request: Request, tries: Tries) -> str:
    n = len(tries.attempts)
    return (
        f"Model {request.model!r} at {request.endpoint} gave no usable reply in {n} attempt{'s' * (n != 1)}; "
        f"the last error was: {tries.attempts[-1].error}. Nothing was scored for this call. "
        "When the provider is well again, run the same command to resume."
    )


def _miss(request: Request, purpose: Purpose, key: str, store: ResponseStore) -> str:
    last = request.messages[-1]["content"] if request.messages else ""
    shown = last if len(last) <= 2 * _SHOWN else f"{last[:_SHOWN]} [...] {last[-_SHOWN:]}"
    return (
        f"cache=replay, and {store.path} holds no response for this {purpose} request to model {request.model!r} at "
        f"{request.endpoint} (digest {key}, seed {request.seed}, draw {request.draw}). Nothing was sent. Either the "
        f"run differs from the recorded one or the file is another; cache=write would ask the provider. "
        f"Its last message ({len(last)} characters): {shown!r}"
    )
