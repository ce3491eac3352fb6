"""A model made of a list or a function, for tests: no network, no store, every call counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from ace_bench.llm.types import Completion, Purpose, Request, Status, TransportError, Usage

Item = Completion | str | BaseException
Script = Callable[[Request, Purpose, str], Item]


def answer(text: str = "ok", status: Status = "ok", usage: Usage | None = None, latency_s: float = 0.25) -> Completion:
    """A completion for a script; 100 input and 10 output tokens unless told."""
    finish = {"ok": "stop", "truncated": "length", "refused": "content_filter"}.get(status)
    return Completion(text, status, finish, usage or Usage(100, 0, 0, 10, 0), "scripted", latency_s)


class ScriptedTransport:
    """Plays a script: a function of (request, purpose, digest), or a sequence used up one item a call.

    An item is a completion, a text (an `ok` completion) or an exception to raise. When a sequence is used up, that is
    a TransportError. `latency_s` is really slept. `requests` holds what was asked, in order. Thread-safe.
    """

    simulated = True

    def __init__(self, script: Script | Sequence[Item], latency_s: float = 0.0) -> None:
        self.script, self.latency_s = script, latency_s
        self.requests: list[Request] = []
        self.in_flight = self.most_in_flight = 0
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """Attempts made so far."""
        return len(self.requests)

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion:
        """One attempt: the next item of the script."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.latency_s:
                time.sleep(self.latency_s)
            return _completion(self._item(number, request, purpose, request_digest))
        finally:
            with self._lock:
                self.in_flight -= 1

    def _item(self, number: int, request: Request, purpose: Purpose, digest: str) -> Item:
        if callable(self.script):
            return self.script(request, purpose, digest)
        if number >= len(self.script):
            text = f"the script has {len(self.script)} items and this is call {number + 1}"
            raise TransportError(text, retryable=False)
        return self.script[number]


def _completion(item: Item) -> Completion:
    if isinstance(item, BaseException):
        raise item
    return answer(item) if isinstance(item, str) else item
