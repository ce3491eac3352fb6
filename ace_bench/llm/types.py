"""What a model call is made of: request, usage, reply. Plain values; nothing here calls anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Purpose = Literal["solve", "reflect", "curate", "rewrite", "propose", "merge", "judge", "embed"]
Message = Mapping[str, str]  # {"role": ..., "content": ...}
Status = Literal["ok", "truncated", "refused", "empty", "overflow", "error"]


class CallStopped(BaseException):
    """Why a cell can ask no further. A BaseException: no library may swallow it and score a zero.

    `attempts` are the provider attempts made before the stop; they were paid for, so they get rows too.
    """

    attempts: tuple[Attempt, ...] = ()


class ProviderFailure(CallStopped):
    """No usable reply after the bounded attempts, or no way to record one."""


class BudgetExceeded(CallStopped):
    """A limit would be passed by the next call. Nothing was sent for it."""


class ReplayMiss(CallStopped):
    """`cache=replay` met a request that the store does not hold."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call in five disjoint classes; `None` = the provider did not say (an unknown is not a zero).

    A provider that does not tell its cached, written or reasoning tokens apart counts them in `input` and `output`.
    """

    input: int | None = None
    cached_input: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None

    def input_total(self) -> int | None:
        """All input tokens: the three input classes together, None when unreported."""
        return None if self.input is None else self.input + (self.cached_input or 0) + (self.cache_write or 0)

    def output_total(self) -> int | None:
        """All output tokens, visible and reasoning, None when unreported."""
        return None if self.output is None else self.output + (self.reasoning or 0)


NO_TOKENS = Usage(0, 0, 0, 0, 0)  # known to be nothing: the provider refused before it read the prompt


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that can change the answer, and nothing else (known fault B07).

    `params` are the sampling parameters sent (temperature, max_tokens, top_p, ...), `schema` the JSON schema asked for
    or None, `seed` the run's seed, `draw` (scope, n) tells equal requests apart: scope is the sample id, n counts.
    """

    model: str
    endpoint: str
    messages: tuple[Message, ...]
    params: tuple[tuple[str, Any], ...]
    seed: int
    draw: tuple[str, int]
    schema: str | None = None

    def digest(self) -> str:
        """SHA-256 of the request in canonical form: the cache key. Any text has one, lone surrogates too (B35)."""
        return drawn(self.stem(), self.draw)

    def stem(self) -> hashlib._Hash:
        """The hash over all but the draw, open for `drawn`: a long prompt is hashed once for all its draws.

        Canonical form: JSON in which each content is its length in bytes, then the contents themselves (quoting a long
        prompt as JSON would take longer than all the rest of a call).
        """
        contents = [m["content"].encode("utf-8", "surrogatepass") for m in self.messages]
        messages = [{**m, "content": len(content)} for m, content in zip(self.messages, contents, strict=True)]
        head = [self.model, self.endpoint, messages, dict(self.params), self.seed, self.schema]
        stem = hashlib.sha256(json.dumps(head, sort_keys=True, allow_nan=False).encode())
        for content in contents:
            stem.update(content)
        return stem


def drawn(stem: hashlib._Hash, draw: tuple[str, int]) -> str:
    """The digest of the request whose `stem` this is, for one draw; `stem` itself stays as it was."""
    whole = stem.copy()
    whole.update(json.dumps(draw).encode())
    return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class Completion:
    """What a transport gives back for one attempt that reached an answer (also a truncated or refused one)."""

    text: str
    status: Status
    finish_reason: str | None
    usage: Usage
    model: str  # as the provider reports it
    latency_s: float
    reasoning_text: str | None = None


class TransportError(Exception):
    """One failed attempt. `retryable`: the client may try again, after `retry_after_s` at the earliest.

    `charged=False` says that the provider surely counted no tokens (it answered 429 or 500, or was never reached);
    otherwise the tokens of the attempt are unknown and the limits keep what was reserved for it.
    """

    def __init__(
        self, message: str, *, retryable: bool, retry_after_s: float | None = None, charged: bool = True
    ) -> None:
        super().__init__(message)
        self.retryable, self.retry_after_s, self.charged = retryable, retry_after_s, charged


class Transport(Protocol):
    """The last step to a model: one attempt, no retries, no cache. Thread-safe. Errors are `TransportError`."""

    simulated: bool

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion: ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One provider attempt, as recorded: an `error` one has no completion."""

    status: Status
    error: str | None
    usage: Usage
    latency_s: float | None
    finish_reason: str | None
    queue_s: float = 0.0  # waiting for a place and backing off, before this attempt


@dataclass(frozen=True, slots=True)
class Reply:
    """What the caller of `ask` sees. `data` is the validated object when a schema was asked for and met, else None."""

    text: str
    status: Status
    finish_reason: str | None = None
    data: Any = None
    problem: str | None = None  # why `data` is None although a schema was asked for
    reasoning_text: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
